import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ERROR_CODES } from '../../../src/platform/errors/codes.ts'

test('docs/errors.md lists exactly the codes that the server answers with', () => {
  const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
  const rows = page.matchAll(/^\| `(\w+)` \| (\d+) \| (\d+) \| (yes|no) \| (.+) \|$/gm)
  const documented = [...rows].map(([, code, http, rpc, again, meaning]) => ({
    code,
    http: Number(http),
    rpc: Number(rpc),
    retryable: again === 'yes',
    meaning,
  }))
  assert.deepEqual(
    documented,
    Object.entries(ERROR_CODES).map(([code, info]) => ({ code, ...info })),
  )
})
