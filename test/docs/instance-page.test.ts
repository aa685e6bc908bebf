import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { blocksOf, runBlocks, shellUnavailable } from '../support/shell-blocks.ts'
import { startServer, type TestServer } from '../support/start-server.ts'

const PAGE = 'docs/instance.md'
/** The server makes its own, and tells them in first-start.json. */
const NO_SECRETS = { COMMONPLACE_ADMIN_TOKEN: '', COMMONPLACE_API_KEY: '', COMMONPLACE_APPLICATION_KEY: '' }

describe('docs/instance.md', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ mode: 'dev', env: NO_SECRETS })
  })
  after(() => server.stop())

  test('has examples that all work, in the order of the page', { skip: shellUnavailable() }, async () => {
    const blocks = blocksOf(PAGE, 'sh')
    assert.ok(blocks.length >= 4, 'the examples were found')
    const { status, output } = await runBlocks(PAGE, blocks, server)
    assert.equal(status, 0, output.slice(-3_000))
    for (const shown of ['Commonplace\n', '12\n', 'Example knowledge base\n', 'Be kind\n', 'true\n', 'spam\n']) {
      assert.ok(output.includes(shown), `the examples print ${shown}: ${output.slice(-3_000)}`)
    }
  })
})
