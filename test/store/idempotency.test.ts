import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { UserId } from '../../src/platform/auth/principal.ts'
import { AppError } from '../../src/platform/errors/app-error.ts'
import {
  answersStayAbout,
  Idempotency,
  idempotencyData,
  type KeyedRequest,
  subjectOf,
} from '../../src/platform/idempotency/idempotency.ts'
import { deleteKeysOf, deleteOldKeys } from '../../src/platform/idempotency/store.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { jobBench } from '../jobs/job-bench.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'

const DAY_MS = 86_400_000
const ANSWER = { status: 201, headers: { location: '/there' }, body: '{"data":{"id":"1"}}' }

function request(more: Partial<KeyedRequest> = {}): KeyedRequest {
  return { subject: 'user 1', route: 'POST /things', key: 'k', content: 'c', ...more }
}

async function first(idempotency: Idempotency, keyed: KeyedRequest) {
  const verdict = await idempotency.begin(keyed)
  assert.ok(verdict.kind === 'first', 'expected the first request with this key')
  return verdict.claim
}

async function rowCount(db: Database): Promise<number[]> {
  const counts = []
  for (const table of ['idempotency_keys', 'idempotency_mentions'] as const) {
    counts.push((await db.query.selectFrom(table).select('key').execute()).length)
  }
  return counts
}

eachDatabase('idempotency keys', ({ open, openAgain }) => {
  it('answer a repeat as the first request was answered', async () => {
    const idempotency = new Idempotency({ db: await open(), clock: new FakeClock() })
    const answers = [
      ANSWER,
      { status: 204, headers: {}, body: '' },
      { status: 409, headers: {}, body: '{"errors":["ü"]}' },
    ]
    for (const [index, answer] of answers.entries()) {
      const keyed = request({ key: `k${index}` })
      await idempotency.keep(await first(idempotency, keyed), answer)
      assert.deepEqual(await idempotency.begin(keyed), { kind: 'repeat', answer })
      assert.deepEqual(await idempotency.begin(keyed), { kind: 'repeat', answer })
    }
  })

  it('of requests that ran when the only server died are free at its next start, those with an answer are not', async () => {
    const db = await open()
    const clock = new FakeClock()
    const before = new Idempotency({ db, clock })
    await first(before, request({ key: 'cut-off' }))
    await before.keep(await first(before, request({ key: 'answered' })), ANSWER)
    const after = new Idempotency({ db, clock })
    await after.releaseAll()
    await first(after, request({ key: 'cut-off' }))
    assert.deepEqual(await after.begin(request({ key: 'answered' })), { kind: 'repeat', answer: ANSWER })
  })

  it('tell the next of the same requests what one that died had done, but no other request', async () => {
    const db = await open()
    const clock = new FakeClock()
    const idempotency = new Idempotency({ db, clock })
    const left = await first(idempotency, request())
    const claim = await db.write((tx) => idempotency.renew(tx, left, '["one of two"]'))
    await idempotency.release(claim)
    await clock.advance(60_001)
    const next = await idempotency.begin(request())
    assert.ok(next.kind === 'first')
    assert.equal(next.done, '["one of two"]')
    await clock.advance(60_001)
    const other = await idempotency.begin(request({ content: 'other' }))
    assert.ok(other.kind === 'first')
    assert.equal(other.done, null)
    await clock.advance(2 * DAY_MS)
    const late = await idempotency.begin(request({ content: 'other' }))
    assert.ok(late.kind === 'first')
    assert.equal(late.done, null)
  })

  it('belong to one caller and one route', async () => {
    const idempotency = new Idempotency({ db: await open(), clock: new FakeClock() })
    await idempotency.keep(await first(idempotency, request()), ANSWER)
    await first(idempotency, request({ subject: 'user 2' }))
    await first(idempotency, request({ route: 'POST /others' }))
  })

  it('refuse another request, also while the first one runs', async () => {
    const idempotency = new Idempotency({ db: await open(), clock: new FakeClock() })
    const claim = await first(idempotency, request())
    const refusal = { code: 'unprocessable', message: 'Idempotency-Key was used with a different request' }
    await assert.rejects(idempotency.begin(request({ content: 'other' })), refusal)
    await idempotency.keep(claim, ANSWER)
    await assert.rejects(idempotency.begin(request({ content: 'other' })), refusal)
  })

  it('must be 1 to 255 visible ASCII characters', async () => {
    const idempotency = new Idempotency({ db: await open(), clock: new FakeClock() })
    for (const key of ['', 'a b', 'a\tb', 'ü', 'x'.repeat(256), ' a', '\u007f']) {
      await assert.rejects(idempotency.begin(request({ key })), { code: 'invalid_argument' })
    }
    for (const key of ['!', '~', 'x'.repeat(255)]) await first(idempotency, request({ key }))
  })

  it('let one of many who come at the same moment through, on every node', async () => {
    const db = await open()
    const nodes = [db, await openAgain(db)].map((one) => new Idempotency({ db: one, clock: new FakeClock() }))
    for (let round = 0; round < 5; round++) {
      const keyed = request({ key: `round-${round}` })
      const verdicts = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => nodes[n % 2]?.begin(keyed)))
      const through = verdicts.filter((one) => one.status === 'fulfilled')
      assert.equal(through.length, 1)
      for (const one of verdicts) {
        if (one.status === 'fulfilled') continue
        assert.equal(one.reason.code, 'aborted')
        assert.equal(one.reason.httpStatus, 409)
        assert.deepEqual(one.reason.headers, { 'retry-after': '1' })
      }
    }
  })

  it('are free again once released, and after a minute when their process died', async () => {
    const clock = new FakeClock()
    const idempotency = new Idempotency({ db: await open(), clock })
    await idempotency.release(await first(idempotency, request()))
    const abandoned = await first(idempotency, request())
    await clock.advance(59_000)
    await assert.rejects(idempotency.begin(request()), { code: 'aborted' })
    await clock.advance(2_000)
    const claim = await first(idempotency, request({ content: 'another body is fine now' }))
    // The one that was given up for dead comes back: too late.
    await idempotency.keep(abandoned, { ...ANSWER, status: 500 })
    await idempotency.release(abandoned)
    await idempotency.keep(claim, ANSWER)
    const repeat = await idempotency.begin(request({ content: 'another body is fine now' }))
    assert.deepEqual(repeat, { kind: 'repeat', answer: ANSWER })
  })

  it('are free soon after a claim that was made and whose answer was lost: nobody runs its request', async () => {
    const [db, clock] = [await open(), new FakeClock()]
    const writes: Promise<unknown>[] = []
    const write: Database['write'] = async (...args) => {
      const written = db.write(...args)
      writes.push(written)
      await written
      throw new AppError('unavailable', 'Storage does not answer')
    }
    const unlucky = new Idempotency({ db: { write } as Database, clock })
    await assert.rejects(unlucky.begin(request()), { code: 'unavailable' })
    const idempotency = new Idempotency({ db, clock })
    await assert.rejects(idempotency.begin(request()), { code: 'aborted' })
    await clock.advance(1_000)
    await Promise.all(writes)
    await first(idempotency, request())
  })

  it('are kept although they are released, where the change was done and nobody was told so', async () => {
    const db = await open()
    const idempotency = new Idempotency({ db, clock: new FakeClock() })
    const claim = await first(idempotency, request())
    await db.write((tx) => idempotency.keepDone(tx, claim, { status: 201, headers: {} }))
    await idempotency.release(claim)
    const repeat = await idempotency.begin(request(), async (kept) => ({ ...kept, body: 'made anew' }))
    assert.deepEqual(repeat, { kind: 'repeat', answer: { status: 201, headers: {}, body: 'made anew' } })
  })

  it('that another request has claimed meanwhile undo what is done under them', async () => {
    const clock = new FakeClock()
    const db = await open()
    const idempotency = new Idempotency({ db, clock })
    const late = await first(idempotency, request())
    await clock.advance(61_000)
    await first(idempotency, request())
    const done = db.write((tx) => idempotency.keepDone(tx, late, { status: 201, headers: {} }))
    await assert.rejects(done, { code: 'aborted' })
  })

  it('are forgotten after a day, swept or not', async () => {
    const clock = new FakeClock()
    const db = await open()
    const bench = jobBench(db, { clock })
    const idempotency = new Idempotency({ db, clock })
    idempotency.schedulePurge(bench.engine)
    const body = JSON.stringify({ data: { type: 'users', id: newId() } })
    await idempotency.keep(await first(idempotency, request()), { ...ANSWER, body })
    await clock.advance(DAY_MS + 1_000)
    await first(idempotency, request({ content: 'other' }))
    assert.deepEqual(await rowCount(db), [1, 0])
    for (let n = 0; n < 603; n++) {
      const keyed = request({ key: `many-${n}` })
      await idempotency.keep(await first(idempotency, keyed), { ...ANSWER, body })
    }
    await clock.advance(DAY_MS + 1_000)
    await first(idempotency, request({ key: 'new' }))
    await bench.turn()
    assert.deepEqual(await rowCount(db), [1, 0])
  })

  it('with long answers are removed fewer at a time', async () => {
    const db = await open()
    const clock = new FakeClock()
    const idempotency = new Idempotency({ db, clock })
    for (const key of ['a', 'b', 'c']) {
      const body = JSON.stringify({ data: 'x'.repeat(200 * 1024) })
      await idempotency.keep(await first(idempotency, request({ key })), { ...ANSWER, body })
    }
    const remove = () => deleteOldKeys(db, clock.now() + 1, 500)
    assert.deepEqual([await remove(), await remove(), await remove()], [2, 1, 0])
  })

  it('do not keep an answer of any size', async () => {
    const idempotency = new Idempotency({ db: await open(), clock: new FakeClock() })
    await idempotency.keep(await first(idempotency, request()), {
      ...ANSWER,
      body: JSON.stringify('x'.repeat(2 ** 20)),
    })
    await assert.rejects(idempotency.begin(request()), { code: 'conflict' })
    await assert.rejects(
      idempotency.begin(request(), async () => undefined),
      { code: 'conflict' },
    )
    const verdict = await idempotency.begin(request(), async (kept) => ({ ...kept, body: '"again"' }))
    assert.deepEqual(verdict, { kind: 'repeat', answer: { ...ANSWER, body: '"again"' } })
  })

  it('are deleted with the person they belong to, and with anybody whom their answer shows', async () => {
    const db = await open()
    const idempotency = new Idempotency({ db, clock: new FakeClock() })
    const id = newId<'User'>() as UserId
    const person = { id, organizationId: newId(), email: 'ada@example.org', handle: 'old@example.org' } as never
    const answers: Record<string, string> = {
      shown: JSON.stringify({ data: { type: 'users', id, attributes: {} } }),
      refused: JSON.stringify({ errors: ['A user with email ada@example.org already exists'] }),
      handle: JSON.stringify({ errors: ['Email OLD@example.org is already in use'] }),
      other: JSON.stringify({ data: { type: 'users', id: newId(), attributes: { email: 'bob@example.org' } } }),
    }
    for (const [key, body] of Object.entries(answers)) {
      await idempotency.keep(await first(idempotency, request({ key })), { ...ANSWER, body })
    }
    const running = await first(idempotency, request({ subject: subjectOf(id) }))
    await db.write((tx) => idempotencyData.erase(tx, person))
    const left = await db.query.selectFrom('idempotency_keys').select('key').execute()
    assert.deepEqual(
      left.map(({ key }) => key),
      ['other'],
    )
    assert.deepEqual(
      (await db.query.selectFrom('idempotency_mentions').select('key').distinct().execute()).map(({ key }) => key),
      ['other'],
    )
    // What still runs for the person keeps nothing.
    await idempotency.keep(running, { ...ANSWER, body: answers.shown as string })
    assert.deepEqual((await rowCount(db))[0], 1)
  })

  it('of a person with very many go without a statement being put together for each', async () => {
    const db = await open()
    const key = { subject: 'user 1', route: 'POST /things', fingerprint: '', status: 201, headers: '{}', body: null }
    await db.write(async (tx) => {
      for (const subject of ['user 1', 'user 2']) {
        const keys = Array.from({ length: 600 }, (_, n) => ({ ...key, subject, key: `${n}`, created_at: 0 }))
        await tx.query.insertInto('idempotency_keys').values(keys).execute()
      }
    })
    let puttingTogether = 0
    await db.write((tx) => {
      puttingTogether = 0
      const watched = new Proxy(tx, {
        get(_, name: keyof typeof tx) {
          if (name === 'query') puttingTogether++
          const member = tx[name]
          return typeof member === 'function' ? member.bind(tx) : member
        },
      })
      return deleteKeysOf(watched, 'user 1', [])
    })
    assert.ok(puttingTogether < 10, `${puttingTogether} statements`)
    assert.deepEqual(await rowCount(db), [600, 0])
  })

  it('whose answer names an address that somebody gave up are deleted with this person, too', async () => {
    const db = await open()
    const idempotency = new Idempotency({ db, clock: new FakeClock() })
    const id = newId<'User'>() as UserId
    const person = { id, organizationId: newId(), email: 'third@example.org', handle: 'first@example.org' } as never
    for (const name of ['first', 'second', 'third', 'fourth']) {
      const body = JSON.stringify({ errors: [`Email ${name}@example.org is already in use`] })
      await idempotency.keep(await first(idempotency, request({ key: name })), { ...ANSWER, body })
    }
    for (const email of ['First@example.org', 'second@example.org', 'second@example.org']) {
      await db.write((tx) => answersStayAbout(tx, id, email))
    }
    await db.write((tx) => idempotencyData.erase(tx, person))
    const left = await db.query.selectFrom('idempotency_keys').select('key').execute()
    assert.deepEqual(
      left.map(({ key }) => key),
      ['fourth'],
    )
  })

  it('take any key, path and body that can be sent', async () => {
    const idempotency = new Idempotency({ db: await open(), clock: new FakeClock() })
    const key = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 255,
    })
    await fc.assert(
      fc.asyncProperty(key, fc.jsonValue(), fc.uuid(), async (text, value, unique) => {
        const keyed = request({ key: text, route: `POST /${unique}`, content: JSON.stringify(value) })
        const answer = { ...ANSWER, body: JSON.stringify(value) }
        await idempotency.keep(await first(idempotency, keyed), answer)
        assert.deepEqual(await idempotency.begin(keyed), { kind: 'repeat', answer })
      }),
      { numRuns: 30 },
    )
  })
})
