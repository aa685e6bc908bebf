import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { blocksOf, runBlocks, shellUnavailable } from '../support/shell-blocks.ts'
import { startServer, type TestServer } from '../support/start-server.ts'

const PAGE = 'docs/users.md'
/** The server makes its own, and tells them in first-start.json. */
const NO_SECRETS = { COMMONPLACE_ADMIN_TOKEN: '', COMMONPLACE_API_KEY: '', COMMONPLACE_APPLICATION_KEY: '' }

describe('docs/users.md', { skip: shellUnavailable() }, () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ mode: 'dev', env: NO_SECRETS })
  })
  after(() => server.stop())

  test('has examples that all work, in the order of the page', async () => {
    const blocks = blocksOf(PAGE, 'sh')
    assert.ok(blocks.length >= 12, 'the examples were found')
    const { status, output } = await runBlocks(PAGE, blocks, server)
    assert.equal(status, 0, output.slice(-3_000))
  })
})
