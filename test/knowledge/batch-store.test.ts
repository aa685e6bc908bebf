import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BatchService, LONGEST_MS } from '../../src/knowledge/batch/batch-service.ts'
import type { BatchOperation } from '../../src/knowledge/batch/schema-batch.ts'
import { RevisionService } from '../../src/knowledge/history/revision-service.ts'
import { countCreatedNotes } from '../../src/knowledge/project/store-note-numbers.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { AppError, isAppError } from '../../src/platform/errors/app-error.ts'
import { type Claim, Idempotency } from '../../src/platform/idempotency/idempotency.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database, Transaction } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { installed } from '../support/identity.ts'
import { assertConsistent } from './notes-consistency.ts'
import { type NotesWorld, openWorld } from './notes-world.ts'

/** Whoever looks at it sees the next twenty seconds gone. */
class RushingClock extends SystemClock {
  #elapsedMs = 0

  override elapsedMs(): number {
    this.#elapsedMs += 20_000
    return this.#elapsedMs
  }
}

function creates(...titles: string[]): BatchOperation[] {
  return titles.map((title) => ({ op: 'create', title, content: '[[Shared]]' }))
}

function titlesIn({ deps: { db }, project }: NotesWorld): Promise<string[]> {
  return db.query
    .selectFrom('notes')
    .select('title')
    .where('project_id', '=', project.id)
    .orderBy('title')
    .execute()
    .then((rows) => rows.map(({ title }) => title))
}

eachDatabase('a batch', ({ open, openAgain }) => {
  async function openProject(): Promise<NotesWorld> {
    const db = await open()
    const { operator } = await installed(db)
    return openWorld(db, operator, 'batches')
  }

  test('that runs too long stops between two operations: what was done stays, and an atomic one is undone', async () => {
    const world = await openProject()
    const { writer, projectId } = world
    const batches = () => new BatchService({ ...world.deps, clock: new RushingClock() })
    const outcomes = await batches().runEach(writer, projectId, creates('One', 'Two', 'Three'))
    assert.deepEqual(
      outcomes.map((outcome) => ('error' in outcome ? (outcome.error as AppError).code : outcome.status)),
      [201, 'deadline_exceeded', 'deadline_exceeded'],
    )
    await assert.rejects(
      batches().runAtomically(writer, projectId, creates('Four', 'Five')),
      (error) => isAppError(error, 'deadline_exceeded') && error.message.startsWith('operations[1]: '),
    )
    assert.deepEqual(await titlesIn(world), ['One'])
    await assertConsistent(world)
  })

  test('that had to wait for longer than it may take is not begun', async () => {
    const world = await openProject()
    const { writer, projectId, deps } = world
    const clock = new FakeClock()
    const { db } = deps
    const others = Promise.withResolvers<void>()
    const waiting: Promise<unknown>[] = []
    // As it is behind a folder that is moved.
    const write = (...work: Parameters<Database['write']>) => {
      waiting.push(clock.advance(LONGEST_MS))
      const written = others.promise.then(() => db.write(...work))
      waiting.push(written)
      return written
    }
    const busy = new Proxy(db, {
      get(_, name) {
        const value: unknown = name === 'write' ? write : Reflect.get(db, name, db)
        return typeof value === 'function' ? value.bind(db) : value
      },
    })
    const batches = new BatchService({ ...deps, clock, db: busy })
    const [outcome] = await batches.runEach(writer, projectId, creates('One'))
    assert.ok(outcome && 'error' in outcome && isAppError(outcome.error, 'deadline_exceeded'))
    others.resolve()
    await assert.rejects(batches.runAtomically(writer, projectId, creates('Two')), { code: 'deadline_exceeded' })
    await Promise.allSettled(waiting)
    assert.deepEqual(await titlesIn(world), [])
  })

  test('whose Idempotency-Key another request took over does nothing, and its answer is kept with what it does', async () => {
    const world = await openProject()
    const { writer, projectId, deps } = world
    const clock = new FakeClock()
    const idempotency = new Idempotency({ db: deps.db, clock })
    const batches = new BatchService(deps)
    const begin = () => idempotency.begin({ subject: 's', route: 'r', key: 'k', content: '' })
    const claimed = async () => {
      const verdict = await begin()
      return verdict.kind === 'first' ? verdict.claim : assert.fail('answered')
    }
    const answer = { status: 200, headers: {}, body: '{"to":"somebody@example.org"}' }
    let left = await claimed()
    await clock.advance(50_000)
    const renewing = async (tx: Transaction) => {
      left = await idempotency.renew(tx, left, '[]')
    }
    const [first] = await batches.runEach(writer, projectId, creates('First'), renewing)
    assert.ok(first && 'status' in first && first.status === 201)
    await clock.advance(50_000)
    await assert.rejects(begin(), { code: 'aborted' }, 'it is still at work')
    await clock.advance(50_000)
    const taker = await claimed()
    const [late] = await batches.runEach(writer, projectId, creates('Late'), renewing)
    assert.ok(late && 'error' in late && isAppError(late.error, 'aborted'))
    const keepIn = (claim: Claim) => (tx: Transaction) => idempotency.keepIn(tx, claim, answer)
    await assert.rejects(batches.runAtomically(writer, projectId, creates('Late'), keepIn(left)), { code: 'aborted' })
    await batches.runAtomically(writer, projectId, creates('Taken over'), keepIn(taker))
    assert.deepEqual(await begin(), { kind: 'repeat', answer })
    await idempotency.release(taker)
    await idempotency.keep(taker, answer)
    assert.deepEqual(await begin(), { kind: 'repeat', answer })
    assert.deepEqual(await titlesIn(world), ['First', 'Taken over'])
  })

  test('in the middle of which storage is away goes on behind what was done, at once, when it is sent again with its key', async () => {
    const world = await openProject()
    const { writer, projectId, deps } = world
    const idempotency = new Idempotency({ db: deps.db, clock: new FakeClock() })
    const batches = new BatchService(deps)
    let isAway = true
    const send = async () => {
      const verdict = await idempotency.begin({ subject: 's', route: 'r', key: 'k', content: '' })
      if (verdict.kind === 'repeat') assert.fail('answered')
      let { claim } = verdict
      const done: string[] = JSON.parse(verdict.done ?? '[]')
      const last = async (tx: Transaction) => {
        if (isAway && done.length === 1) throw new AppError('unavailable', 'Storage is away')
        const renewed = await idempotency.renew(tx, claim, JSON.stringify([...done, 'done']))
        tx.afterCommit(() => {
          claim = renewed
          done.push('done')
        })
      }
      const left = creates('One', 'Two', 'Three').slice(done.length)
      try {
        return await batches.runEach(writer, projectId, left, last, { goesOnLater: true })
      } finally {
        await idempotency.release(claim)
      }
    }
    await assert.rejects(send(), { code: 'unavailable' })
    assert.deepEqual(await titlesIn(world), ['One'])
    isAway = false
    assert.equal((await send()).length, 2)
    assert.deepEqual(await titlesIn(world), ['One', 'Three', 'Two'])
  })

  test('that is atomic is so beside others: of many that make one note, all of one is done and nothing of the rest', async () => {
    const world = await openProject()
    const { writer, projectId, deps, notes } = world
    const other = world.deps.db.engine === 'sqlite' ? deps : { ...deps, db: await openAgain(deps.db) }
    const services = [new BatchService(deps), new BatchService(other)]
    const single = Array.from({ length: 10 }, (_, n) =>
      notes.create(writer, projectId, {
        title: `Alone ${n}`,
        directory: '',
        content: '[[Shared]]',
        noteType: null,
        metadata: null,
      }),
    )
    const many = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        (services[n % 2] as BatchService)
          .runAtomically(writer, projectId, [...creates(`Of ${n}`), ...creates('Shared', `Also of ${n}`)])
          .then(
            () => n,
            (error: unknown) => (error instanceof AppError ? error.code : Promise.reject(error)),
          ),
      ),
    )
    await Promise.all(single)
    const [winner, ...more] = many.filter((one) => typeof one === 'number')
    assert.deepEqual(more, [])
    assert.equal(many.filter((one) => one === 'conflict').length, 9)
    const expected = [...single.keys()].map((n) => `Alone ${n}`)
    assert.deepEqual(await titlesIn(world), [...expected, 'Shared', `Of ${winner}`, `Also of ${winner}`].sort())
    await assertConsistent(world)
  })

  test('that is atomic is done beside atomic ones of other projects and single notes of another, and all are counted', async () => {
    const db = await open({ poolSize: 10 })
    const { operator } = await installed(db)
    const clock = new FakeClock('2030-01-31T12:00:00Z')
    const worlds: NotesWorld[] = []
    for (let n = 0; n <= 8; n++) worlds.push(await openWorld(db, operator, `project ${n}`))
    const [single, ...others] = worlds as [NotesWorld, ...NotesWorld[]]
    const titles = Array.from({ length: 40 }, (_, n) => `Note ${n}`)
    const batches = others.map(({ deps, writer, projectId }) =>
      new BatchService({ ...deps, clock }).runAtomically(writer, projectId, creates(...titles)),
    )
    const notes = new BatchService({ ...single.deps, clock }).runEach(
      single.writer,
      single.projectId,
      creates(...titles),
    )
    await Promise.all([...batches, notes])
    for (const world of worlds) {
      assert.deepEqual(await titlesIn(world), titles.toSorted())
      await assertConsistent(world)
    }
    const day = '2030-01-31'
    assert.deepEqual(await countCreatedNotes(db, [day]), new Map([[day, 9 * titles.length]]))
  })

  test('that edits one note many times keeps every version of it', async () => {
    const world = await openProject()
    const { writer, projectId, deps } = world
    const id = newId()
    const append = (n: number): BatchOperation => ({
      op: 'patch',
      entity_id: id,
      operation: 'append',
      content: `line ${n}\n`,
    })
    const put: BatchOperation = { op: 'put', entity_id: id, title: 'Log', content: '' }
    const edits = Array.from({ length: 99 }, (_, n) => append(n))
    await new BatchService(deps).runAtomically(writer, projectId, [put, ...edits])
    const { body } = await world.notes.get({ projectId, noteId: id })
    const { version, content } = JSON.parse(String(body))
    assert.equal(version, 100)
    assert.ok(content.endsWith('line 97\nline 98\n'))
    const revision = await new RevisionService(deps).get({ projectId, noteId: id }, 50)
    assert.ok(revision.content.endsWith('line 47\nline 48\n'))
    await assertConsistent(world)
  })
})
