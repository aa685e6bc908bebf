import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { blocksOf, shellUnavailable } from '../support/shell-blocks.ts'
import { runExamples, servedForPages } from './page-server.ts'

const PAGE = 'docs/searching.md'

describe('docs/searching.md', { skip: shellUnavailable() }, () => {
  const server = servedForPages()

  test('has examples that all work, in the order of the page, and answer what it says', async () => {
    const output = await runExamples(PAGE, server(), 6)
    const shown = blocksOf(PAGE, 'sh').flatMap(({ text }) =>
      Array.from(text.matchAll(/ # (\d|Café au lait)/g), ([, answer]) => answer),
    )
    assert.ok(shown.length >= 4, 'answers were found')
    for (const answer of shown) assert.ok(output.includes(`\n${answer}\n`), `the page shows ${answer}`)
  })
})
