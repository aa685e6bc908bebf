// Generates src/gen/ from proto/. Run it after every change in proto/ and commit the result:
//
//   node scripts/generate.mjs          generate
//   node scripts/generate.mjs --check  say what is stale, change nothing, exit 1
//
// The generator is 135 MB of native binaries, needed only by whoever edits a .proto file. It is
// therefore no dependency: it is fetched once into .cache/ at the pinned versions below. --check and
// everything else in the repository work without it and without a network.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TOOLS = { '@bufbuild/buf': '1.74.0', '@bufbuild/protoc-gen-es': '2.16.0' }
const TOOLS_DIR = join(ROOT, '.cache', 'proto-tools')
const MANIFEST = join(ROOT, 'src', 'gen', 'sources.json')

/** What src/gen/sources.json must say about the files that are there now. */
function describeSources() {
  return {
    generators: TOOLS,
    sources: hashAll('proto/**/*.proto'),
    outputs: hashAll('src/gen/**/*.{js,ts}'),
  }
}

/** One sentence per difference between proto/, src/gen/ and src/gen/sources.json; empty when all agree. */
function findStale() {
  if (!existsSync(MANIFEST)) return ['src/gen/sources.json is missing']
  const recorded = JSON.parse(readFileSync(MANIFEST, 'utf8'))
  const actual = describeSources()
  return ['generators', 'sources', 'outputs'].flatMap((part) => {
    const names = new Set([...Object.keys(recorded[part] ?? {}), ...Object.keys(actual[part])])
    return [...names]
      .filter((name) => recorded[part]?.[name] !== actual[part][name])
      .map((name) => `${name} is not what src/gen/ was generated with`)
  })
}

function hashAll(pattern) {
  const files = globSync(pattern, { cwd: ROOT })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
  return Object.fromEntries(files.map((file) => [file, createHash('sha256').update(readText(file)).digest('hex')]))
}

// A checkout may have turned line ends into CRLF; that is no change of the contract.
function readText(file) {
  return readFileSync(join(ROOT, file), 'utf8').replaceAll('\r\n', '\n')
}

function installTools() {
  const wanted = JSON.stringify({ private: true, dependencies: TOOLS }, null, 2)
  // Written after the install, so that an interrupted one is done again.
  const marker = join(TOOLS_DIR, 'installed.json')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return
  mkdirSync(TOOLS_DIR, { recursive: true })
  writeFileSync(join(TOOLS_DIR, 'package.json'), wanted)
  run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'], TOOLS_DIR)
  writeFileSync(marker, wanted)
}

function run(command, args, cwd) {
  const path = [join(TOOLS_DIR, 'node_modules', '.bin'), process.env.PATH].join(delimiter)
  const isWindows = process.platform === 'win32'
  const result = spawnSync(command, args, {
    cwd,
    stdio: 'inherit',
    shell: isWindows,
    env: { ...process.env, PATH: path },
  })
  if (result.error !== undefined || result.status !== 0) {
    console.error(`${command} ${args.join(' ')} failed${result.error ? `: ${result.error.message}` : ''}`)
    process.exit(1)
  }
}

function generate() {
  installTools()
  run('buf', ['lint'], ROOT)
  run('buf', ['generate'], ROOT)
  const described = describeSources()
  writeFileSync(MANIFEST, `${JSON.stringify(described, null, 2)}\n`)
  console.log(`src/gen is up to date: ${Object.keys(described.sources).length} proto files`)
}

function check() {
  const stale = findStale()
  for (const line of stale) console.error(line)
  if (stale.length > 0) {
    console.error('Run: node scripts/generate.mjs')
    process.exitCode = 1
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (process.argv.includes('--check')) check()
  else generate()
}
