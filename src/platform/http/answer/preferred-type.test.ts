import assert from 'node:assert/strict'
import { test } from 'node:test'
import { preferredType } from './preferred-type.ts'

const JSON_OR_BINARY = ['application/json', 'application/x-protobuf'] as const
const [TEXT, BINARY] = JSON_OR_BINARY

test('a caller gets the media type that it weighs most', () => {
  for (const [accepted, wanted] of [
    [undefined, TEXT],
    ['', TEXT],
    ['*/*', TEXT],
    ['application/*', TEXT],
    ['application/x-protobuf', BINARY],
    ['APPLICATION/X-PROTOBUF', BINARY],
    ['application/x-protobuf; q=0.9, application/json; q=0.1', BINARY],
    ['application/x-protobuf;q=0.1,application/json;q=0.9', TEXT],
    ['application/json;q=0.5, application/x-protobuf', BINARY],
    ['application/x-protobuf ; charset=utf-8 ; Q=0.2, */*;q=0.1', BINARY],
    ['application/json;q=0, */*', BINARY],
    ['application/json;q=0, application/*;q=0.001', BINARY],
  ] as const) {
    assert.equal(preferredType(accepted, JSON_OR_BINARY), wanted, accepted)
  }
})

test('of two that are wanted alike the one that is named counts, then the first', () => {
  for (const [accepted, wanted] of [
    ['application/x-protobuf, application/json', TEXT],
    ['application/x-protobuf, */*', BINARY],
    ['*/*, application/x-protobuf', BINARY],
    ['application/json, text/plain, */*', TEXT],
  ] as const) {
    assert.equal(preferredType(accepted, JSON_OR_BINARY), wanted, accepted)
  }
})

test('what is refused is not given, and the first one is where none is taken', () => {
  for (const accepted of [
    'application/x-protobuf;q=0',
    'application/x-protobuf;q=0.000, application/json;q=0',
    'application/x-protobuf; q=0, */*',
    'text/html',
    'application/x-protobufs',
    'x-application/x-protobuf',
    ';;;,,,q=1',
  ]) {
    assert.equal(preferredType(accepted, JSON_OR_BINARY), TEXT, accepted)
  }
})

test('a weight that is none counts as no weight', () => {
  for (const weight of ['', 'x', '2', '-1', 'NaN', 'Infinity']) {
    assert.equal(preferredType(`application/x-protobuf;q=${weight}, */*;q=0.9`, JSON_OR_BINARY), BINARY, weight)
  }
})
