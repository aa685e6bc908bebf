// Keeps what Node runs of each of our sources, without its types, in .cache/sources: a process that meets a single source that none has run
// before loads a compiler for it, and every test file is one. A program of its own, because Node warns of what it uses.
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const DIRECTORY = join(ROOT, '.cache', 'sources', process.version)
const SOURCES = ['src/**/*.ts', 'test/**/*.ts']

const paths = new Set(globSync(SOURCES, { cwd: ROOT }))
for (const path of paths) keep(join(ROOT, path), join(DIRECTORY, path))
// What is no longer there must not be found.
for (const path of globSync(SOURCES, { cwd: DIRECTORY })) if (!paths.has(path)) rmSync(join(DIRECTORY, path))
process.stdout.write(DIRECTORY)

function keep(source, kept) {
  const { atime, mtime } = statSync(source)
  if (changedAt(kept) === mtime.getTime()) return
  const text = stripped(readFileSync(source, 'utf8'))
  if (text === null) return
  mkdirSync(dirname(kept), { recursive: true })
  // Another run may be reading it.
  const partial = `${kept}.${process.pid}`
  writeFileSync(partial, text)
  utimesSync(partial, atime, mtime)
  renameSync(partial, kept)
}

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtime.getTime()
}

/** Null where there is more than types, as in declarations: nothing runs those. */
function stripped(text) {
  try {
    return stripTypeScriptTypes(text)
  } catch {
    return null
  }
}
