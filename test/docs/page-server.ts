import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { blocksOf, runBlocks } from '../support/shell-blocks.ts'
import { startServer, type TestServer } from '../support/start-server.ts'

/** The server makes its own, and tells them in first-start.json. */
const NO_SECRETS = { COMMONPLACE_ADMIN_TOKEN: '', COMMONPLACE_API_KEY: '', COMMONPLACE_APPLICATION_KEY: '' }

/** For the tests of one `describe`: the server that a reader of a page has just started. */
export function servedForPages(): () => TestServer {
  let server: TestServer
  before(async () => {
    server = await startServer({ mode: 'dev', env: NO_SECRETS })
  })
  after(() => server.stop())
  return () => server
}

/** Runs all examples of a page, of which there are at least so many; answers what they print. */
export async function runExamples(page: string, server: TestServer, atLeast: number): Promise<string> {
  const blocks = blocksOf(page, 'sh')
  assert.ok(blocks.length >= atLeast, 'the examples were found')
  const { status, output } = await runBlocks(page, blocks, server)
  assert.equal(status, 0, output.slice(-3_000))
  return output
}
