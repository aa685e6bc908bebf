// Becomes dist/commonplace.mjs: runs the program beside it, dist/commonplace.cjs. A server keeps what V8 has compiled of the program
// by then, and every later start takes it from there: compiling anew what a start needs takes a quarter of it. Node's own compile cache
// keeps only what is compiled before anything runs, which is hardly any of it.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import { crc32 } from 'node:zlib'

const PROGRAM = fileURLToPath(new URL('commonplace.cjs', import.meta.url))
const KEPT = fileURLToPath(new URL('../.cache/compile/commonplace.code', import.meta.url))
// By then a server has started. Later V8 lets go of what it no longer needs.
const COMPILED_AFTER_MS = 2_000
const CHECKSUM_BYTES = 4

const { runCli } = load()
process.exitCode = await runCli(process.argv.slice(2))

/** All that is needed only for this goes with it: some ten megabytes. */
function load() {
  // Nothing but ASCII, so V8 needs one byte a character. It is one function, as a module of CommonJS is.
  const source = readFileSync(PROGRAM, 'latin1')
  const checksum = crc32(source)
  const cachedData = keptCode(checksum)
  const script = new Script(source, { filename: PROGRAM, cachedData })
  const isServer = ['serve', 'dev'].includes(process.argv[2])
  // V8 refuses what another version of it has made.
  if (isServer && (cachedData === undefined || script.cachedDataRejected)) keepSoon(script, checksum)
  const program = { exports: {} }
  script.runInThisContext()(program.exports, createRequire(PROGRAM), program, PROGRAM, dirname(PROGRAM))
  return program.exports
}

/**
 * V8 takes the code of any source of the same length for that of this one, and does not look whether it is whole: the file begins with
 * the checksums of both.
 */
function keptCode(checksum) {
  try {
    const kept = readFileSync(KEPT)
    const code = kept.subarray(2 * CHECKSUM_BYTES)
    const isOurs = kept.readUInt32LE(0) === checksum && kept.readUInt32LE(CHECKSUM_BYTES) === crc32(code)
    return isOurs ? code : undefined
  } catch {
    return undefined
  }
}

function keepSoon(script, checksum) {
  const timer = setTimeout(keep, COMPILED_AFTER_MS).unref()
  process.once('exit', keep)

  function keep() {
    clearTimeout(timer)
    process.removeListener('exit', keep)
    const partial = `${KEPT}.${process.pid}`
    // Where it cannot be written, nothing is kept, and a half of it is taken away if it can be.
    attempt(() => write(partial, script, checksum)) || attempt(() => rmSync(partial, { force: true }))
  }
}

function write(partial, script, checksum) {
  const code = script.createCachedData()
  const checksums = Buffer.alloc(2 * CHECKSUM_BYTES)
  checksums.writeUInt32LE(checksum)
  checksums.writeUInt32LE(crc32(code), CHECKSUM_BYTES)
  mkdirSync(dirname(KEPT), { recursive: true })
  writeFileSync(partial, Buffer.concat([checksums, code]))
  renameSync(partial, KEPT)
}

function attempt(work) {
  try {
    work()
    return true
  } catch {
    return false
  }
}
