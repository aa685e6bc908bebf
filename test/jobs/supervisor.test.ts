import assert from 'node:assert/strict'
import { it } from 'node:test'
import { AppError } from '../../src/platform/errors/app-error.ts'
import { createLogger } from '../../src/platform/logging/logger.ts'
import { Supervisor, type Worker, WorkerStop } from '../../src/platform/supervisor/supervisor.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

function bench(workers: Worker[], log = silentLogger()) {
  const clock = new FakeClock()
  const supervisor = new Supervisor({ clock, log, firstRestartMs: 100, longestRestartMs: 300 })
  supervisor.start(workers)
  return { clock, supervisor, state: () => supervisor.health().map((health) => health.state) }
}

it('starts a failing worker again with growing delays while the others go on', async () => {
  let runs = 0
  const { clock, supervisor, state } = bench([
    { name: 'steady', run: untilAborted },
    {
      name: 'shaky',
      run: async () => {
        throw new Error(`failure ${++runs}`)
      },
    },
  ])
  const seen: number[] = []
  for (const ms of [0, 99, 2, 198, 4, 296, 6, 300]) {
    await clock.advance(ms)
    seen.push(runs)
  }
  assert.deepEqual(seen, [1, 1, 2, 2, 3, 3, 4, 5])
  assert.deepEqual(state(), ['running', 'restarting'])
  const [steady, shaky] = supervisor.health()
  assert.deepEqual([steady?.healthy, shaky?.healthy, shaky?.lastError, shaky?.restarts], [true, false, 'failure 5', 5])
  await supervisor.stop(1_000)
  assert.deepEqual(state(), ['stopped', 'stopped'])
})

it('tells once that storage is away, whichever try meets it, and that the worker goes on; a defect each time', async () => {
  const lines: string[] = []
  const write = (line: string) => void lines.push(JSON.parse(line).level)
  const log = createLogger({ level: 'info', format: 'json', destination: { write } })
  let trouble: Error | null = new AppError('unavailable', 'The disk is full')
  const run = async (signal: AbortSignal) => {
    if (trouble !== null) throw trouble
    await untilAborted(signal)
  }
  const { clock, supervisor } = bench([{ name: 'writer', run }], log)
  for (let tries = 0; tries < 5; tries++) await clock.advance(300)
  assert.deepEqual(lines, ['error'])
  trouble = null
  await clock.advance(300)
  await clock.advance(60_000)
  assert.deepEqual(lines, ['error', 'info'])
  await supervisor.stop(10)

  lines.length = 0
  trouble = new Error('a defect')
  const other = bench([{ name: 'writer', run }], log)
  await other.clock.advance(0)
  await other.clock.advance(101)
  assert.deepEqual(lines, ['error', 'error'])
  await other.supervisor.stop(10)
})

it('begins with the shortest delay again after a worker ran well for a minute', async () => {
  let runs = 0
  const { clock, supervisor } = bench([
    {
      name: 'weekly',
      run: async (signal) => {
        runs++
        if (runs === 3) await new Promise((resolve) => clock.after(61_000, () => resolve(null)))
        if (!signal.aborted) throw new Error('again')
      },
    },
  ])
  await clock.advance(0)
  await clock.advance(400)
  assert.equal(runs, 3)
  await clock.advance(61_000)
  await clock.advance(101)
  assert.equal(runs, 4)
  await supervisor.stop(10)
})

it('a worker that returns by itself has finished, and one that throws synchronously harms nobody', async () => {
  const { clock, supervisor, state } = bench([
    { name: 'once', run: async () => {} },
    {
      name: 'rude',
      run: () => {
        throw new Error('at once')
      },
    },
  ])
  await clock.advance(1)
  assert.deepEqual(state(), ['finished', 'restarting'])
  await supervisor.stop(1_000)
})

it('stops within its time although a worker ignores the signal, and says which', async () => {
  const { clock, supervisor, state } = bench([
    { name: 'polite', run: untilAborted },
    { name: 'deaf', run: () => new Promise(() => {}) },
  ])
  await clock.advance(0)
  let stopped = false
  const stop = supervisor.stop(2_000).then(() => {
    stopped = true
  })
  await clock.advance(1_999)
  assert.equal(stopped, false)
  await clock.advance(2)
  await stop
  assert.deepEqual(state(), ['stopped', 'stuck'])
})

it('tells a worker how long it may take to stop', async () => {
  let reason: unknown
  const { clock, supervisor } = bench([
    {
      name: 'asks',
      run: async (signal) => {
        await untilAborted(signal)
        reason = signal.reason
      },
    },
  ])
  await clock.advance(0)
  await supervisor.stop(1_234)
  assert.ok(reason instanceof WorkerStop)
  assert.equal(reason.graceMs, 1_234)
})
