import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, linkSync, readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { MIGRATIONS } from '../../src/platform/storage/migrations/index.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { runCommand } from './run-command.ts'

describe('commonplace backup', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server.stop())

  test('copies the data of a running server and says what it did', async () => {
    const cwd = tempDir()
    const { status, stdout, stderr } = await runCommand(['backup', '--data-dir', server.dataDir], {}, cwd)
    assert.equal(status, 0, stderr)
    const [name] = readdirSync(cwd)
    assert.match(name as string, /^commonplace-\d{8}T\d{6}Z\.db$/)
    assert.match(stdout, /^backed up [\d,]+ rows \(schema \d+\) to .*, \d.* [kMG]?B, verified\n$/)
    assert.equal(statSync(join(cwd, name as string)).mode & 0o777, 0o600)
  })

  test('answers a script as JSON, with the progress on standard error', async () => {
    const file = join(tempDir(), 'backup.jsonl.gz')
    const args = ['backup', file, '--format', 'dump', '--json', '--data-dir', server.dataDir]
    const { status, stdout, stderr } = await runCommand(args)
    assert.equal(status, 0, stderr)
    const { rows, bytes, ...rest } = JSON.parse(stdout)
    assert.deepEqual(rest, { file, format: 'dump', schema: MIGRATIONS.length })
    assert.equal(rows.organizations, 1)
    assert.equal(bytes, statSync(file).size)
    assert.match(stderr, /^copying: 100 %/m)
    assert.match(stderr, /^verifying: 100 %/m)
  })

  test('is not written to standard output, and to no file that is called after it', async () => {
    const cwd = tempDir()
    const { status, stdout, stderr } = await runCommand(['backup', '-', '--data-dir', server.dataDir], {}, cwd)
    assert.deepEqual([status, stdout, readdirSync(cwd)], [2, '', []])
    assert.match(stderr, /not written to standard output: name a file/)
  })

  test('replaces a file only with --force', async () => {
    const file = join(tempDir(), 'backup.db')
    const args = ['backup', file, '--data-dir', server.dataDir]
    assert.equal((await runCommand(args)).status, 0)
    const { status, stderr } = await runCommand(args)
    assert.equal(status, 1)
    assert.match(stderr, /exists already: choose another name or add --force/)
    assert.equal((await runCommand([...args, '--force'])).status, 0)
  })

  test('never takes the place of what is no file, such as a device or a socket', async () => {
    const socket = join(tempDir(), 'socket')
    const listener = createServer().listen(socket)
    await once(listener, 'listening')
    for (const more of [[], ['--force']]) {
      const { status, stderr } = await runCommand(['backup', socket, '--data-dir', server.dataDir, ...more])
      assert.equal(status, 1)
      assert.match(stderr, /is no file but a device, pipe or socket: name a file/)
    }
    assert.ok(statSync(socket).isSocket())
    listener.close()
  })

  test('never takes the place of the database itself, by whatever path', async () => {
    const database = join(server.dataDir, 'commonplace.db')
    const link = join(tempDir(), 'link.db')
    linkSync(database, link)
    const { ino } = statSync(database)
    for (const [file, format] of [
      [database, 'sqlite'],
      [database, 'dump'],
      [`${database}-wal`, 'sqlite'],
      [link, 'sqlite'],
    ] as const) {
      const args = ['backup', file, '--force', '--format', format, '--data-dir', server.dataDir]
      const { status, stderr } = await runCommand(args)
      assert.equal(status, 1)
      assert.match(stderr, /belongs to the database itself: choose another name/)
    }
    assert.equal(statSync(database).ino, ino)
  })

  test('fails with a sentence where there is nothing to back up', async () => {
    const dataDir = tempDir()
    const { status, stderr } = await runCommand(['backup', 'x.db', '--data-dir', dataDir])
    assert.equal(status, 1)
    assert.match(stderr, /nothing to back up/)
    assert.equal(existsSync('x.db'), false)
  })

  test('refuses a format it does not know as bad usage', async () => {
    const { status, stderr } = await runCommand(['backup', '--format', 'zip'])
    assert.equal(status, 2)
    assert.match(stderr, /Allowed choices are sqlite, dump/)
  })
})
