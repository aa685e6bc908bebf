import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { blocksOf, runBlocks, shellUnavailable } from '../support/shell-blocks.ts'
import { startServer, type TestServer } from '../support/start-server.ts'

const PAGE = 'docs/searching.md'
/** The server makes its own, and tells them in first-start.json. */
const NO_SECRETS = { COMMONPLACE_ADMIN_TOKEN: '', COMMONPLACE_API_KEY: '', COMMONPLACE_APPLICATION_KEY: '' }

describe('docs/searching.md', { skip: shellUnavailable() }, () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ mode: 'dev', env: NO_SECRETS })
  })
  after(() => server.stop())

  test('has examples that all work, in the order of the page, and answer what it says', async () => {
    const blocks = blocksOf(PAGE, 'sh')
    assert.ok(blocks.length >= 6, 'the examples were found')
    const { status, output } = await runBlocks(PAGE, blocks, server)
    assert.equal(status, 0, output.slice(-3_000))
    const shown = blocks.flatMap(({ text }) =>
      Array.from(text.matchAll(/ # (\d|Café au lait)/g), ([, answer]) => answer),
    )
    assert.ok(shown.length >= 4, 'answers were found')
    for (const answer of shown) assert.ok(output.includes(`\n${answer}\n`), `the page shows ${answer}`)
  })
})
