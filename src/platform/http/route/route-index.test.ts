import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RouteIndex } from './route-index.ts'

function indexOf(...patterns: string[]) {
  const index = new RouteIndex<string>()
  for (const pattern of patterns) index.at(pattern, () => pattern)
  return index
}

test('a fixed segment wins over a parameter, and the search comes back when it led nowhere', () => {
  const index = indexOf('/users/:id', '/users/me', '/users/:id/roles', '/users/me/keys')
  assert.equal(index.find('/users/me'), '/users/me')
  assert.equal(index.find('/users/42'), '/users/:id')
  assert.equal(index.find('/users/me/roles'), '/users/:id/roles')
  assert.equal(index.find('/users/me/keys/'), '/users/me/keys')
})

test('a parameter behind a fixed beginning matches what begins so, and nothing else', () => {
  const index = indexOf('/@:name', '/@:name/feed', '/about')
  assert.equal(index.find('/@ada'), '/@:name')
  assert.equal(index.find('/@ada/feed'), '/@:name/feed')
  assert.equal(index.find('/@'), null)
  assert.equal(index.find('/ada'), null)
  assert.equal(index.find('/about'), '/about')
})

test('what no pattern describes is not found', () => {
  const index = indexOf('/users/:id', '/files/*', '/')
  assert.equal(index.find('/user'), null)
  for (const path of ['/files', '/files/']) assert.equal(index.find(path), null, path)
  assert.equal(index.find('/users'), null)
  assert.equal(index.find('/users/'), null)
  assert.equal(index.find('/users/1/2'), null)
  assert.equal(index.find('/files/a/b/c'), '/files/*')
  assert.equal(index.find('/'), '/')
})

test('a path of thousands of slashes is answered at once', () => {
  const index = indexOf('/:a/:b/:c/:d/:e/:f', '/x/x/x/x/x/x')
  assert.equal(index.find('/'.repeat(12_000)), null)
  assert.equal(index.find('/x'.repeat(6_000)), null)
})
