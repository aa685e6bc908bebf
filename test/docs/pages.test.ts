import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { blocksOf, runBlocks, shellUnavailable, without } from '../support/shell-blocks.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { tempDir } from '../support/temp-dir.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const NO_SECRETS = { COMMONPLACE_ADMIN_TOKEN: '', COMMONPLACE_API_KEY: '', COMMONPLACE_APPLICATION_KEY: '' }

describe('the examples', { skip: shellUnavailable() }, () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ mode: 'dev', env: NO_SECRETS })
  })
  after(() => server.stop())

  test('of README.md work against a server that was just started', async () => {
    // The first two are what runs this, the third does not end.
    const blocks = without(blocksOf('README.md', 'sh'), [/^npm start/, /^npm test/, / serve$/])
    const { status, output } = await runBlocks('README.md', blocks, server)
    assert.equal(status, 0, output.slice(-3_000))
    assert.ok(output.includes('{"status":"ready"}'), 'the comment of the first call is right')
  })

  test('of docs/operating.md work beside a running server', async () => {
    // Servers do not end, a restore wants them stopped, and a password wants a terminal; other tests have them.
    const blocks = without(blocksOf('docs/operating.md', 'sh'), [/ serve$/, / restore /, / set-password /])
    const { status, output } = await runBlocks('docs/operating.md', blocks, server, { '/backups': tempDir() })
    assert.equal(status, 0, output.slice(-3_000))
  })
})

test('every link of a page to another file leads somewhere', () => {
  for (const page of globSync(['*.md', 'docs/*.md'], { cwd: ROOT })) {
    const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
    for (const [, target] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (/^[a-z]+:/.test(target as string)) continue
      assert.ok(existsSync(join(ROOT, dirname(page), target as string)), `${page} links to ${target}`)
    }
  }
})
