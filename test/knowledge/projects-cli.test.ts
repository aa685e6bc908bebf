import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { runCommand } from '../cli/run-command.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'
import { writeNoteRows } from './note-rows.ts'

let server: TestServer
let admin: TestClient
before(async () => {
  server = await startServer({ mode: 'serve' })
  admin = client(server)
})
after(() => server.stop())

function project(...args: string[]) {
  return runCommand(['project', ...args], { COMMONPLACE_DATA_DIR: server.dataDir })
}

async function ok(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await project(...args)
  assert.equal(status, 0, stderr)
  return stdout
}

test('an operator makes a project beside the running server, which sees it at once', async () => {
  const made = JSON.parse(await ok('create', 'Research Log', '--default', '--json'))
  assert.deepEqual([made.created, made.is_default, made.permalink, made.note_count], [true, true, 'research-log', 0])
  assert.equal((await admin.get('/v2/projects', 200)).body.default_project, 'Research Log')
  assert.match(await ok('create', 'Research Log'), /^there was already Research Log/)
  const taken = await project('create', 'research-log')
  assert.equal(taken.status, 1)
  assert.match(taken.stderr, /A project named 'Research Log' already exists/)
  assert.match(await ok('set-default', 'MAIN'), /^main is now the default project/)
  assert.match(await ok('set-default', 'main'), /^main was already the default project/)
  const table = (await ok('list')).split('\n')
  assert.match(table[0] as string, /^NAME\s+NOTES\s+DEFAULT\s+PERMALINK\s+ID$/)
  assert.match(table[1] as string, /^main\s+0\s+yes\s+main\s+[0-9a-f-]{36}$/)
})

test('a deleted project is listed as such and comes back', async () => {
  const { id } = JSON.parse(await ok('create', 'Mistake', '--json'))
  const output = await ok('delete', 'mistake')
  assert.ok(output.includes(`deleted Mistake with 0 notes\nto bring it back: commonplace project restore ${id}`))
  await admin.get(`/v2/projects/${id}`, 404)
  const listed: { id: string }[] = JSON.parse(await ok('list', '--deleted', '--json'))
  assert.deepEqual(
    listed.map((one) => one.id),
    [id],
  )
  assert.match(await ok('restore', id, '--name', 'Lucky'), /^restored Lucky/)
  assert.equal((await admin.get(`/v2/projects/${id}`, 200)).body.name, 'Lucky')
})

test('a deleted project comes back by the name it had, unless several had it', async () => {
  const { id } = JSON.parse(await ok('create', 'Twin', '--json'))
  await ok('delete', 'twin')
  assert.match(await ok('restore', 'tWIN'), /^restored Twin/)
  await ok('delete', 'twin')
  const other = JSON.parse(await ok('create', 'Twin', '--json')).id as string
  await ok('delete', 'twin')
  const unclear = await project('restore', 'Twin')
  assert.equal(unclear.status, 1)
  assert.ok(unclear.stderr.includes(id) && unclear.stderr.includes(other), unclear.stderr)
  const unknown = await project('restore', 'Nobody')
  assert.match(unknown.stderr, /No deleted project was called "Nobody": see "project list --deleted"/)
})

test('with --delete-notes the notes are gone when the command ends, and it says how far it is', async () => {
  const db = await openDatabase({
    dataDir: server.dataDir,
    databaseUrl: null,
    clock: new SystemClock(),
    log: silentLogger(),
  })
  const { projectId } = await writeNoteRows(
    db,
    Array.from({ length: 150 }, (_, n) => ({ path: `${n}.md` })),
  )
  const row = () => db.query.selectFrom('projects').select('external_id').where('id', '=', projectId).executeTakeFirst()
  const { status, stdout, stderr } = await project('delete', (await row())?.external_id as string, '--delete-notes')
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^deleted /)
  assert.match(stderr, /deleting notes/)
  assert.deepEqual([await row(), await db.query.selectFrom('notes').select('id').execute()], [undefined, []])
  await db.close()
})

test('the default project stays, and an unknown one is named', async () => {
  const refused = await project('delete', 'main')
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /'main' is the default project/)
  const unknown = await project('set-default', 'nowhere')
  assert.equal(unknown.status, 1)
  assert.match(unknown.stderr, /Project not found: no project has the id, permalink or name 'nowhere'/)
  assert.match((await project('--help')).stdout, /set-default/)
})
