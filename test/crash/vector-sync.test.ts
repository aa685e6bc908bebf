import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ROW_KINDS } from '../../src/knowledge/search/row-number.ts'
import { chunkNote } from '../../src/knowledge/semantic/chunk/chunk-note.ts'
import { restartProject } from '../../src/knowledge/semantic/sync/store-sync.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { createNote, openNotes, RunningSync } from '../knowledge/semantic-world.ts'
import { eachDatabase, type Place } from '../support/each-database.ts'
import { LaterClock } from '../support/later-clock.ts'
import { SOURCE_FLAGS } from '../support/program.ts'

const EMBEDDER = fileURLToPath(new URL('vector-embedder.ts', import.meta.url))
const SHORT_NOTES = 100
// More than one transaction writes.
const PARAGRAPHS = 600
// Fewer changes of the database than it takes to embed everything.
const CHANGES = 6
// What a killed process had taken over is its own for a minute.
const MINUTES_APART = 2

eachDatabase('a server that is killed while it embeds', ({ engine, open, openAgain, placeOf }) => {
  const rounds = engine === 'sqlite' ? 10 : 4

  test(`has every chunk of every note exactly once in the end, after ${rounds} kills`, async (t) => {
    const db = await open()
    const world = await openNotes(db)
    for (let n = 0; n < SHORT_NOTES; n++) await createNote(world, `Note ${n}`, `the text of note ${n}\n\n- a bullet\n`)
    const { external_id: noteId } = await createNote(world, 'Long', paragraphs('first'))
    let kills = 0
    for (let round = 1; round <= rounds; round++) {
      const isExact = round % 2 === 1
      if (await killedWhileEmbedding(placeOf(db), round * MINUTES_APART, isExact)) kills++
      const place = { projectId: world.projectId, noteId }
      // Something of a long note that is half embedded changes, or everything is embedded anew.
      const edit = { operation: 'append', content: paragraphs(`round ${round}`).slice(0, 5_000) }
      if (round % 4 < 2) await world.notes.edit(world.writer, place, edit as never, {})
      else await db.write((tx) => restartProject(tx, world.project.id, Number.MAX_SAFE_INTEGER))
    }
    assert.ok(kills > 0, 'all were done before they were killed')
    t.diagnostic(`${kills} of ${rounds} were killed in the middle`)
    const again = await openAgain(db)
    await using running = new RunningSync(again, {}, { sync: new LaterClock((rounds + 1) * MINUTES_APART) })
    await running.sync.settled()
    const expected = await expectedChunks(again)
    assert.deepEqual(await storedChunks(again), expected)
    const { status, chunks, embeddings, pending, failed, notes } = await running.sync.status(world.project)
    assert.deepEqual(
      { status, chunks, embeddings, pending, failed, notes },
      {
        ...{ status: 'ready', chunks: expected.length, embeddings: expected.length },
        ...{ pending: 0, failed: 0, notes: SHORT_NOTES + 1 },
      },
    )
  })
})

function paragraphs(name: string): string {
  const filler = 'Many words in a row. '.repeat(40)
  return Array.from({ length: PARAGRAPHS }, (_, n) => `Paragraph ${n} of ${name}. ${filler}`).join('\n\n')
}

/** Kills it after a random number of changes: right there, or wherever it is by then. False when everything was done before. */
async function killedWhileEmbedding(place: Place, minutesLater: number, isExact: boolean): Promise<boolean> {
  let left = 1 + Math.floor(Math.random() * CHANGES)
  const parameters = [JSON.stringify(place), minutesLater, isExact ? left : 0].map(String)
  const embedder = spawn(process.execPath, [...SOURCE_FLAGS, EMBEDDER, ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(embedder, 'exit')
  let isDone = false
  for await (const line of createInterface({ input: embedder.stdout })) {
    isDone ||= line === 'done'
    if (isDone || --left === 0) embedder.kill('SIGKILL')
  }
  const [, signal] = await ended
  assert.equal(signal, 'SIGKILL', 'the embedder ended by itself')
  return !isDone
}

async function expectedChunks(db: Database): Promise<string[]> {
  const rows = await db.query
    .selectFrom('notes as n')
    .innerJoin('note_contents as c', 'c.note_id', 'n.id')
    .select(['n.id', 'n.title', 'n.created_at', 'c.content'])
    .execute()
  return rows
    .flatMap(({ id, content, ...note }) =>
      chunkNote(note, content).map(({ kind, position, number, hash }) =>
        [id, ROW_KINDS[kind], position, number, hash].join(),
      ),
    )
    .sort()
}

async function storedChunks(db: Database): Promise<string[]> {
  const rows = await db.query
    .selectFrom('note_vectors')
    .select(['note_id', 'kind', 'position', 'number', 'hash'])
    .execute()
  return rows.map((row) => [row.note_id, row.kind, row.position, row.number, row.hash].join()).sort()
}
