import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { offeredOperations } from '../support/operations.ts'
import { shellUnavailable } from '../support/shell-blocks.ts'
import { runExamples, servedForPages } from './page-server.ts'

const GUIDE = 'docs/knowledge.md'
const REFERENCE = 'docs/knowledge-reference.md'

describe('the pages about notes', () => {
  const server = servedForPages()

  test(`have examples that all work, in the order of ${GUIDE}`, { skip: shellUnavailable() }, async () => {
    const output = await runExamples(GUIDE, server(), 10)
    for (const shown of ['{"deleted":true}', 'updated\n']) assert.ok(output.includes(shown), `the page shows ${shown}`)
  })

  test(`list exactly the operations that the server offers, in ${REFERENCE}`, async () => {
    const offered = await offeredOperations(server(), (path) => path.startsWith('/v2/'))
    assert.deepEqual(listedOperations().toSorted(), offered)
  })
})

/** The rows of the two tables of operations; those of notes leave out what all their paths begin with. */
function listedOperations(): string[] {
  const text = readFileSync(new URL(`../../${REFERENCE}`, import.meta.url), 'utf8')
  const rows = text.matchAll(/^\| `(GET|POST|PUT|PATCH|DELETE) (\/[^`]+)` \|/gm)
  return Array.from(rows, ([, method, path = '']) =>
    path.startsWith('/v2/') ? `${method} ${path}` : `${method} /v2/{project_id}${path}`,
  )
}
