import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { deleteTombstones } from '../../src/knowledge/history/store-changes.ts'
import { TrashService } from '../../src/knowledge/history/trash-service.ts'
import { MoveService } from '../../src/knowledge/move/move-service.ts'
import type { NotePlace } from '../../src/knowledge/note/note-service.ts'
import { DeletedProjects } from '../../src/knowledge/project/deleted-projects.ts'
import { purgeProject } from '../../src/knowledge/project/purge-project.ts'
import { AppError } from '../../src/platform/errors/app-error.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { LaterClock } from '../support/later-clock.ts'
import { openWorld } from './notes-world.ts'
import { createNote, openNotes, RunningSync, storedVectors } from './semantic-world.ts'

const paragraphs = (count: number) =>
  Array.from({ length: count }, (_, n) => `Paragraph ${n}. ${'Many words in a row. '.repeat(40)}`).join('\n\n')

const LIST = '# Coffee\n\nBrewing at home.\n\n- [method] Pour over takes three minutes #slow\n- relates_to [[Tea]]\n'

eachDatabase('vectors follow notes', ({ open, openAgain }) => {
  test('a new note is embedded: its text, its bullets, its observations and relations', async () => {
    const world = await openNotes(await open())
    await using running = new RunningSync(world.deps.db)
    await createNote(world, 'Coffee', LIST)
    await running.sync.caughtUp(world.project.id)
    const stored = await storedVectors(world)
    assert.deepEqual(
      stored.map(({ note, key }) => `${note} ${key}`),
      ['Coffee 0:0:0', 'Coffee 0:0:1', 'Coffee 0:0:2', 'Coffee 1:0:0', 'Coffee 2:0:0'],
    )
    for (const { vector } of stored) {
      assert.equal(vector.length, 256)
      assert.ok(Math.abs(Math.hypot(...vector) - 1) < 0.01)
    }
    const status = await running.sync.status(world.project)
    assert.deepEqual(
      { ...status, model: undefined },
      {
        ...{ notes: 1, chunks: 5, embeddings: 5, pending: 0, failed: 0 },
        ...{ status: 'ready', provider: 'builtin', model: undefined, dimensions: 256, failures: [], problem: null },
        ...{ reindexReason: null, isReindexRecommended: false },
      },
    )
  })

  test('a deleted note loses its vectors, and a restored one gets them again', async () => {
    const world = await openNotes(await open())
    await using running = new RunningSync(world.deps.db)
    const { external_id: noteId } = await createNote(world, 'Gone', 'some text')
    await running.sync.caughtUp(world.project.id)
    assert.equal((await storedVectors(world)).length, 1)
    await world.notes.delete(world.writer, { projectId: world.projectId, noteId }, {})
    await running.sync.caughtUp(world.project.id)
    assert.deepEqual(await storedVectors(world), [])
    assert.equal((await running.sync.status(world.project)).notes, 0)
    await new TrashService(world.deps).restore(world.writer, { projectId: world.projectId, noteId })
    await running.sync.caughtUp(world.project.id)
    assert.equal((await storedVectors(world)).length, 1)
  })

  test('vectors of a note that was deleted are removed, whatever became of it and of its id before they were', async () => {
    const world = await openNotes(await open())
    const places: { projectId: string; noteId: string }[] = []
    {
      await using running = new RunningSync(world.deps.db)
      for (const title of ['Purged', 'Replaced']) {
        const { external_id: noteId } = await createNote(world, title, `text of ${title}`)
        places.push({ projectId: world.projectId, noteId })
      }
      await running.sync.caughtUp(world.project.id)
    }
    const [purged, replaced] = places as [NotePlace, NotePlace]
    for (const place of places) await world.notes.delete(world.writer, place, {})
    await new TrashService(world.deps).purge(world.writer, purged)
    const input = { title: 'Another', directory: '', content: 'other text', noteType: null, metadata: null }
    await world.notes.replace(world.writer, replaced, input, {})
    await using running = new RunningSync(world.deps.db)
    await running.sync.caughtUp(world.project.id)
    assert.deepEqual(
      (await storedVectors(world)).map(({ note }) => note),
      ['Another'],
    )
  })

  test('very many vectors of notes that were deleted are removed in several steps', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    await using running = new RunningSync(db)
    const notes = await Promise.all(['A', 'B', 'C'].map((title) => createNote(world, title, `text of ${title}`)))
    await running.sync.caughtUp(world.project.id)
    await running.stop()
    // As those of long notes.
    await db.write((tx) => tx.query.updateTable('note_embeddings').set({ chunks: 1_000 }).execute())
    const state = db.query.selectFrom('project_embeddings').select('change_seq')
    const before = await state.executeTakeFirstOrThrow()
    const places = notes.map((note) => ({ projectId: world.projectId, noteId: note.external_id }))
    for (const place of places) await world.notes.delete(world.writer, place, {})
    await using again = new RunningSync(db)
    await again.sync.caughtUp(world.project.id)
    const after = await state.executeTakeFirstOrThrow()
    assert.deepEqual([after.change_seq - before.change_seq, await storedVectors(world)], [notes.length, []])
  })

  test('vectors of notes that were deleted and forgotten while nothing was embedded go at the next start', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    const notes: string[] = []
    {
      await using running = new RunningSync(db)
      for (const title of ['Kept', 'Gone', 'Half', 'Refused']) {
        notes.push((await createNote(world, title, `text of ${title}`)).external_id)
      }
      await running.sync.caughtUp(world.project.id)
    }
    const [, gone, half, refused] = notes as [string, string, string, string]
    const idOf = async (externalId: string) =>
      (await db.query.selectFrom('notes').select('id').where('external_id', '=', externalId).executeTakeFirstOrThrow())
        .id
    const [halfId, refusedId] = [await idOf(half), await idOf(refused)]
    await db.write(async (tx) => {
      // As a kill in the middle of a long note leaves it, and as a service that refused the note.
      await tx.query.deleteFrom('note_embeddings').where('note_id', 'in', [halfId, refusedId]).execute()
      await tx.query.deleteFrom('note_vectors').where('note_id', '=', refusedId).execute()
      const { model_id } = await tx.query.selectFrom('project_embeddings').select('model_id').executeTakeFirstOrThrow()
      const failure = { attempts: 1, due_at: 0, error: 'no', failed_at: 0 }
      const row = { project_id: world.project.id, model_id, note_id: refusedId, ...failure }
      await tx.query.insertInto('embedding_failures').values(row).execute()
    })
    for (const noteId of [gone, half, refused]) {
      const place = { projectId: world.projectId, noteId }
      await world.notes.delete(world.writer, place, {})
      await new TrashService(world.deps).purge(world.writer, place)
    }
    const forgotten = await db.write((tx) => deleteTombstones(tx, Number.MAX_SAFE_INTEGER, 100))
    assert.equal(forgotten, 3)
    await using running = new RunningSync(db)
    // The first finds them, the second removes them.
    for (let round = 1; round <= 2; round++) await running.sync.settled()
    assert.deepEqual(
      (await storedVectors(world)).map(({ note }) => note),
      ['Kept'],
    )
    const { status, notes: count, chunks, embeddings, pending, failed } = await running.sync.status(world.project)
    assert.deepEqual(
      { status, count, chunks, embeddings, pending, failed },
      { status: 'ready', count: 1, chunks: 1, embeddings: 1, pending: 0, failed: 0 },
    )
  })

  test('a note that says embed: false has no vectors, from the beginning or from then on', async () => {
    const world = await openNotes(await open())
    await using running = new RunningSync(world.deps.db)
    await createNote(world, 'Never', 'secret', { embed: false })
    const { external_id: noteId } = await createNote(world, 'Later', 'some text')
    await running.sync.caughtUp(world.project.id)
    assert.deepEqual(new Set((await storedVectors(world)).map(({ note }) => note)), new Set(['Later']))
    const input = { title: 'Later', directory: '', content: 'some text', metadata: { embed: 'no' } } as never
    await world.notes.replace(world.writer, { projectId: world.projectId, noteId }, input, {})
    await running.sync.caughtUp(world.project.id)
    assert.deepEqual(await storedVectors(world), [])
  })

  test('only chunks whose text changed get another row; the others keep theirs wherever they move', async () => {
    const world = await openNotes(await open())
    await using running = new RunningSync(world.deps.db)
    const { external_id: noteId } = await createNote(world, 'List', '- one apple\n- two pears\n- three plums\n')
    await running.sync.caughtUp(world.project.id)
    const ids = async () => (await rowsOf()).map(({ id }) => id)
    const rowsOf = () =>
      world.deps.db.query.selectFrom('note_vectors').select(['id', 'number', 'start_at']).orderBy('number').execute()
    const before = await rowsOf()
    const place = { projectId: world.projectId, noteId }
    await world.notes.edit(world.writer, place, { operation: 'prepend', content: '- zero grapes\n' } as never, {})
    await running.sync.caughtUp(world.project.id)
    const after = await rowsOf()
    assert.equal(after.length, 4)
    assert.deepEqual(
      (await ids()).slice(1),
      before.map(({ id }) => id),
    )
    assert.ok(after.every((row, at) => at === 0 || row.start_at > (after[at - 1]?.start_at ?? 0)))
  })

  test('a move embeds nothing anew', async () => {
    const world = await openNotes(await open())
    await using running = new RunningSync(world.deps.db)
    const { external_id: noteId } = await createNote(world, 'Mover', 'stays the same')
    await running.sync.caughtUp(world.project.id)
    const [before] = await storedVectors(world)
    const place = { projectId: world.projectId, noteId }
    await new MoveService(world.deps).move(world.writer, place, { destinationPath: 'far/Mover.md' } as never, {})
    await running.sync.caughtUp(world.project.id)
    assert.deepEqual(await storedVectors(world), [before])
  })

  test('what was written while nobody embedded is embedded after the next start, each note once', async () => {
    const world = await openNotes(await open())
    const { external_id: noteId } = await createNote(world, 'Often', 'first')
    const place = { projectId: world.projectId, noteId }
    for (const content of ['second', 'third', 'fourth']) {
      await world.notes.edit(world.writer, place, { operation: 'append', content } as never, {})
    }
    await createNote(world, 'Other', 'other text')
    await using running = new RunningSync(world.deps.db)
    await running.sync.caughtUp(world.project.id)
    assert.equal((await storedVectors(world)).length, 2)
    assert.equal(running.planned.length, 2)
  })

  test('a long note is written in several steps and is whole in the end', async () => {
    const world = await openNotes(await open())
    await using running = new RunningSync(world.deps.db)
    await createNote(world, 'Long', paragraphs(700))
    await running.sync.caughtUp(world.project.id)
    const stored = await storedVectors(world)
    assert.equal(stored.length, 700)
    assert.equal((await running.sync.status(world.project)).chunks, 700)
  })

  test('a note of another project does not wait until a large project is done', async () => {
    const db = await open()
    const large = await openNotes(db, 'large')
    const small = await openWorld(db, large.writer.principal, 'small')
    for (const title of ['A', 'B', 'C']) await createNote(large, title, paragraphs(120))
    const clock = new FakeClock()
    afterFirstVectors(db, async () => {
      await createNote(small, 'Small', 'some text')
      await clock.advance(1_000)
    })
    await using running = new RunningSync(db, {}, { sync: clock })
    for (const { project } of [large, small]) await running.sync.caughtUp(project.id)
    const notes = await db.query.selectFrom('notes').select(['id', 'title']).execute()
    const titles = running.planned.map((noteId) => notes.find(({ id }) => id === noteId)?.title)
    assert.deepEqual(titles, ['A', 'B', 'Small', 'C'])
  })

  test('reindex embeds everything anew, and what is there answers meanwhile', async () => {
    const world = await openNotes(await open())
    await using running = new RunningSync(world.deps.db)
    for (const title of ['A', 'B', 'C']) await createNote(world, title, `text of ${title}`)
    await running.sync.caughtUp(world.project.id)
    const before = await world.deps.db.query.selectFrom('note_vectors').select('id').orderBy('id').execute()
    await running.sync.reindex(world.project)
    await running.sync.caughtUp(world.project.id)
    const after = await world.deps.db.query.selectFrom('note_vectors').select('id').orderBy('id').execute()
    assert.equal(after.length, 3)
    assert.ok((after[0]?.id ?? 0) > (before.at(-1)?.id ?? 0))
    assert.deepEqual(new Set((await storedVectors(world)).map(({ note }) => note)), new Set(['A', 'B', 'C']))
  })

  test('reindex embeds a note anew also when it is edited before its turn; edits after that keep what they leave', async () => {
    const world = await openNotes(await open())
    const { external_id: noteId } = await createNote(world, 'List', '- one apple\n- two pears\n')
    const append = (content: string) => {
      const place = { projectId: world.projectId, noteId }
      return world.notes.edit(world.writer, place, { operation: 'append', content } as never, {})
    }
    const idsOf = async () => {
      const rows = await world.deps.db.query.selectFrom('note_vectors').select('id').orderBy('id').execute()
      return rows.map(({ id }) => id)
    }
    const before: number[] = []
    {
      await using running = new RunningSync(world.deps.db)
      await running.sync.caughtUp(world.project.id)
      before.push(...(await idsOf()))
      await running.stop()
      await running.sync.reindex(world.project)
    }
    await append('- three plums\n')
    await using running = new RunningSync(world.deps.db)
    await running.sync.caughtUp(world.project.id)
    const after = await idsOf()
    assert.deepEqual([before.length, after.length, after.filter((id) => before.includes(id))], [2, 3, []])
    await running.sync.settled()
    await append('- four grapes\n')
    await running.sync.caughtUp(world.project.id)
    assert.deepEqual((await idsOf()).slice(0, 3), after)
  })

  test('reindex also finds vectors whose note nobody remembers', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    await using running = new RunningSync(db)
    for (const title of ['A', 'B']) await createNote(world, title, `text of ${title}`)
    await running.sync.caughtUp(world.project.id)
    const { id, external_id } = await db.query.selectFrom('notes').selectAll().orderBy('id').executeTakeFirstOrThrow()
    await db.write(async (tx) => {
      await tx.query.deleteFrom('notes').where('id', '=', id).execute()
      await tx.query.deleteFrom('note_changes').where('external_id', '=', external_id).execute()
    })
    await running.sync.reindex(null)
    await running.sync.caughtUp(world.project.id)
    assert.deepEqual(
      (await storedVectors(world)).map(({ note }) => note),
      ['B'],
    )
  })

  test('a project that is purged takes its vectors with it', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    await using running = new RunningSync(db)
    await createNote(world, 'A', 'some text')
    await running.sync.caughtUp(world.project.id)
    const deletion = { pathId: world.projectId, deleteNotes: true }
    const { purge } = await new DeletedProjects(world.deps).delete(world.writer.principal, deletion)
    await purgeProject({ db }, purge)
    for (const table of ['note_vectors', 'note_embeddings', 'project_embeddings'] as const) {
      assert.deepEqual(await db.query.selectFrom(table).selectAll().execute(), [], table)
    }
  })

  test('several processes on one database embed every note once, also one that takes several steps', async () => {
    const db = await open()
    const world = await openNotes(db)
    for (let n = 0; n < 150; n++) await createNote(world, `Note ${n}`, `the text of note ${n}`)
    await createNote(world, 'Long', paragraphs(600))
    const second = await openAgain(db)
    await using one = new RunningSync(db)
    await using other = new RunningSync(second, {}, { isServer: false })
    await Promise.all([one.sync.caughtUp(world.project.id), other.sync.caughtUp(world.project.id)])
    assert.equal((await storedVectors(world)).length, 750)
    assert.equal(one.planned.length + other.planned.length, 151)
  })

  test('a process that loses a project in the middle of a long note leaves no part of it twice', async () => {
    const db = await open()
    const world = await openNotes(db)
    await createNote(world, 'Long', paragraphs(600))
    const second = await openAgain(db)
    afterFirstVectors(second, async () => {
      // Its time is over, and another one does all of it.
      await using other = new RunningSync(db, {}, { sync: new LaterClock(2) })
      await other.sync.caughtUp(world.project.id)
      assert.equal(other.planned.length, 1)
    })
    await using one = new RunningSync(second, {}, { isServer: false })
    await one.sync.caughtUp(world.project.id)
    assert.equal(one.planned.length, 1)
    assert.equal((await storedVectors(world)).length, 600)
  })

  test('a server goes on at once with what the one before it had taken when it was killed', async (t) => {
    const db = await open()
    if (db.engine === 'postgres') return t.skip('there may be another server, which has it until its time is over')
    const world = await openNotes(db)
    await createNote(world, 'Long', paragraphs(600))
    const second = await openAgain(db)
    afterFirstVectors(second, async () => {
      second.write = () => Promise.reject(new Error('killed'))
    })
    const killed = new RunningSync(second)
    await assert.rejects(killed.sync.caughtUp(world.project.id), /killed/)
    await assert.rejects(killed.stop(), /killed/)
    await using running = new RunningSync(db)
    await running.sync.caughtUp(world.project.id)
    assert.equal((await storedVectors(world)).length, 600)
  })

  test('a worker that failed and was started again embeds, and is waited for', async () => {
    const db = await open()
    const world = await openNotes(db)
    await createNote(world, 'A', 'some text')
    const second = await openAgain(db)
    const write = second.write
    second.write = () => Promise.reject(new AppError('unavailable', 'The disk is full'))
    const running = new RunningSync(second)
    await assert.rejects(running.sync.settled(), /The disk is full/)
    await assert.rejects(running.stop(), /The disk is full/)
    const { problem, pending } = await running.sync.status(world.project)
    assert.deepEqual({ problem, pending }, { problem: null, pending: 1 })
    second.write = write
    const stopping = new AbortController()
    const ended = running.sync.run(stopping.signal)
    await running.sync.caughtUp(world.project.id)
    assert.equal((await storedVectors(world)).length, 1)
    stopping.abort()
    await ended
    assert.equal(getEventListeners(stopping.signal, 'abort').length, 0)
    await assert.rejects(running.sync.caughtUp(), /stopping/)
  })
})

/** Does something as soon as vectors were written, before whoever wrote them goes on. */
function afterFirstVectors(db: Database, work: () => Promise<void>): void {
  const write = db.write.bind(db)
  db.write = async (...parameters) => {
    const answer = await write(...(parameters as Parameters<typeof write>))
    if ((await db.query.selectFrom('note_vectors').select('id').executeTakeFirst()) !== undefined) {
      db.write = write
      await work()
    }
    return answer as never
  }
}
