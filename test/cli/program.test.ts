import assert from 'node:assert/strict'
import { type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { PROGRAM } from '../support/program.ts'
import { tempDir } from '../support/temp-dir.ts'
import { runCommand } from './run-command.ts'

test('a command whose answer nobody reads ends quietly', async () => {
  const child = spawn(process.execPath, [PROGRAM, 'config'], { cwd: tempDir(), stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
})

const noFullDisk = !existsSync('/dev/full') && 'this system has no /dev/full'

test('a command whose answer and complaint are both lost to a full disk ends', { skip: noFullDisk }, async () => {
  const full = openSync('/dev/full', 'w')
  const stdio: StdioOptions = ['ignore', full, full]
  const child = spawn(process.execPath, [PROGRAM, 'config'], { cwd: tempDir(), stdio, timeout: 30_000 })
  assert.deepEqual(await once(child, 'exit'), [1, null])
  closeSync(full)
})

test('help is told of the command that is named, and of none that does not exist', async () => {
  const unknown = await runCommand(['user', 'nonsense', '--help'])
  assert.deepEqual([unknown.status, unknown.stdout], [2, ''])
  assert.match(unknown.stderr, /unknown command 'nonsense'/)
  const { status, stdout } = await runCommand(['user', 'list', '--help'])
  assert.equal(status, 0)
  assert.match(stdout, /^Usage: commonplace user list /)
  assert.equal((await runCommand(['help', 'user', 'list'])).stdout, stdout)
  assert.equal((await runCommand(['help', 'nonsense'])).status, 2)
})

test('the help of reindex says whose settings choose the model', async () => {
  const { stdout } = await runCommand(['reindex', '--help'])
  assert.match(stdout, /the settings file and the variables of the server/)
})

test('a command that works on a database makes none where there is none', async () => {
  const root = tempDir()
  for (const command of [
    ['user', 'list'],
    ['migrate', '--status'],
  ]) {
    const { status, stdout, stderr } = await runCommand([...command, '--data-dir', join(root, 'mistyped')], {}, root)
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, /There is no database in .*mistyped: correct --data-dir/)
  }
  assert.deepEqual(readdirSync(root), [])
  assert.equal((await runCommand(['migrate', '--data-dir', join(root, 'new')])).status, 0)
  assert.ok(existsSync(join(root, 'new', 'commonplace.db')))
})

test('defaults are shown in the form in which they are given, and no flag is ignored', async () => {
  const { stdout } = await runCommand(['token', 'create', '--help'])
  assert.match(stdout, /\(default: 90d\)/)
  assert.doesNotMatch(stdout, /7776000000|\[\]/)
  const { status, stderr } = await runCommand([
    ...['token', 'create', '--user', 'ada@example.org', '--kind', 'key-pair', '--expires', '1d'],
  ])
  assert.equal(status, 2)
  assert.match(stderr, /a key pair does not expire: leave --expires out/)
})
