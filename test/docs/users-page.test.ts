import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { listedOperations, offeredOperations } from '../support/operations.ts'
import { shellUnavailable } from '../support/shell-blocks.ts'
import { runExamples, servedForPages } from './page-server.ts'

const PAGE = 'docs/users.md'
const TEXT = readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8')

describe('docs/users.md', () => {
  const server = servedForPages()

  test('has examples that all work, in the order of the page', { skip: shellUnavailable() }, async () => {
    await runExamples(PAGE, server(), 12)
  })

  test('lists exactly the operations that the server offers', async () => {
    const isOfUsers = (path: string) => path.startsWith('/api/v2/') && path !== '/api/v2/instance'
    const listed = listedOperations(TEXT).map((operation) => operation.replace(' ', ' /api/v2'))
    assert.deepEqual(listed.toSorted(), await offeredOperations(server(), isOfUsers))
  })
})
