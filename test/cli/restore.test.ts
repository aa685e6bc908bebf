import assert from 'node:assert/strict'
import { existsSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { postgresUnavailable } from '../support/postgres.ts'
import { createDatabase } from '../support/postgres-database.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { runCommand } from './run-command.ts'

describe('commonplace restore', () => {
  const directory = tempDir()
  const dump = join(directory, 'backup.jsonl.gz')
  const file = join(directory, 'backup.db')
  let server: TestServer

  before(async () => {
    server = await startServer()
    const storage = ['--data-dir', server.dataDir]
    assert.equal((await runCommand(['backup', dump, '--format', 'dump', ...storage])).status, 0)
    assert.equal((await runCommand(['backup', file, ...storage])).status, 0)
  })
  after(() => server.stop())

  // A first start would create another administrator: only the restored data know the token of the source.
  const restored = {
    mode: 'serve',
    env: { COMMONPLACE_ADMIN_TOKEN: 'another-token-0123456789abcdef0123456789' },
  } as const

  async function assertKnowsTheOldToken(copy: TestServer): Promise<void> {
    const ask = async (token: string) => {
      const response = await fetch(`${copy.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
      await response.body?.cancel()
      return response.status
    }
    assert.equal(await ask(server.adminToken), 200)
    assert.notEqual(await ask(restored.env.COMMONPLACE_ADMIN_TOKEN), 200)
  }

  for (const [name, backup] of [
    ['a SQLite backup', file],
    ['a dump', dump],
  ] as const) {
    test(`fills an empty data directory from ${name}, and a server starts on it as it was`, async () => {
      const dataDir = tempDir()
      const { status, stdout, stderr } = await runCommand(['restore', backup, '--data-dir', dataDir])
      assert.equal(status, 0, stderr)
      assert.match(stdout, /^restored [\d,]+ rows in \d+ tables \(schema \d+\)\n$/)
      await using copy = await startServer({ dataDir, ...restored })
      await assertKnowsTheOldToken(copy)
      assert.equal(existsSync(join(dataDir, 'first-start.json')), false)
    })
  }

  test('moves a server from SQLite to PostgreSQL', { skip: postgresUnavailable() ?? false }, async () => {
    const database = await createDatabase({ migrated: false })
    const dataDir = tempDir()
    const { status, stderr } = await runCommand([
      'restore',
      dump,
      '--data-dir',
      dataDir,
      '--database-url',
      database.url,
    ])
    assert.equal(status, 0, stderr)
    {
      await using copy = await startServer({ dataDir, databaseUrl: database.url, ...restored })
      await assertKnowsTheOldToken(copy)
    }
    await database.drop()
  })

  test('from PostgreSQL into PostgreSQL brings the words of notes along', {
    skip: postgresUnavailable() ?? false,
  }, async () => {
    const file = join(directory, 'postgres.jsonl.gz')
    {
      await using source = await startServer({ engine: 'postgres' })
      const headers = { 'content-type': 'application/json' }
      const post = async (path: string, body: unknown) => {
        const response = await fetch(source.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
        return response.json() as Promise<{ external_id: string }>
      }
      const { external_id: project } = await post('/v2/projects/resolve', { identifier: 'main' })
      await post(`/v2/${project}/knowledge/entities`, { title: 'Coffee', content: 'a bitter taste' })
      const flags = ['--data-dir', source.dataDir, '--database-url', source.databaseUrl as string]
      assert.equal((await runCommand(['backup', file, ...flags])).status, 0)
    }
    const database = await createDatabase({ migrated: false })
    const flags = ['--data-dir', tempDir(), '--database-url', database.url]
    const { status, stderr } = await runCommand(['restore', file, ...flags])
    assert.equal(status, 0, stderr)
    const client = new pg.Client(database.url)
    await client.connect()
    const { rows } = await client.query("select 1 from note_search where document @@ 'bitter'::tsquery")
    const known = await client.query("select reltuples from pg_class where relname = 'notes'")
    await client.end()
    assert.equal(rows.length, 1)
    assert.equal(known.rows[0].reltuples, 1, 'PostgreSQL knows how much there is in the tables')
    await database.drop()

    const failing = await createDatabase({ migrated: true })
    const other = new pg.Client(failing.url)
    await other.connect()
    await other.query('alter table note_search add constraint refused check (false)')
    await other.end()
    const half = await runCommand(['restore', file, '--data-dir', tempDir(), '--database-url', failing.url])
    assert.equal(half.status, 0, half.stderr)
    assert.match(half.stderr, /index of words is not complete: the server makes the rest when it starts/)
    assert.match(half.stdout, /^restored /)
    await failing.drop()
  })

  test('is refused beside the server and on its data', async () => {
    const { status, stderr } = await runCommand(['restore', dump, '--data-dir', server.dataDir])
    assert.equal(status, 1)
    assert.match(stderr, /already uses the data directory/)
  })

  test('names what is wrong with a file and changes nothing', async () => {
    const cut = join(directory, 'cut.jsonl.gz')
    assert.equal((await runCommand(['backup', cut, '--format', 'dump', '--data-dir', server.dataDir])).status, 0)
    truncateSync(cut, 500)
    const dataDir = tempDir()
    for (const [name, reason] of [
      [cut, /is damaged \(its end is missing\): nothing was restored/],
      [join(directory, 'missing'), /there is no such file/],
      [import.meta.filename, /is no backup of Commonplace/],
    ] as const) {
      const { status, stderr } = await runCommand(['restore', name, '--data-dir', dataDir])
      assert.equal(status, 1)
      assert.match(stderr, reason)
    }
    assert.equal(existsSync(join(dataDir, 'commonplace.db')), false)
    assert.equal((await runCommand(['restore'])).status, 2)
  })

  test('only looks at the backup with --check', async () => {
    const dataDir = join(tempDir(), 'untouched')
    const { status, stdout } = await runCommand(['restore', dump, '--check', '--json', '--data-dir', dataDir])
    assert.equal(status, 0)
    assert.equal(JSON.parse(stdout).rows.organizations, 1)
    assert.equal(existsSync(dataDir), false)
  })
})
