// One set-up at a time in one clone. The lock is a directory, because making one is atomic everywhere; its owner
// touches it while it works, so a lock that has gone quiet belongs to a process that was killed.
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'

const OWNERS = 'owners'
const TOUCH_EVERY_MS = 2_000
const QUIET_AFTER_MS = 30_000
const LOOK_EVERY_MS = 250

/**
 * @template T
 * @param {string} directory
 * @param {(line: string) => void} log
 * @param {(share: (pid: number) => void) => Promise<T>} work gets a function that names a process to wait for as well:
 *   an npm that goes on when its parent was killed
 * @returns {Promise<T>}
 */
export async function withLock(directory, log, work) {
  mkdirSync(dirname(directory), { recursive: true })
  let told = false
  while (!take(directory)) {
    if (isStale(directory)) {
      remove(directory)
      continue
    }
    if (!told) log('waiting for another set-up in this clone')
    told = true
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  const touching = setInterval(() => touch(directory), TOUCH_EVERY_MS)
  const onExit = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', onExit)
  try {
    return await work((pid) => appendFileSync(join(directory, OWNERS), `\n${pid} ${hostname()}`))
  } finally {
    clearInterval(touching)
    process.removeListener('exit', onExit)
    onExit()
  }
}

function take(directory) {
  try {
    mkdirSync(directory)
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
  writeFileSync(join(directory, OWNERS), `${process.pid} ${hostname()}`)
  return true
}

function isStale(directory) {
  try {
    if (Date.now() - statSync(directory).mtimeMs > QUIET_AFTER_MS) return true
    const owners = readFileSync(join(directory, OWNERS), 'utf8').split('\n')
    return owners.every((owner) => {
      const [pid, host] = owner.split(' ')
      return host === hostname() && !isAlive(Number(pid))
    })
  } catch {
    return false // given back, or just being taken: look again
  }
}

/** By renaming first: of several that wait only one can, and it sees whether the lock was taken anew meanwhile. */
function remove(directory) {
  const aside = `${directory}.${process.pid}`
  try {
    renameSync(directory, aside)
    if (!isStale(aside)) renameSync(aside, directory)
    rmSync(aside, { recursive: true, force: true })
  } catch {
    // Another one was quicker.
  }
}

function touch(directory) {
  try {
    utimesSync(directory, new Date(), new Date())
  } catch {
    // Only a hint for others.
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
