import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { shellUnavailable } from '../support/shell-blocks.ts'
import { runExamples, servedForPages } from './page-server.ts'

describe('docs/instance.md', () => {
  const server = servedForPages()

  test('has examples that all work, in the order of the page', { skip: shellUnavailable() }, async () => {
    const output = await runExamples('docs/instance.md', server(), 4)
    for (const shown of ['Commonplace\n', '12\n', 'Example knowledge base\n', 'Be kind\n', 'true\n', 'spam\n']) {
      assert.ok(output.includes(shown), `the examples print ${shown}: ${output.slice(-3_000)}`)
    }
  })
})
