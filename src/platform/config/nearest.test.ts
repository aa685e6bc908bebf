import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from './nearest.ts'

const keys = ['host', 'port', 'grpc_port', 'base_url', 'request_timeout']

test('a typo finds the key that was meant', () => {
  assert.equal(nearest('prot', keys), 'port')
  assert.equal(nearest('grpcport', keys), 'grpc_port')
  assert.equal(nearest('request_time_out', keys), 'request_timeout')
})

test('nothing is suggested for a word that is like none of the keys', () => {
  for (const word of ['', 'x', 'kubernetes', 'z'.repeat(10_000)]) assert.equal(nearest(word, keys), undefined, word)
})
