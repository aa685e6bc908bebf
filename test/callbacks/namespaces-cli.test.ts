import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { runCommand } from '../cli/run-command.ts'
import { driveCommands } from '../support/drive-commands.ts'
import { PROGRAM, YOUNG_MEMORY } from '../support/program.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { client, type TestClient } from '../support/test-client.ts'
import { signingSecret } from './namespace-world.ts'

let server: TestServer
let admin: TestClient
let cli: ReturnType<typeof driveCommands>
before(async () => {
  server = await startServer({ mode: 'serve' })
  admin = client(server)
  cli = driveCommands(server.dataDir)
})
after(() => {
  cli.close()
  return server.stop()
})

function namespace(...args: string[]) {
  return cli.run(['namespace', ...args])
}

async function ok(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await namespace(...args)
  assert.equal(status, 0, stderr)
  return stdout
}

async function withInput(input: string, ...args: string[]) {
  const child = spawn(process.execPath, [...YOUNG_MEMORY, PROGRAM, 'namespace', ...args], {
    cwd: tempDir(),
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, COMMONPLACE_DATA_DIR: server.dataDir },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(input)
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { status, stdout, stderr }
}

test('an operator makes, shows, changes and deletes a namespace beside the running server', async () => {
  const flags = ['--description', 'Paid ones', '--set', 'retention=7d', '--attribute', 'CustomerId=Keyword']
  assert.match(await ok('create', 'orders', ...flags), /^created orders \([0-9a-f-]{36}\)/)
  const { body } = await admin.get('/namespaces/orders', 200)
  assert.deepEqual([body.retention, body.searchAttributes], ['604800s', { CustomerId: 'Keyword' }])
  assert.deepEqual(JSON.parse(await ok('show', 'orders', '--json')), body)
  assert.match(await ok('show', 'orders'), /^retention +604800s$/m)
  const rules = '[{"pattern":"*.example.org","allow_insecure":true}]'
  const changes = [
    '--set',
    `allowed_addresses=${rules}`,
    '--set',
    'retry.max_interval=5m',
    '--set',
    'destination.rps=2.5',
  ]
  assert.match(await ok('update', 'orders', ...changes, '--unset', 'retention'), /^changed orders/)
  const { body: changed } = await admin.get('/namespaces/orders', 200)
  assert.deepEqual(changed.overrides, ['allowedAddresses', 'retry.maxInterval', 'destination.rps'])
  assert.deepEqual(changed.allowedAddresses, [{ pattern: '*.example.org', allowInsecure: true }])
  assert.match(await ok('update', 'orders', '--set', 'destination.rps=2.5'), /^orders was so already/)
  await ok('update', 'orders', '--remove-attribute', 'CustomerId', '--attribute', 'Total=Int', '--set', 'enabled=false')
  assert.deepEqual((await admin.get('/namespaces/orders', 200)).body.searchAttributes, { Total: 'Int' })
  const table = (await ok('list')).split('\n')
  assert.match(table[0] as string, /^NAME\s+ATTRIBUTES\s+SECRETS\s+OVERRIDES\s+DESCRIPTION$/)
  assert.match(table[2] as string, /^orders\s+1\s+0\s+enabled, allowedAddresses.*Paid ones$/)
  assert.deepEqual(
    JSON.parse(await ok('list', '--json')).map((one: { name: string }) => one.name),
    ['default', 'orders'],
  )
  assert.match(await ok('delete', 'orders'), /^deleted orders/)
  await admin.get('/namespaces/orders', 404)
})

test('values are written as in the settings: a duration may be 0, and yes is true', async () => {
  const set = (...pairs: string[]) => namespace('update', 'typed', ...pairs.flatMap((pair) => ['--set', pair]))
  await ok('create', 'typed')
  const given = ['long_poll.buffer=0', 'enabled=off', 'retry.jitter=0.5', 'denied_ports=[80]', 'scheduleToClose.max=9d']
  assert.equal((await set(...given)).status, 0)
  const { body } = await admin.get('/namespaces/typed', 200)
  assert.deepEqual([body.longPoll.buffer, body.enabled, body.retry.jitter, body.deniedPorts], ['0s', false, 0.5, [80]])
  assert.equal(body.scheduleToClose.max, '777600s')
  assert.equal((await set('scheduleToClose.max=null')).status, 0)
  assert.equal((await admin.get('/namespaces/typed', 200)).body.scheduleToClose.max, null)
  const { status, stderr } = await set('retention=5')
  assert.equal(status, 1)
  assert.match(stderr, /retention must be a duration from 1d/)
  await ok('delete', 'typed')
})

test('a signing secret is printed once and rotates', async () => {
  await ok('create', 'signed')
  const made = await namespace('add-secret', 'signed')
  assert.deepEqual([made.status, made.stderr], [0, '1 secret signs in signed\n'])
  assert.match(made.stdout, /^whsec_[A-Za-z0-9+/]{43}=\n$/)
  const given = signingSecret(5)
  const added = await withInput(`${given}\n`, 'add-secret', 'signed', '--secret-stdin', '--json')
  assert.deepEqual(JSON.parse(added.stdout), { name: 'signed', secretCount: 2 })
  const shown = await ok('show', 'signed', '--json')
  assert.ok(!shown.includes(given.slice(6)) && !shown.includes(made.stdout.trim().slice(6)))
  assert.match(await ok('drop-secret', 'signed'), /^1 secret signs in signed/)
  const last = await namespace('drop-secret', 'signed')
  assert.deepEqual([last.status, /add another one first/.test(last.stderr)], [1, true])
  const dropped = await withInput(given, 'drop-secret', 'signed', '--secret-stdin', '--json')
  assert.deepEqual(JSON.parse(dropped.stdout), { name: 'signed', secretCount: 0 })
  const bad = await withInput('whsec_not+a+secret', 'add-secret', 'signed', '--secret-stdin')
  assert.deepEqual([bad.status, bad.stderr.includes('not+a+secret')], [1, false])
  const { secret, secretCount } = JSON.parse(await ok('add-secret', 'signed', '--json'))
  assert.deepEqual([secretCount, secret.startsWith('whsec_')], [1, true])
})

test('a command with a key that the server does not have does not lock the secrets with it', async () => {
  const env = { COMMONPLACE_DATA_DIR: server.dataDir }
  const COMMONPLACE_AUTH__ENCRYPTION_KEY = 'ab'.repeat(32)
  assert.equal((await runCommand(['namespace', 'list'], { ...env, COMMONPLACE_AUTH__ENCRYPTION_KEY })).status, 0)
  const { status, stderr } = await runCommand(['namespace', 'list'], env)
  assert.equal(status, 0, stderr)
})

test('every problem of a command line is told, with the exit status of its kind', async () => {
  const wrong = await namespace('create', 'bad name', '--set', 'retention=1h', '--set', 'nonsense=1')
  assert.equal(wrong.status, 1)
  for (const part of ['name must be', 'retention must be a duration', 'nonsense is not a known member']) {
    assert.ok(wrong.stderr.includes(part), wrong.stderr)
  }
  const unknown = await namespace('show', 'nowhere')
  assert.deepEqual([unknown.status, unknown.stderr], [1, 'commonplace: namespace "nowhere" not found\n'])
  assert.equal((await namespace('create', 'default')).status, 1)
  const usage = await namespace('update', 'default', '--set', 'retention')
  assert.deepEqual([usage.status, /Give a name, "=" and a value/.test(usage.stderr)], [2, true])
  const senseless = await namespace('create', 'another', '--unset', 'retention')
  assert.deepEqual(
    [senseless.status, /unknown option/.test(senseless.stderr)],
    [2, true],
    'there is nothing to unset yet',
  )
  assert.equal((await namespace('show')).status, 2)
  const { stdout } = await namespace('--help')
  for (const command of ['list', 'create', 'show', 'update', 'delete', 'add-secret', 'drop-secret']) {
    assert.ok(stdout.includes(command), command)
  }
  assert.match((await namespace('update', '--help')).stdout, /docs\/settings\.md/)
})
