import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { listedOperations } from '../support/listed-operations.ts'
import { blocksOf, runBlocks, shellUnavailable } from '../support/shell-blocks.ts'
import { startServer, type TestServer } from '../support/start-server.ts'

const PAGE = 'docs/users.md'
const TEXT = readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8')
/** The server makes its own, and tells them in first-start.json. */
const NO_SECRETS = { COMMONPLACE_ADMIN_TOKEN: '', COMMONPLACE_API_KEY: '', COMMONPLACE_APPLICATION_KEY: '' }

describe('docs/users.md', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ mode: 'dev', env: NO_SECRETS })
  })
  after(() => server.stop())

  test('has examples that all work, in the order of the page', { skip: shellUnavailable() }, async () => {
    const blocks = blocksOf(PAGE, 'sh')
    assert.ok(blocks.length >= 12, 'the examples were found')
    const { status, output } = await runBlocks(PAGE, blocks, server)
    assert.equal(status, 0, output.slice(-3_000))
  })

  test('lists exactly the operations that the server offers', async () => {
    const answer = await fetch(`${server.url}/openapi.json`)
    const { paths } = (await answer.json()) as { paths: Record<string, object> }
    const offered = Object.entries(paths)
      .filter(([path]) => path.startsWith('/api/v2/') && path !== '/api/v2/instance')
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    const listed = listedOperations(TEXT).map((operation) => operation.replace(' ', ' /api/v2'))
    assert.deepEqual(listed.toSorted(), offered.toSorted())
  })
})
