import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { findOldNode, hasEnded, MiniClone, type Script } from './mini-clone.ts'

const oldNode = findOldNode()
const needsOldNode = { skip: oldNode === null && 'no Node 20 or 22 on this machine' }
const PAST = 2_147_483_646 // a process number that no system hands out

async function finished(script: Script): Promise<{ node: string; cpuMs: number }> {
  const { status } = await script.closed
  assert.equal(status, 0, script.stderr)
  return JSON.parse(script.stdout)
}

describe('set-up', () => {
  test('installs what the lock file says, once, and a second run takes no time', async () => {
    const clone = new MiniClone()
    const first = await finished(clone.setUp())
    assert.equal(first.node, process.execPath)
    const second = await finished(clone.setUp())
    assert.ok(second.cpuMs < 100, `${second.cpuMs} ms`)
    const [call, ...more] = clone.calls()
    assert.equal(more.length, 0)
    assert.deepEqual(call?.args.slice(0, 2), ['ci', '--ignore-scripts'])
  })

  test('installs again when the lock file has changed', async () => {
    const clone = new MiniClone()
    await finished(clone.setUp())
    clone.write('package-lock.json', JSON.stringify({ packages: { 'node_modules/new': { version: '1.0.0' } } }))
    await finished(clone.setUp())
    assert.equal(clone.calls().length, 2)
  })

  test('takes what somebody has installed by hand', async () => {
    const clone = new MiniClone()
    clone.installByHand()
    await finished(clone.setUp())
    await finished(clone.setUp())
    assert.equal(clone.calls().length, 0)
  })

  test('misses nothing that npm leaves out: optional packages that only one of another platform needs', async () => {
    const clone = new MiniClone()
    clone.installByHand()
    const lock = JSON.parse(readFileSync(join(clone.root, 'package-lock.json'), 'utf8'))
    lock.packages['node_modules/left-out'] = { version: '1.0.0', optional: true }
    clone.write('package-lock.json', JSON.stringify(lock))
    await finished(clone.setUp())
    assert.equal(clone.calls().length, 0)
  })

  test('starts what is installed where nothing can be written, and says what to do where it is not', async () => {
    const clone = new MiniClone()
    const refused = await clone.startReadOnly('bin/commonplace.mjs')
    assert.equal((await refused.closed).status, 1)
    assert.match(
      refused.stderr,
      /^Set-up cannot write .*\.cache \(EACCES\): run "\.\/bin\/commonplace\.mjs --version" in .*\n$/,
    )
    clone.installByHand()
    const started = await clone.startReadOnly('bin/commonplace.mjs')
    assert.equal((await started.closed).status, 0, started.stderr)
    assert.equal(started.stdout, `${process.version}\n`)
    assert.equal(clone.calls().length, 0)
  })

  test('lets one of two that start together install, and the other wait', async () => {
    const clone = new MiniClone()
    const hold = clone.npm('hold')
    const first = clone.setUp()
    await first.printed('installing')
    const second = clone.setUp()
    await second.printed('waiting for another set-up')
    rmSync(hold)
    await Promise.all([finished(first), finished(second)])
    assert.equal(clone.calls().length, 1)
    assert.equal(existsSync(join(clone.root, '.cache/setup.lock')), false)
  })

  test('does an install again that was killed half-way, once its npm has ended, too', async () => {
    const clone = new MiniClone()
    const hold = clone.npm('hold')
    const killed = clone.setUp()
    await killed.printed('installing')
    while (clone.calls().length === 0) await new Promise((resolve) => setImmediate(resolve))
    killed.child.kill('SIGKILL')
    await once(killed.child, 'exit')
    const next = clone.setUp()
    await next.printed('waiting for another set-up')
    process.kill(clone.calls()[0]?.pid ?? 0, 'SIGKILL')
    rmSync(hold)
    await finished(next)
    assert.equal(clone.calls().length, 2)
  })

  test('takes over the lock of a process that is gone', async () => {
    const clone = new MiniClone()
    mkdirSync(join(clone.root, '.cache/setup.lock'), { recursive: true })
    clone.write('.cache/setup.lock/owners', `${PAST} ${hostname()}`)
    await finished(clone.setUp())
  })

  test('ends npm when it is interrupted, and leaves no lock', async () => {
    const clone = new MiniClone()
    clone.npm('hold')
    const script = clone.setUp()
    await script.printed('installing')
    while (clone.calls().length === 0) await new Promise((resolve) => setImmediate(resolve))
    script.child.kill('SIGINT')
    const { status } = await script.closed
    assert.equal(status, 130)
    await hasEnded(clone.calls()[0]?.pid ?? 0)
    assert.equal(existsSync(join(clone.root, '.cache/setup.lock')), false)
  })

  test('says what went wrong and what to do when npm fails', async () => {
    const clone = new MiniClone()
    clone.npm('fail')
    const script = clone.start('bin/commonplace.mjs')
    const { status } = await script.closed
    assert.equal(status, 1)
    assert.match(script.stderr, /npm ci failed[\s\S]*ENOTFOUND[\s\S]*run the same command again/)
    assert.doesNotMatch(script.stderr, /at async/)
  })

  test('hands npm nothing of the npm outside but how to reach the registry', async () => {
    const clone = new MiniClone()
    const env = {
      npm_config_registry: 'https://packages.example.org/',
      npm_config_omit: 'dev',
      npm_config_global: 'true',
      npm_lifecycle_event: 'start',
      NODE_ENV: 'production',
    }
    await finished(clone.setUp({ dev: true, env }))
    const call = clone.calls()[0]
    const handed = Object.keys(call?.env ?? {}).filter((name) => name.startsWith('npm_'))
    assert.deepEqual(handed, ['npm_config_registry'])
    assert.equal(call?.env.NODE_ENV, '')
  })

  test('leaves out what only tests need in production, and brings it when tests run', async () => {
    const clone = new MiniClone()
    await finished(clone.setUp({ env: { NODE_ENV: 'production' } }))
    assert.ok(clone.calls()[0]?.args.includes('--omit=dev'))
    rmSync(join(clone.root, 'node_modules/.package-lock.json'))
    await finished(clone.setUp({ dev: true }))
    assert.ok(clone.calls()[1]?.args.includes('--include=dev'))
    await finished(clone.setUp({ env: { NODE_ENV: 'production' } }))
    assert.equal(clone.calls().length, 2)
  })

  test('gives a Node that is new enough to one that is not', needsOldNode, async () => {
    const clone = new MiniClone()
    const { node } = await finished(clone.setUp({ node: oldNode ?? '' }))
    assert.equal(node, join(clone.root, 'node_modules/.bin/node'))
    const second = await finished(clone.setUp({ node: oldNode ?? '' }))
    assert.ok(second.cpuMs < 100, `${second.cpuMs} ms`)
  })

  test('fetches Node by itself where the packages bring none', needsOldNode, async () => {
    const clone = new MiniClone()
    clone.npm('no-node')
    const script = clone.setUp({ node: oldNode ?? '' })
    await finished(script)
    assert.match(script.stderr, /bringing Node 24/)
    assert.match(clone.calls()[1]?.args.join(' ') ?? '', /^install .*node@24$/)
    assert.equal(readFileSync(join(clone.root, '.cache/node/package.json'), 'utf8'), '{ "private": true }\n')
  })

  test('says so when no Node can be had that is new enough', async () => {
    const clone = new MiniClone('', { engine: '>=99.1' })
    const script = clone.start('bin/commonplace.mjs')
    const { status } = await script.closed
    assert.equal(status, 1)
    assert.match(script.stderr, /needs Node >=99\.1.*install a newer Node/)
  })
})
