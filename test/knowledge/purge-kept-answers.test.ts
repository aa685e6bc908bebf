import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeletedProjects } from '../../src/knowledge/project/deleted-projects.ts'
import { purgeProject } from '../../src/knowledge/project/purge-project.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { findOperator } from '../../src/users/index.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { NotesApi } from './notes-api.ts'

const HOUR_MS = 3_600_000

for (const engine of ['sqlite', 'postgres'] as const) {
  const unavailable = engine === 'postgres' ? postgresUnavailable() : null
  test(`what is deleted for ever is in no answer that is kept for an Idempotency-Key (${engine})`, {
    skip: unavailable ?? false,
  }, async () => {
    await using notes = await NotesApi.start({ engine })
    const { dataDir, databaseUrl } = notes.server
    const clock = new SystemClock()
    await using db = await openDatabase({ dataDir, databaseUrl, poolSize: 1, clock, log: silentLogger() })
    const kept = async () => {
      const rows = await db.query.selectFrom('idempotency_keys').select('body').execute()
      return rows.map(({ body }) => Buffer.from(body ?? []).toString()).join('\n')
    }
    const headers = (key: string) => ({ headers: { 'idempotency-key': key } })
    const purge = async (id: string) => {
      await notes.delete(id)
      await notes.api.delete(`${notes.base}/trash/${id}`, 200)
    }

    const wish = { title: 'Diary', content: 'secret one' }
    const { body: diary } = await notes.post(wish, 201, headers('diary'))
    const staying = { title: 'Stays', content: `about ${diary.external_id}: nothing` }
    const first = await notes.post(staying, 201, headers('staying'))
    const batch = { operations: [{ op: 'create', title: 'Letters', content: 'secret two' }] }
    const sendBatch = (status: number) =>
      notes.api.post(`${notes.base}/batch`, status, { body: batch, ...headers('batch') })
    const { body: made } = await sendBatch(200)
    for (const text of ['secret one', 'Letters']) assert.ok((await kept()).includes(text))
    await purge(diary.external_id)
    await purge(made.results[0].entity.external_id)
    assert.doesNotMatch(await kept(), /secret|Letters|Diary/)

    // A repeat that comes late brings nothing back.
    assert.match((await notes.post(wish, 409, headers('diary'))).body.detail, /what it showed is gone/)
    await sendBatch(409)
    assert.deepEqual(await notes.paths(), ['Stays.md'])
    assert.equal((await notes.post(staying, 201, headers('staying'))).text, first.text)

    const doomed = await notes.project('Doomed')
    await doomed.post({ title: 'Live', content: 'secret three' }, 201, headers('live'))
    const { body: trashed } = await doomed.post({ title: 'Trashed', content: 'secret four' }, 201, headers('trashed'))
    await doomed.delete(trashed.external_id)
    for (const text of ['secret three', 'secret four']) assert.ok((await kept()).includes(text))
    const deletion = { pathId: doomed.projectId, deleteNotes: true, purgeInMs: HOUR_MS }
    const { purge: wanted } = await new DeletedProjects({ db, clock }).delete(await findOperator(db), deletion)
    await purgeProject({ db }, wanted)
    assert.doesNotMatch(await kept(), /secret/)
    assert.equal((await notes.post(staying, 201, headers('staying'))).text, first.text)
  })
}
