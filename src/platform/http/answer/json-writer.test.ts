import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Type } from 'typebox'
import type { JsonSchema } from '../input/problem-texts.ts'
import { jsonWriter } from './json-writer.ts'

const write = (schema: object, value: unknown) => JSON.parse(jsonWriter(schema as JsonSchema)(value))

test('members that the schema does not name stay inside, at every depth', () => {
  const schema = Type.Object({
    id: Type.String(),
    owner: Type.Union([Type.Object({ name: Type.String() }), Type.Null()]),
    list: Type.Array(Type.Object({ n: Type.Integer() })),
    note: Type.Optional(Type.String()),
  })
  const value = { id: 'x', secret: 1, owner: { name: 'ada', secret: 2 }, list: [{ n: 1, secret: 3 }], note: undefined }
  assert.deepEqual(write(schema, value), { id: 'x', owner: { name: 'ada' }, list: [{ n: 1 }] })
  assert.deepEqual(write(schema, { id: 'x', owner: null, list: [] }), { id: 'x', owner: null, list: [] })
})

test('a required member that is missing is a defect, not a shorter answer', () => {
  assert.throws(() => write(Type.Object({ id: Type.String() }), {}), /lacks the member id/)
})

test('maps, open objects and unknown values are written as they are', () => {
  assert.deepEqual(write(Type.Record(Type.String(), Type.Object({ n: Type.Integer() })), { a: { n: 1, x: 2 } }), {
    a: { n: 1 },
  })
  assert.deepEqual(write(Type.Object({}, { additionalProperties: true }), { a: [1] }), { a: [1] })
  assert.deepEqual(write(Type.Object({}), { a: 1 }), {})
  assert.deepEqual(write(Type.Unknown(), { a: { b: 1 } }), { a: { b: 1 } })
  const both = Type.Object({ a: Type.Integer() }, { additionalProperties: Type.String() })
  assert.deepEqual(write(both, { b: 'x', a: 1 }), { a: 1, b: 'x' })
})

test('of several shapes the one that fits is written', () => {
  const schema = Type.Union([
    Type.Object({ type: Type.Literal('a'), x: Type.Integer() }),
    Type.Object({ type: Type.Literal('b'), y: Type.Integer() }),
    Type.Array(Type.String()),
    Type.String(),
  ])
  assert.deepEqual(write(schema, { type: 'b', x: 1, y: 2 }), { type: 'b', y: 2 })
  assert.deepEqual(write(schema, ['p']), ['p'])
  assert.equal(write(schema, 'q'), 'q')
  assert.throws(() => write(schema, { type: 'c' }), /none of the shapes/)
})

test('every text and every number comes out as JSON writes it', () => {
  const schema = Type.Object({ text: Type.String(), number: Type.Number(), flag: Type.Boolean(), any: Type.Unknown() })
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true }),
      fc.boolean(),
      fc.jsonValue(),
      (text, number, flag, any) => {
        const value = { text, number, flag, any }
        assert.equal(
          jsonWriter(schema as object as JsonSchema)(value),
          JSON.stringify(value).replace('"number":-0,', '"number":0,'),
        )
      },
    ),
  )
})
