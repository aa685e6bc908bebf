// The import rules of ARCHITECTURE.md, checked by reading the sources: cheaper than a tool and always current. Each test
// lists every breach with its file, so that a red one says what to move. Exceptions stand in the lists below, with why.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FEATURES = ['callbacks', 'instance', 'users', 'knowledge']
const FOLDERS = [...FEATURES, 'cli', 'console', 'gen', 'mcp', 'platform']
const BANNED_NAMES = /^(utils?|helpers?|common|types|lib|misc|shared)$/
const LONGEST_FILE = 400

// Time and the environment have one source each.
const TIME_ALLOWED = [
  'src/platform/clock/',
  'src/platform/ids/', // a UUIDv7 carries the time of its making; tests pass their own
  'src/callbacks/receiver-kit/', // runs at receivers, which have no clock of ours
]
const ENVIRONMENT_ALLOWED = ['src/platform/config/']
const SQL_ALLOWED = [
  'src/platform/storage/',
  'src/platform/backup/', // copies whole tables, whatever is in them
]
// Whether somebody else was faster is judged in the transaction of the change, by what the header said.
const TRANSPORT_IN_SERVICES = ['src/platform/http/answer/etag.ts']
const NETWORK_ALLOWED = ['src/platform/http/', 'src/platform/rpc/', 'src/platform/outbound/', 'src/platform/telemetry/']

interface Source {
  path: string
  text: string
  /** Without comments, so that a comment may name what the code must not do. */
  code: string
  /** What it imports: a package name, or a path from the root of the repository. */
  imports: string[]
  isTest: boolean
}

const SOURCES = globSync('src/**/*.ts', { cwd: ROOT })
  .filter((path) => !path.startsWith('src/gen/'))
  .map(read)
const CODE = SOURCES.filter((source) => !source.isTest)

function read(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '')
  const imports = [...code.matchAll(/^\s*(?:import|export)\b[^'"]*?\bfrom\s+['"]([^'"]+)['"]/gm)]
    .concat([...code.matchAll(/\bimport\s*\(?\s*['"]([^'"]+)['"]/g)])
    .map(([, target = '']) => (target.startsWith('.') ? normalize(join(dirname(path), target)) : target))
  return { path, text, code, imports, isTest: path.endsWith('.test.ts') }
}

/** Each as its file and its name; `*` for a whole file. */
function importedNames(from: string, code: string): string[] {
  const lists = [
    ...code.matchAll(/\b(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*[^'"]*)\s*from\s*['"](\.[^'"]+)['"]/g),
    ...code.matchAll(/(\{[^{}]*\})\s*=\s*await import\(\s*['"](\.[^'"]+)['"]/g),
  ]
  return lists.flatMap(([, list = '', target = '']) => {
    const path = normalize(join(dirname(from), target))
    if (list.startsWith('*')) return [`${path} *`]
    const names = list
      .slice(1, -1)
      .split(',')
      .map(
        (name) =>
          name
            .trim()
            .replace(/^type\s+/, '')
            .split(/\s+as\s+|:/)[0],
      )
    return names.map((name) => `${path} ${name}`)
  })
}

function folderOf(path: string): string {
  return path.startsWith('src/') ? (path.split('/')[1] ?? '') : ''
}

function within(path: string, folders: string[]): boolean {
  return folders.some((folder) => path.startsWith(folder))
}

/** Every import for which the rule has an objection. */
function breaches(sources: Source[], isForbidden: (from: Source, target: string) => boolean): string[] {
  return sources.flatMap((from) =>
    from.imports.filter((target) => isForbidden(from, target)).map((target) => `${from.path} imports ${target}`),
  )
}

/** Ways that lead from a file back to it, each told once. */
function circles(sources: Source[]): string[] {
  const importsOf = new Map(sources.map(({ path, imports }) => [path, imports]))
  const done = new Set<string>()
  const found: string[] = []
  const follow = (path: string, way: string[]) => {
    const begin = way.indexOf(path)
    if (begin !== -1) found.push([...way.slice(begin), path].join(' -> '))
    if (begin !== -1 || done.has(path)) return
    for (const target of importsOf.get(path) ?? []) follow(target, [...way, path])
    done.add(path)
  }
  for (const { path } of sources) follow(path, [])
  return found
}

function matches(sources: Source[], pattern: RegExp): string[] {
  return sources.flatMap(({ path, code }) => {
    const found = pattern.exec(code)
    return found === null ? [] : [`${path}: ${found[0].trim()}`]
  })
}

function assertNone(found: string[]): void {
  assert.deepEqual(found, [], `\n${found.join('\n')}`)
}

test('the rules see the sources and their imports', () => {
  assert.ok(CODE.length > 20)
  assert.ok(CODE.some(({ imports }) => imports.includes('kysely')))
  assert.ok(CODE.some(({ imports }) => imports.includes('src/platform/errors/app-error.ts')))
})

test('the platform imports no feature and nothing above it', () => {
  const inPlatform = CODE.filter(({ path }) => path.startsWith('src/platform/'))
  assertNone(breaches(inPlatform, (_from, to) => to.startsWith('src/') && !within(to, ['src/platform/', 'src/gen/'])))
})

test('ids, errors and clock import nothing of ours', () => {
  for (const name of ['ids', 'errors', 'clock']) {
    const own = `src/platform/${name}/`
    const inside = CODE.filter(({ path }) => path.startsWith(own))
    assertNone(breaches(inside, (_from, to) => to.startsWith('src/') && !to.startsWith(own)))
  }
})

test('nothing imports what stands above it: main, cli, app, features, platform', () => {
  const heightOf = (path: string) => {
    if (path === 'src/main.ts') return 4
    if (path.startsWith('src/cli/')) return 3
    if (path.split('/').length === 2) return 2
    return folderOf(path) === 'platform' || folderOf(path) === 'gen' ? 0 : 1
  }
  // What stands alone beside app.ts and imports nothing may be used by all, such as the version.
  const isLeaf = (path: string) =>
    SOURCES.some((source) => source.path === path && !source.imports.some((to) => to.startsWith('src/')))
  assertNone(breaches(CODE, ({ path }, to) => to.startsWith('src/') && heightOf(to) > heightOf(path) && !isLeaf(to)))
})

test('no file needs itself by way of others, not even for a type', () => {
  assertNone(circles(CODE))
})

test('no feature imports another: what it needs of one, app.ts hands over', () => {
  const inFeatures = CODE.filter(({ path }) => FEATURES.includes(folderOf(path)))
  assertNone(breaches(inFeatures, ({ path }, to) => FEATURES.includes(folderOf(to)) && folderOf(to) !== folderOf(path)))
})

test('inside a feature: routes and rpc do not touch the store, services know no transport, stores know no HTTP', () => {
  const isTransport = (to: string) =>
    /^(fastify|@fastify\/|@connectrpc\/|node:http)/.test(to) || within(to, ['src/platform/http/', 'src/platform/rpc/'])
  const isStore = (to: string) => to.startsWith('src/') && basename(to).startsWith('store')
  const inFeatures = CODE.filter(({ path }) => FEATURES.includes(folderOf(path)))
  assertNone(
    breaches(inFeatures, ({ path }, to) => {
      const name = basename(path)
      if (/^(routes|rpc)\b/.test(name)) return isStore(to)
      const isService = name.endsWith('-service.ts') && !TRANSPORT_IN_SERVICES.includes(to)
      return (isService || name.startsWith('store')) && isTransport(to)
    }),
  )
})

test('SQL stands only in stores and their table types, in the storage platform and in backup', () => {
  const outside = CODE.filter(
    ({ path }) => !within(path, SQL_ALLOWED) && !/^(store|claim|tables)\b/.test(basename(path)),
  )
  assertNone(breaches(outside, (_from, to) => /^(kysely\b|pg$|node:sqlite$)/.test(to)))
  assertNone(matches(outside, /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(/))
})

test('a released migration depends on nothing that could change under it', () => {
  const numbered = CODE.filter(({ path }) => /^src\/platform\/storage\/migrations\/\d{4}-/.test(path))
  assert.ok(numbered.length > 0)
  assertNone(breaches(numbered, (_from, to) => to !== 'kysely'))
})

test('only the outbound platform calls strangers', () => {
  const outside = CODE.filter(({ path }) => !within(path, NETWORK_ALLOWED))
  assertNone(matches(outside, /(?<![.\w])fetch\(/))
  assertNone(breaches(outside, (_from, to) => /^(node:(https?|http2|tls|dgram)|undici)$/.test(to)))
  // Telling an address from a name is no call.
  assertNone(matches(outside, /^import (?!type\b)(?!\{ (isIPv?\d?|BlockList|, )+ \}).*'node:net'/m))
})

test('the environment is read only by the configuration', () => {
  assertNone(
    matches(
      CODE.filter(({ path }) => !within(path, ENVIRONMENT_ALLOWED)),
      /process\.env\b/,
    ),
  )
})

test('time comes only from the clock', () => {
  const outside = CODE.filter(({ path }) => !within(path, TIME_ALLOWED))
  assertNone(matches(outside, /\b(Date\.now|performance\.now)\b|\bnew Date\(\s*\)|(?<![.\w])set(Timeout|Interval)\(/))
  // Giving others a turn is not waiting for a time.
  assertNone(matches(outside, /^import (?!\{ setImmediate( as \w+)? \}).*'node:timers/m))
})

test('the server imports neither tests nor benchmarks nor scripts nor the console sources', () => {
  assertNone(breaches(CODE, (_from, to) => /^(test|bench|scripts|web)\//.test(to)))
})

test('every export has a name', () => {
  assertNone(matches(SOURCES, /^export default\b|^export \{[^}]*\bas default\b/m))
})

test('what is exported is imported somewhere else', () => {
  const others = globSync(['{test,bench,scripts,tools}/**/*.{ts,mjs}', 'bin/*.mjs'], { cwd: ROOT }).map(read)
  const wanted = new Set([...SOURCES, ...others].flatMap(({ path, code }) => importedNames(path, code)))
  const unused = CODE.flatMap(({ path, code }) =>
    [...code.matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm)]
      .map(([, name]) => `${path} ${name}`)
      .filter((name) => !wanted.has(name) && !wanted.has(`${path} *`)),
  )
  assertNone(unused)
})

test('files are in kebab-case, in the agreed folders, and named for what they are', () => {
  const wrong = SOURCES.map(({ path }) => path).filter((path) => {
    const [, ...parts] = path.split('/')
    const file = parts.pop() ?? ''
    if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.(sqlite|postgres))?(\.test)?\.ts$/.test(file)) return true
    if (parts.some((part) => BANNED_NAMES.test(part) || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(part))) return true
    if (BANNED_NAMES.test(file.replace(/(\.test)?\.ts$/, ''))) return true
    return parts[0] !== undefined && !FOLDERS.includes(parts[0])
  })
  assertNone(wrong)
})

test('an index.ts is a public face of a feature, or the list of migrations', () => {
  const allowed = [...FEATURES.map((name) => `src/${name}/index.ts`), 'src/platform/storage/migrations/index.ts']
  assertNone(SOURCES.map(({ path }) => path).filter((path) => basename(path) === 'index.ts' && !allowed.includes(path)))
})

test('a long file argues its case in its header', () => {
  const tests = globSync(['test/**/*.ts', 'bench/**/*.ts', 'scripts/*.{ts,mjs}'], { cwd: ROOT }).map(read)
  const long = [...SOURCES, ...tests].filter(({ text }) => text.split('\n').length > LONGEST_FILE)
  assertNone(long.filter(({ text }) => !/^(\/\/|\/\*)/.test(text)).map(({ path }) => path))
})
