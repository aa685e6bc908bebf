import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { tempDir } from '../support/temp-dir.ts'
import { findOldNode, MiniClone, Script } from './mini-clone.ts'

const oldNode = findOldNode()
const page = readFileSync(new URL('../../docs/callbacks.md', import.meta.url), 'utf8')

const REPORTING = `
  console.log(JSON.stringify({ major: Number(process.versions.node.split('.')[0]), pid: process.pid,
    args: process.argv.slice(2), marks: Object.keys(process.env).filter((name) => name.startsWith('COMMONPLACE_BIN')) }))
  process.exitCode = 7
`
const WAITING = `
  process.on('SIGTERM', () => { console.log('got SIGTERM'); process.exit(5) })
  console.log('waiting ' + process.pid)
  setInterval(() => {}, 1000)
`

function cloneWith(main: string): MiniClone {
  const clone = new MiniClone(main)
  clone.installByHand()
  return clone
}

for (const [name, node, reason] of [
  ['a Node that is new enough', process.execPath, null],
  ['an old Node', oldNode ?? '', oldNode === null ? 'no Node 20 or 22 on this machine' : null],
] as const) {
  describe(`the command line under ${name}`, { skip: reason ?? false }, () => {
    test('runs the program with its arguments and ends with its status', async () => {
      const script = cloneWith(REPORTING).start('bin/commonplace.mjs', { node, args: ['doctor', '--json', 'a b'] })
      const { status } = await script.closed
      assert.equal(status, 7, script.stderr)
      const { major, pid, args, marks } = JSON.parse(script.stdout)
      assert.ok(major >= 24)
      assert.deepEqual(args, ['doctor', '--json', 'a b'])
      assert.deepEqual(marks, [])
      assert.equal(pid === script.child.pid, node === process.execPath)
    })

    test("starts with each variable that the page of callbacks names for authorities of one's own", async () => {
      const named = [...page.matchAll(/`(NODE_\w+)=(\S+)`/g)]
      assert.ok(named.length >= 2)
      for (const [text, variable, value] of named) {
        const env = { [variable as string]: value as string }
        const script = cloneWith(REPORTING).start('bin/commonplace.mjs', { node, env })
        assert.equal((await script.closed).status, 7, `${text}: ${script.stderr}`)
      }
    })

    test('passes a signal on and ends as the program decides', async () => {
      const script = cloneWith(WAITING).start('bin/commonplace.mjs', { node })
      await script.printed('waiting')
      script.child.kill('SIGTERM')
      const { status } = await script.closed
      assert.equal(status, 5)
      assert.equal(script.stdout.match(/got SIGTERM/g)?.length, 1)
    })

    test('shows by which signal the program was killed', async () => {
      const script = cloneWith(WAITING).start('bin/commonplace.mjs', { node })
      await script.printed('waiting')
      process.kill(Number(/waiting (\d+)/.exec(script.stdout)?.[1]), 'SIGKILL')
      assert.deepEqual(await script.closed, { status: null, signal: 'SIGKILL' })
    })

    test('does not leave the program behind when it is killed itself', async () => {
      const script = cloneWith(WAITING).start('bin/commonplace.mjs', { node })
      await script.printed('waiting')
      script.child.kill('SIGKILL')
      await script.closed // that is, once nobody holds its output any more
      assert.equal(script.stdout.includes('got SIGTERM'), node !== process.execPath)
    })

    test('sets a clone up that nobody has set up', async () => {
      const clone = new MiniClone(REPORTING)
      const { status } = await clone.start('bin/commonplace.mjs', { node }).closed
      assert.equal(status, 7)
      assert.equal(clone.calls().length, 1)
    })

    test('runs the bundle of an installed package, under a Node that npm placed further up', async () => {
      const project = tempDir()
      const clone = new MiniClone('', { root: join(project, 'node_modules/commonplace') })
      mkdirSync(join(project, 'node_modules/.bin'))
      symlinkSync(process.execPath, join(project, 'node_modules/.bin/node'))
      clone.write('dist/commonplace.mjs', REPORTING)
      const script = clone.start('bin/commonplace.mjs', { node })
      const { status } = await script.closed
      assert.equal(status, 7, script.stderr)
      assert.equal(clone.calls().length, 0)
    })

    test('npm start runs dev, with the flags that follow', async () => {
      const script = cloneWith(REPORTING).start('scripts/start.mjs', { node, args: ['--port', '0'] })
      await script.closed
      assert.deepEqual(JSON.parse(script.stdout).args, ['dev', '--port', '0'])
    })

    test('npm start does not leave the server behind when npm is killed', async () => {
      const clone = cloneWith(WAITING)
      clone.write(
        'npm.mjs',
        `import { spawn } from 'node:child_process'
         spawn(${JSON.stringify(node)}, ['scripts/start.mjs'], { stdio: 'inherit', env: { ...process.env, npm_lifecycle_event: 'start' } })`,
      )
      const npm = clone.start('npm.mjs')
      await npm.printed('waiting')
      npm.child.kill('SIGKILL')
      await npm.closed
      assert.match(npm.stdout, /got SIGTERM/)
    })
  })
}

test('an incomplete package says so', async () => {
  const clone = new MiniClone('', { root: join(tempDir(), 'node_modules/commonplace') })
  const script = clone.start('bin/commonplace.mjs')
  assert.equal((await script.closed).status, 1)
  assert.match(script.stderr, /install commonplace again/)
})

test('a package without any Node that is new enough says what to do', async () => {
  const clone = new MiniClone('', { root: join(tempDir(), 'node_modules/commonplace'), engine: '>=99' })
  clone.write('dist/commonplace.mjs', '')
  const script = clone.start('bin/commonplace.mjs')
  assert.equal((await script.closed).status, 1)
  assert.match(script.stderr, /needs Node >=99.*install a newer Node/)
})

test('the command line can be run through a link from elsewhere', async () => {
  const clone = cloneWith(REPORTING)
  const link = join(tempDir(), 'commonplace')
  symlinkSync(join(clone.root, 'bin/commonplace.mjs'), link)
  const script = new Script(spawn(process.execPath, [link, 'x'], { cwd: tempDir() }))
  assert.equal((await script.closed).status, 7, script.stderr)
})
