import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { blocksOf, runBlocks, shellUnavailable, without } from '../support/shell-blocks.ts'
import { tempDir } from '../support/temp-dir.ts'
import { servedForPages } from './page-server.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGES = globSync(['*.md', 'docs/*.md'], { cwd: ROOT })
// A program that a comment names. Behind a star it is any of several, behind a dot or slash the end of something longer.
const NAMED = /(?<![*./\w-])[\w-]+(?:\/[\w-]+)*(?:\.[\w-]+)*\.(?:ts|mjs)\b/g

describe('the examples', { skip: shellUnavailable() }, () => {
  const server = servedForPages()

  test('of README.md work against a server that was just started', async () => {
    // The first two are what runs this, the third does not end.
    const blocks = without(blocksOf('README.md', 'sh'), [/^npm start/, /^npm test/, / serve$/])
    const { status, output } = await runBlocks('README.md', blocks, server())
    assert.equal(status, 0, output.slice(-3_000))
    assert.ok(output.includes('{"status":"ready"}'), 'the comment of the first call is right')
  })

  test('of docs/rpc.md work, as far as they need curl alone, and it names the services that there are', async () => {
    const blocks = without(blocksOf('docs/rpc.md', 'sh'), [/^grpcurl /])
    const { status, output } = await runBlocks('docs/rpc.md', blocks, server())
    assert.equal(status, 0, output.slice(-3_000))
    const { services } = JSON.parse(output.slice(output.indexOf('{"name"'), output.lastIndexOf('}') + 1))
    const page = readFileSync(join(ROOT, 'docs/rpc.md'), 'utf8')
    const named = [...page.matchAll(/^\| `([a-z.\d]+\.v1\.[A-Z]\w+)`/gm)].map(([, name]) => name)
    assert.deepEqual(
      named.toSorted(),
      services.filter((name: string) => !name.includes('v1alpha')),
    )
  })

  test('of docs/operating.md work beside a running server', async () => {
    // Servers do not end, a restore wants them stopped, and a password wants a terminal; other tests have them.
    const blocks = without(blocksOf('docs/operating.md', 'sh'), [/ serve$/, / restore /, / set-password /])
    const { status, output } = await runBlocks('docs/operating.md', blocks, server(), { '/backups': tempDir() })
    assert.equal(status, 0, output.slice(-3_000))
  })
})

test('every link of a page leads to a file that there is, and to a heading in it', () => {
  for (const page of PAGES) {
    for (const [, target] of textOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      const [file, heading] = (target as string).split('#') as [string, string?]
      if (/^[a-z]+:/.test(file)) continue
      const path = file === '' ? page : join(dirname(page), file)
      assert.ok(existsSync(join(ROOT, path)), `${page} links to ${target}`)
      if (heading !== undefined) assert.ok(headingsOf(path).includes(heading), `${page} links to ${target}`)
    }
  }
})

test('every program that a page or a comment names is there', () => {
  const programs = globSync('{bench,bin,scripts,src,test}/**/*.{ts,mjs}', { cwd: ROOT })
  const isThere = (name: string) => programs.some((path) => `/${path}`.endsWith(`/${name}`))
  const named = [
    ...PAGES.flatMap((page) =>
      [...textOf(page).matchAll(/`(?:\.\/)?([\w/-][\w./-]*\.(?:ts|mjs))`/g)].map(([, name]) => [page, name]),
    ),
    ...programs.flatMap((path) =>
      commentsOf(path).flatMap((line) => [...line.matchAll(NAMED)].map(([name]) => [path, name])),
    ),
  ] as [where: string, name: string][]
  assert.ok(named.length > 50)
  assert.deepEqual(
    named.filter(([, name]) => !isThere(name) && !name.startsWith('dist/')),
    [],
  )
})

/** Without what stands in fences. */
function textOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
}

/** As a link names them. */
function headingsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}

function commentsOf(program: string): string[] {
  const lines = readFileSync(join(ROOT, program), 'utf8').split('\n')
  return lines.filter((line) => /^\s*(\/\/|\*|\/\*\*) /.test(line))
}
