import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reindexNow, resolveProject } from '../../src/knowledge/index.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { findOperator } from '../../src/users/index.ts'
import { runCommand, startCommand } from '../cli/run-command.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { EmbeddingEndpoint } from './embedding-endpoint.ts'
import { NotesApi } from './notes-api.ts'
import { search, titles, untilEmbedded } from './search-api.ts'

for (const engine of ['sqlite', 'postgres'] as const) {
  const unavailable = engine === 'postgres' ? postgresUnavailable() : null
  test(`reindex makes words and vectors anew beside a server (${engine})`, { skip: unavailable ?? false }, async () => {
    await using notes = await NotesApi.start({ engine, env: { COMMONPLACE_KNOWLEDGE__INDEX_DELAY_MS: '0' } })
    const { server } = notes
    const place = { COMMONPLACE_DATA_DIR: server.dataDir, COMMONPLACE_DATABASE_URL: server.databaseUrl ?? '' }
    const whale = await notes.create({ title: 'Whale', content: 'A mammal of the sea.\n\n- [fact] breathes air\n' })
    await notes.create({ title: 'Trout', content: 'A fish of the river.' })
    const other = await notes.project('Elsewhere')
    await other.create({ title: 'Sparrow', content: 'A bird of the town.' })

    const one = await runCommand(['reindex', 'Elsewhere', '--json'], place)
    assert.equal(one.status, 0, one.stderr)
    assert.deepEqual(JSON.parse(one.stdout), [{ id: other.projectId, name: 'Elsewhere', notes: 1, chunks: 1 }])

    const all = await runCommand(['reindex'], place)
    assert.equal(all.status, 0, all.stderr)
    assert.match(all.stdout, /^indexed main: 2 notes, \d+ vectors\nindexed Elsewhere: 1 note, 1 vector\n$/)
    assert.match(all.stderr, /main: reading notes: 100 %/)
    assert.match(all.stderr, /main: embedding notes: 100 %/)
    await untilEmbedded(notes, whale)
    assert.deepEqual(titles(await search(notes, { text: 'mammal', entity_types: ['entity'] })), ['Whale'])
  })
}

test('reindex of a project that is not there fails and says so', async () => {
  await using notes = await NotesApi.start()
  const { status, stderr } = await runCommand(['reindex', 'Nowhere'], { COMMONPLACE_DATA_DIR: notes.server.dataDir })
  assert.equal(status, 1)
  assert.match(stderr, /Project not found: no project has the id, permalink or name 'Nowhere'/)
})

test('reindex of a PostgreSQL that takes no changes says so in one sentence', {
  skip: postgresUnavailable() ?? false,
}, async () => {
  await using notes = await NotesApi.start({ engine: 'postgres' })
  await notes.create({ title: 'Whale', content: 'A mammal of the sea.' })
  const url = new URL(notes.server.databaseUrl ?? '')
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  const place = {
    COMMONPLACE_DATA_DIR: notes.server.dataDir,
    COMMONPLACE_DATABASE_URL: url.href.replaceAll('+', '%20'),
  }
  const { status, stdout, stderr } = await runCommand(['reindex'], place)
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(
    stderr,
    /^commonplace: The PostgreSQL server takes no changes right now.*\n {2}cause: .*read-only transaction\n$/,
  )

  const options = { dataDir: notes.server.dataDir, poolSize: 1, clock: new SystemClock(), log: silentLogger() }
  await using db = await openDatabase({ ...options, databaseUrl: place.COMMONPLACE_DATABASE_URL })
  const { project } = await resolveProject(db, 'main')
  const semantic = () => assert.fail('what embeds would meet the same trouble, and tell it beside the command')
  const deps = { db, clock: options.clock, semantic, onProgress: () => {} }
  await assert.rejects(reindexNow(deps, await findOperator(db), { ...project, noteCount: 1 }), { code: 'unavailable' })
})

test('reindex without semantic search makes the words anew, and with a provider that fails says why', async () => {
  await using notes = await NotesApi.start({ env: { COMMONPLACE_KNOWLEDGE__EMBEDDING_PROVIDER: 'none' } })
  await notes.create({ title: 'Whale', content: 'A mammal of the sea.' })
  const place = { COMMONPLACE_DATA_DIR: notes.server.dataDir }
  const words = await runCommand(['reindex'], { ...place, COMMONPLACE_KNOWLEDGE__EMBEDDING_PROVIDER: 'none' })
  assert.deepEqual([words.status, words.stdout], [0, 'indexed main: 1 note, 0 vectors\n'])
  await using endpoint = await EmbeddingEndpoint.start()
  endpoint.mood = 'talks nonsense'
  const failed = await runCommand(['reindex'], { ...place, ...endpoint.environment })
  assert.equal(failed.status, 1)
  assert.match(failed.stderr, /commonplace: .*did not answer with JSON/)
})

for (const engine of ['sqlite', 'postgres'] as const) {
  const unavailable = engine === 'postgres' ? postgresUnavailable() : null
  test(`reindex that is interrupted leaves its project to others at once (${engine})`, {
    skip: unavailable ?? false,
    // It starts four commands, one after the other.
    timeout: 180_000,
  }, async () => {
    await using notes = await NotesApi.start({ engine, env: { COMMONPLACE_KNOWLEDGE__EMBEDDING_PROVIDER: 'none' } })
    await notes.create({ title: 'Whale', content: 'A mammal of the sea.' })
    const { dataDir, databaseUrl } = notes.server
    await using endpoint = await EmbeddingEndpoint.start()
    const place = {
      COMMONPLACE_DATA_DIR: dataDir,
      COMMONPLACE_DATABASE_URL: databaseUrl ?? '',
      ...endpoint.environment,
    }
    const log = silentLogger()
    await using db = await openDatabase({ dataDir, databaseUrl, poolSize: 1, clock: new SystemClock(), log })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      endpoint.mood = 'is silent'
      const asked = endpoint.isAsked()
      const command = startCommand(['reindex'], place)
      await asked
      for (let times = 0; times < 2; times++) command.interrupt(signal)
      assert.deepEqual(await command.result.then((ended) => [ended.signal, ended.status]), [signal, null])
      const owners = await db.query.selectFrom('project_embeddings').select('lease_owner').execute()
      assert.deepEqual(
        owners.map((row) => row.lease_owner),
        [null],
      )
    }
    endpoint.mood = 'works'
    const again = await runCommand(['reindex'], place)
    assert.deepEqual([again.status, again.stdout], [0, 'indexed main: 1 note, 1 vector\n'])
  })
}
