import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { observeJobs } from './metrics.ts'

test('shows runs by outcome, and the queue as it is when asked', async () => {
  const registry = new Registry()
  const metrics = observeJobs(registry, new FakeClock())
  metrics.onOutcome({ kind: 'mail', outcome: 'retry', durationMs: 30 })
  let waiting = 1
  metrics.watch(async () => [{ kind: 'mail', waiting, running: 0, dead: 2, firstDueAt: 5_000_000 }])
  waiting = 7
  const text = await registry.metrics()
  assert.match(text, /commonplace_job_runs_total\{kind="mail",outcome="retry"\} 1/)
  assert.match(text, /commonplace_jobs\{kind="mail",state="waiting"\} 7/)
  assert.match(text, /commonplace_jobs\{kind="mail",state="dead"\} 2/)
})

test('says when the first job is due as it is now, asking storage once for everything', async () => {
  const registry = new Registry()
  let [asked, firstDueAt] = [0, 5_000_000]
  observeJobs(registry, new FakeClock()).watch(async () => {
    asked += 1
    return [{ kind: 'mail', waiting: 1, running: 0, dead: 0, firstDueAt }]
  })
  assert.match(await registry.metrics(), /first_due_timestamp_seconds\{kind="mail"\} 5\n/)
  firstDueAt = 9_000_000
  assert.match(await registry.metrics(), /first_due_timestamp_seconds\{kind="mail"\} 9\n/)
  assert.equal(asked, 2)
})

test('leaves the queue out while storage is away', async () => {
  const registry = new Registry()
  observeJobs(registry, new FakeClock()).watch(() => Promise.reject(new Error('away')))
  assert.doesNotMatch(await registry.metrics(), /commonplace_jobs\{/)
})

test('leaves the queue out while storage stays silent, and nothing else with it', async () => {
  const registry = new Registry()
  const clock = new FakeClock()
  const metrics = observeJobs(registry, clock)
  metrics.onOutcome({ kind: 'mail', outcome: 'done', durationMs: 30 })
  metrics.watch(() => new Promise(() => {}))
  const rendered = registry.metrics()
  await clock.advance(2_000)
  const text = await rendered
  assert.doesNotMatch(text, /commonplace_jobs\{/)
  assert.match(text, /commonplace_job_runs_total\{kind="mail",outcome="done"\} 1/)
})
