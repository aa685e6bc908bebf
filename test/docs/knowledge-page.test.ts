import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { offeredOperations } from '../support/operations.ts'
import { shellUnavailable } from '../support/shell-blocks.ts'
import { runExamples, servedForPages } from './page-server.ts'

const PAGE = 'docs/knowledge.md'
const TEXT = readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8')

describe('docs/knowledge.md', () => {
  const server = servedForPages()

  test('has examples that all work, in the order of the page', { skip: shellUnavailable() }, async () => {
    const output = await runExamples(PAGE, server(), 10)
    for (const shown of ['{"deleted":true}', 'updated\n']) assert.ok(output.includes(shown), `the page shows ${shown}`)
  })

  test('lists exactly the operations that the server offers', async () => {
    const offered = await offeredOperations(server(), (path) => path.startsWith('/v2/'))
    assert.deepEqual(listedOperations().toSorted(), offered)
  })
})

/** The rows of the two tables of operations; those of notes leave out what all their paths begin with. */
function listedOperations(): string[] {
  const rows = TEXT.matchAll(/^\| `(GET|POST|PUT|PATCH|DELETE) (\/[^`]+)` \|/gm)
  return Array.from(rows, ([, method, path = '']) =>
    path.startsWith('/v2/') ? `${method} ${path}` : `${method} /v2/{project_id}${path}`,
  )
}
