import assert from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { graphText } from '../../src/knowledge/graph/write-graph.ts'
import { countingSlots, streamSlots } from '../../src/knowledge/snapshot/snapshot-slots.ts'
import type { ChunkWriter } from '../../src/knowledge/snapshot/snapshot-stream.ts'
import { SnapshotStreams } from '../../src/knowledge/snapshot/snapshot-streams.ts'
import { isAppError } from '../../src/platform/errors/app-error.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { writeNoteRows } from './note-rows.ts'

const HERE = new AbortController().signal
const PIECE = 'x'.repeat(100_000)

/** Without an end, and counts what was made. */
function endless(): { write: ChunkWriter; made: () => number } {
  let made = 0
  return {
    made: () => made,
    write: async function* write(snapshot) {
      for (;;) {
        await snapshot.query.selectFrom('projects').select('id').execute()
        made++
        yield PIECE
      }
    },
  }
}

eachDatabase('long answers', ({ engine, open }) => {
  test('are read ahead by about a megabyte and no faster than the caller takes them', async () => {
    const db = await open()
    const streams = new SnapshotStreams(db, new FakeClock())
    const { write, made } = endless()
    const stream = await streams.open(write, HERE)
    const taken = stream[Symbol.asyncIterator]()
    for (let n = 0; n < 100; n++) await taken.next()
    const ahead = made() * PIECE.length - 100 * PIECE.length
    assert.ok(ahead <= 2 * 1024 * 1024, `${ahead} bytes ahead`)
    stream.destroy()
    await once(stream, 'close')
  })

  test('let go of everything when the caller takes nothing for a minute, not before', async () => {
    const db = await open()
    const clock = new FakeClock()
    const streams = new SnapshotStreams(db, clock)
    const stream = await streams.open(endless().write, HERE)
    const failed = once(stream, 'error')
    stream.read(0)
    await released(streams, async () => {
      // The read-ahead fills up at its own pace; only then does the time begin to count.
      while (stream.readableLength < 1024 * 1024) await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(59_000)
      assert.equal(stream.destroyed, false)
      await clock.advance(1_000)
    })
    const [error] = await failed
    assert.ok(isAppError(error, 'canceled'))
  })

  test('leave their place to others when they are not read for ten seconds, and keep it as long as nobody waits', async () => {
    const clock = new FakeClock()
    const streams = new SnapshotStreams(await open(), clock)
    const unread = await Promise.all([1, 2, 3].map(() => streams.open(endless().write, HERE)))
    for (const stream of unread) stream.on('error', () => {}).read(0)
    while (unread.some((stream) => stream.readableLength < 1024 * 1024)) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    await clock.advance(25_000)
    assert.equal(streams.slots.open, 3)
    const next = streams.open(endless().write, HERE)
    await clock.advance(10_000)
    assert.ok(unread.some(({ destroyed }) => destroyed))
    for (const stream of [await next, ...unread]) stream.destroy()
    await released(streams)
  })

  test('let go of everything when the caller goes away, before or while it reads', async () => {
    const db = await open()
    const streams = new SnapshotStreams(db, new FakeClock())
    const unread = new AbortController()
    await streams.open(endless().write, unread.signal)
    unread.abort()
    await released(streams)
    const halfRead = new AbortController()
    const stream = await streams.open(endless().write, halfRead.signal)
    await once(stream, 'readable')
    halfRead.abort()
    await released(streams)
    await assert.rejects(streams.open(endless().write, halfRead.signal), /went away/)
  })

  test('take turns: three at a time, the others wait in line, and not for ever', async () => {
    const db = await open()
    const clock = new FakeClock()
    const streams = new SnapshotStreams(db, clock)
    const first = await Promise.all([1, 2, 3].map(() => streams.open(endless().write, HERE)))
    const late = assert.rejects(streams.open(endless().write, HERE), (error) => isAppError(error, 'unavailable'))
    await clock.advance(30_000)
    await late
    const fourth = streams.open(async function* () {
      yield 'fourth'
    }, HERE)
    const leaver = new AbortController()
    const leaving = assert.rejects(streams.open(endless().write, leaver.signal), /went away/)
    assert.equal(streams.slots.waiting, 2)
    leaver.abort()
    await leaving
    assert.equal(streams.slots.waiting, 1)
    first[0]?.destroy()
    assert.equal(await text(await fourth), 'fourth')
    for (const stream of first) stream.destroy()
    await released(streams)
  })

  test('are sent to others while one caller has two of them, who waits for more and keeps nobody from a place', async () => {
    const clock = new FakeClock()
    const streams = new SnapshotStreams(await open(), clock)
    const ask = (caller: string, gone = HERE) => streams.open(endless().write, gone, caller)
    const [first, second] = await Promise.all([ask('ann'), ask('ann')])
    const leaver = new AbortController()
    const waiting = Array.from({ length: 100 }, () => ask('ann', leaver.signal))
    const left = Promise.allSettled(waiting.slice(1))
    await assert.rejects(ask('ann'), (error) => isAppError(error, 'unavailable'))
    const other = await ask('ben')
    // Nobody would get its place: that it is not read does not matter.
    other.read(0)
    while (other.readableLength < 1024 * 1024) await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(20_000)
    assert.equal(other.destroyed, false)
    const third = ask('cleo')
    other.on('error', () => {})
    await clock.advance(9_000)
    first.destroy()
    const next = await waiting[0]
    assert.equal(streams.slots.open, 3)
    other.destroy()
    const last = await third
    leaver.abort()
    await left
    for (const stream of [second, next, last]) stream?.destroy()
    await released(streams)
  })

  test('leave connections for everybody else where there are few, together with the figures of projects', async () => {
    const kept = { 3: 1, 4: 1, 5: 1, 6: 2, 7: 2, 8: 3 }
    for (const [poolSize, others] of Object.entries(kept)) {
      const db = { mostSnapshots: Number(poolSize) } as Database
      const both = [streamSlots(db, new FakeClock()), countingSlots(db, new FakeClock())]
      for (const slots of both) for (let n = 0; n < 9; n++) slots.enter(HERE).catch(() => {})
      assert.equal(Number(poolSize) - both.reduce((sum, slots) => sum + slots.open, 0), others, poolSize)
    }
    const streams = new SnapshotStreams(await open({ poolSize: 3 }), new FakeClock())
    const asked = Array.from({ length: 4 }, () => streams.open(endless().write, HERE))
    assert.equal(streams.slots.waiting, engine === 'postgres' ? 3 : 1)
    for (const stream of asked) (await stream).destroy()
    await released(streams)
  })

  test('show one state of the data, whatever is written meanwhile', async () => {
    const db = await open()
    const paths = Array.from({ length: 600 }, (_, n) => `note ${n}.md`)
    const { projectId } = await writeNoteRows(
      db,
      paths.map((path) => ({ path, links: ['note 1.md'] })),
    )
    const streams = new SnapshotStreams(db, new FakeClock())
    let isChanged = false
    const stream = await streams.open(async function* (snapshot) {
      for await (const chunk of graphText(snapshot, {
        projectId,
        typeKeys: null,
        folder: null,
        limit: null,
        after: null,
      })) {
        yield chunk
        if (isChanged) continue
        isChanged = true
        await db.write((tx) => tx.query.deleteFrom('notes').where('project_id', '=', projectId).execute())
      }
    }, HERE)
    const graph = JSON.parse(await text(stream))
    assert.equal(graph.nodes.length, 600)
    assert.equal(graph.edges.length, 600)
    await released(streams)
  })

  test('fail as a stream when the data cannot be read', async () => {
    const db = await open()
    const streams = new SnapshotStreams(db, new FakeClock())
    const stream = await streams.open(async function* () {
      yield 'begun'
      throw new Error('a defect')
    }, HERE)
    await assert.rejects(text(stream), /a defect/)
    await released(streams)
  })
})

/** Waits until every slot and with it every connection is free again. */
async function released(streams: SnapshotStreams, meanwhile?: () => Promise<void>): Promise<void> {
  await meanwhile?.()
  while (streams.slots.open > 0) await new Promise((resolve) => setImmediate(resolve))
}
