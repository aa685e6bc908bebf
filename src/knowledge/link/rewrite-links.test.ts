import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsDuring } from '../../../test/support/turns-during.ts'
import { atOnce, inTurns } from '../text/steps.ts'
import { rewritingLinks } from './rewrite-links.ts'

function renamed(body: string, from = 'Old', to = 'new/Name') {
  return atOnce(renaming(body, from, to))
}

function renaming(body: string, from: string, to: string) {
  return rewritingLinks(body, ({ target, anchor }) => {
    if (target !== from) return undefined
    return anchor === null ? to : `${to}#${anchor}`
  })
}

test('a link gets its new target and keeps its anchor, its display text and its exclamation mark', () => {
  assert.deepEqual(renamed('a [[Old]] b [[ Old#Part ]] ![[Old|shown]] [[Old#^x|y]] [[Older]]'), {
    body: 'a [[new/Name]] b [[new/Name#Part]] ![[new/Name|shown]] [[new/Name#^x|y]] [[Older]]',
    count: 4,
  })
})

test('links in headings, lists, quotes and tables are rewritten, with whatever line ends', () => {
  const body = '# [[Old]]\r\n\r\n- uses [[Old]] (why)\r\n  - [[Old]]\r\n\r\n> [[Old]]\r\n\r\n| [[Old\\|shown]] |\r\n'
  assert.deepEqual(renamed(body), { body: body.replaceAll('[[Old', '[[new/Name'), count: 5 })
})

test('a lone carriage return ends a line, too', () => {
  assert.equal(
    renamed('one\r\rtwo [[Old]]\rthree\n\n- [[Old]]').body,
    'one\r\rtwo [[new/Name]]\rthree\n\n- [[new/Name]]',
  )
  assert.deepEqual(renamed('```\r[[Old]]\r```\r[[Old]]'), { body: '```\r[[Old]]\r```\r[[new/Name]]', count: 1 })
})

test('code and comments stay as they are', () => {
  const body =
    '`[[Old]]` ``[[Old]]``\n\n```\n[[Old]]\n```\n\n    [[Old]]\n\n<!-- [[Old]] -->\n\n<div>\n[[Old]]\n</div>\n'
  assert.deepEqual(renamed(body), { body, count: 0 })
  assert.deepEqual(renamed(`${body}\n[[Old]]`), { body: `${body}\n[[new/Name]]`, count: 1 })
})

test('the text after a comment is text', () => {
  assert.equal(renamed('<!-- [[Old]] --> [[Old]]').body, '<!-- [[Old]] --> [[new/Name]]')
})

test('links without a close, and texts without links, stay byte by byte', () => {
  for (const body of ['', '[[Old', '[[Old]', 'plain\r\rtext', '\\[[Old]]']) {
    assert.deepEqual(renamed(body), { body, count: 0 })
  }
})

test('others have their turn while links of a long text are rewritten, whatever it is made of', async () => {
  for (const piece of ['- [[Old]]\n', '[[Old]]\n\n', '> [[Old]]\n\n', '- a\n  - [[Old]]\n']) {
    const body = piece.repeat(10_000)
    const work = inTurns(renaming(body, 'Old', 'New'))
    assert.ok((await turnsDuring(work)) >= 10)
    assert.deepEqual(await work, { body: body.replaceAll('Old', 'New'), count: 10_000 })
  }
})
