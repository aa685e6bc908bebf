import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searchPeers } from './search-peers.ts'

const PEERS = ['163.com', '163.example.org', 'a_b.example.org', 'example.org', 'xn--r9j5b5b.social']

test('peers are found by whatever their names begin with, in any case and script', () => {
  for (const [text, found] of [
    ['163', ['163.com', '163.example.org']],
    ['163.', ['163.com', '163.example.org']],
    ['163.c', ['163.com']],
    [' A_B', ['a_b.example.org']],
    ['EXAMPLE.', ['example.org']],
    ['xn--r9', ['xn--r9j5b5b.social']],
    ['にゃん', ['xn--r9j5b5b.social']],
    ['xample', []],
    ['', []],
    ['.', []],
    ['[::1]', []],
  ] as const) {
    assert.deepEqual(searchPeers(PEERS, text), found, text)
  }
})
