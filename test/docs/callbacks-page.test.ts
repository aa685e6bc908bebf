import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { listedOperations, offeredOperations } from '../support/operations.ts'
import { shellUnavailable } from '../support/shell-blocks.ts'
import { runExamples, servedForPages } from './page-server.ts'

const PAGE = 'docs/callbacks.md'
const TEXT = readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8')

describe('docs/callbacks.md', () => {
  const server = servedForPages()

  test('has examples that all work, in the order of the page', { skip: shellUnavailable() }, async () => {
    const output = await runExamples(PAGE, server(), 6)
    for (const shown of ['paid in cash\n', 'true\n', '405\n', 'closed\n']) {
      assert.ok(output.includes(shown), `the examples print ${shown}: ${output.slice(-3_000)}`)
    }
  })

  test('lists exactly the operations that the server offers', async () => {
    const offered = await offeredOperations(server(), (path) => path.startsWith('/namespaces'))
    assert.deepEqual(listedOperations(TEXT).toSorted(), offered)
  })
})
