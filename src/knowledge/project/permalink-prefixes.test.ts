import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formerAfter, permalinkPrefixes } from './permalink-prefixes.ts'

test('what a project was called is remembered, the last name first and none twice', () => {
  let project = { permalink: 'a', formerPermalinks: '' }
  const rename = (permalink: string) => {
    project = { permalink, formerPermalinks: formerAfter(project, permalink) }
    return permalinkPrefixes(project)
  }
  assert.deepEqual(permalinkPrefixes(project), ['a/'])
  assert.deepEqual(rename('a'), ['a/'])
  assert.deepEqual(rename('b'), ['b/', 'a/'])
  assert.deepEqual(rename('c'), ['c/', 'b/', 'a/'])
  assert.deepEqual(rename('a'), ['a/', 'c/', 'b/'])
})

test('the oldest of very many names are forgotten', () => {
  let project = { permalink: 'n0', formerPermalinks: '' }
  for (let n = 1; n <= 30; n++) project = { permalink: `n${n}`, formerPermalinks: formerAfter(project, `n${n}`) }
  const prefixes = permalinkPrefixes(project)
  assert.equal(prefixes.length, 21)
  assert.deepEqual([prefixes[1], prefixes.at(-1)], ['n29/', 'n10/'])
})
