import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { enqueueJob } from '../../src/platform/jobs/enqueue.ts'
import { jobKind } from '../../src/platform/jobs/job-kind.ts'
import type { Outcome } from '../../src/platform/jobs/outcome.ts'
import { settle } from '../../src/platform/jobs/settle.ts'
import { type ClaimedRow, claimJobs } from '../../src/platform/jobs/store.ts'
import { discardJob, listJobs, requeueJob } from '../../src/platform/jobs/store-dead-letters.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { type ModelJob, QueueModel } from '../jobs/queue-model.ts'
import { eachDatabase } from '../support/each-database.ts'

const KINDS = {
  latest: jobKind<number>('latest', { join: 'latest' }),
  keep: jobKind<number>('keep', { join: 'keep' }),
}
const kind = fc.constantFrom('latest', 'keep') as fc.Arbitrary<keyof typeof KINDS>
const pick = fc.nat({ max: 50 })

const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('enqueue'),
      kind,
      key: fc.constantFrom(null, 'a', 'b'),
      due: fc.nat({ max: 30 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('claim'), kind, limit: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('settle'),
      pick,
      how: fc.constantFrom('done', 'again', 'retry', 'dead', 'released') as fc.Arbitrary<Outcome['kind']>,
      due: fc.nat({ max: 40 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle again'), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('requeue'), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('discard'), pick }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.integer({ min: 1, max: 10 }) }) },
)
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

eachDatabase('the queue against its model', ({ open, engine }) => {
  it('agrees with the plain rules after every step of any sequence', async () => {
    const db = await open()
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
        await db.write(async (tx) => {
          await tx.query.deleteFrom('jobs').execute()
        })
        await follow(db, commands)
      }),
      { numRuns: engine === 'sqlite' ? 150 : 15 },
    )
  })
})

async function follow(db: Database, commands: Command[]): Promise<void> {
  const model = new QueueModel({ latest: 'latest', keep: 'keep' })
  const leases: ClaimedRow[] = []
  const ended: ClaimedRow[] = []
  let now = 0
  let payload = 0
  for (const step of commands) {
    switch (step.do) {
      case 'enqueue': {
        const { key, due } = step as { key: string | null; due: number }
        const request = { kind: KINDS[step.kind as 'keep'], key: key ?? undefined, payload: ++payload, dueAt: due }
        const met = model.waitingOf(request.kind.name, key)
        const { id, joined } = await db.write((tx) => enqueueJob(tx, request, now))
        assert.deepEqual({ id: joined ? id : null }, { id: met?.id ?? null })
        model.enqueue({ id, kind: request.kind.name, key, payload, due })
        break
      }
      case 'claim': {
        const input = {
          kind: step.kind as string,
          limit: step.limit as number,
          now,
          owner: 'me',
          leaseUntil: now + 100,
        }
        const rows = await db.write((tx) => tx.run(claimJobs, input))
        assert.deepEqual(rows.map((row) => row.id as string).sort(), model.claim(input.kind, input.limit, now).sort())
        leases.push(...rows)
        break
      }
      case 'settle': {
        const [row]: ClaimedRow[] = leases.splice((step.pick as number) % Math.max(1, leases.length), 1)
        if (row === undefined) break
        const outcome = outcomeOf(step.how as Outcome['kind'], step.due as number, ++payload)
        assert.equal(await settleAs(db, row, outcome, now), true)
        if (outcome.kind === 'done') model.remove(row.id)
        else if (outcome.kind === 'dead') model.bury(row.id)
        else if (outcome.kind === 'retry') model.giveBack(row.id, { due: outcome.dueAt })
        else if (outcome.kind === 'released') model.giveBack(row.id, { attempt: row.attempt - 1 })
        else model.giveBack(row.id, { due: outcome.dueAt, attempt: 0, payload })
        ended.push(row)
        break
      }
      case 'settle again': {
        // A process that lost its lease, at any later time: nothing it says is heard.
        const row: ClaimedRow | undefined = ended[(step.pick as number) % Math.max(1, ended.length)]
        if (row === undefined) break
        for (const how of ['done', 'retry', 'dead'] as const) {
          assert.equal(await settleAs(db, row, outcomeOf(how, 0, 0), now), false)
        }
        break
      }
      case 'requeue': {
        const dead = model.jobs.filter((job) => job.state === 'dead')
        const job = dead[(step.pick as number) % Math.max(1, dead.length)]
        if (job === undefined) break
        const expected = model.waitingOf(job.kind, job.key) === undefined ? 'requeued' : 'joined'
        const requeued: string = await db.write((tx) => requeueJob(tx, job.id as never, now))
        assert.equal(requeued, expected)
        model.requeue(job.id, now)
        break
      }
      case 'discard': {
        const job = model.jobs[(step.pick as number) % Math.max(1, model.jobs.length)]
        if (job === undefined) break
        const discarded = await db.write((tx) => discardJob(tx, job.id as never))
        assert.equal(discarded, job.state !== 'running')
        if (discarded) model.remove(job.id)
        break
      }
      default:
        now += (step as { ms: number }).ms
    }
    assert.deepEqual(
      await actual(db),
      [...model.jobs].sort((a, b) => (a.id < b.id ? -1 : 1)),
    )
  }
}

function settleAs(db: Database, row: ClaimedRow, outcome: Outcome, now: number): Promise<boolean> {
  const { join } = KINDS[row.kind as keyof typeof KINDS]
  return db.write((tx) => settle(tx, row, join, outcome, now))
}

function outcomeOf(how: Outcome['kind'], dueAt: number, payload: number): Outcome {
  switch (how) {
    case 'again':
      return { kind: how, dueAt, payload: String(payload) }
    case 'retry':
      return { kind: how, dueAt, error: 'no' }
    case 'dead':
      return { kind: how, error: 'no' }
    default:
      return { kind: how }
  }
}

async function actual(db: Database): Promise<ModelJob[]> {
  const rows = await listJobs(db, { limit: 1_000 })
  return rows.map(({ id, kind, coalesce_key: key, payload, state, due_at: due, attempt }) => {
    return { id: id as string, kind, key, payload: JSON.parse(payload), state, due, attempt }
  })
}
