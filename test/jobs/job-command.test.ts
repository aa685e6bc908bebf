import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { it } from 'node:test'
import { PermanentFailure } from '../../src/platform/jobs/failures.ts'
import { jobKind } from '../../src/platform/jobs/job-kind.ts'
import { eachDatabase, type Place } from '../support/each-database.ts'
import { PROGRAM, YOUNG_MEMORY } from '../support/program.ts'
import { tempDir } from '../support/temp-dir.ts'
import { jobBench } from './job-bench.ts'

function commonplace(place: Place, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const storage = place.databaseUrl === null ? ['--data-dir', place.dataDir] : ['--database-url', place.databaseUrl]
  return new Promise((resolve) => {
    execFile(process.execPath, [...YOUNG_MEMORY, PROGRAM, 'job', ...args, ...storage], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr })
    })
  })
}

eachDatabase('commonplace job', ({ open, placeOf }) => {
  it('shows dead jobs without their payload, requeues and discards them', async () => {
    const db = await open()
    const bench = jobBench(db)
    const kind = jobKind<string>('mail.send')
    bench.engine.register(kind, async () => {
      throw new PermanentFailure('no such mailbox')
    })
    for (const payload of ['private one', 'private two', 'private three']) await bench.add({ kind, payload })
    await bench.turn()
    const place = placeOf(db)

    const list = await commonplace(place, 'list', '--state', 'dead', '--json')
    assert.equal(list.code, 0, list.stderr)
    const jobs = JSON.parse(list.stdout)
    assert.deepEqual(
      jobs.map((job: { kind: string; attempt: number }) => [job.kind, job.attempt]),
      Array(3).fill(['mail.send', 1]),
    )
    assert.doesNotMatch(list.stdout, /private/)

    const [first, second] = jobs.map((job: { id: string }) => job.id)
    assert.equal((await commonplace(place, 'discard', first)).code, 0)
    assert.equal((await commonplace(place, 'requeue', second)).code, 0)
    assert.equal(
      JSON.parse((await commonplace(place, 'requeue', '--all', '--kind', 'mail.send', '--json')).stdout).requeued,
      1,
    )
    assert.deepEqual(
      (await bench.rows()).map((row) => row.state),
      ['waiting', 'waiting'],
    )

    const missing = await commonplace(place, 'requeue', first)
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /no dead job/)
  })
})

it('commonplace job says what is wrong with its use, and exits with 2', async () => {
  const place = { dataDir: tempDir(), databaseUrl: null }
  const id = '0198c0de-0000-7000-8000-000000000000'
  for (const args of [
    ['requeue', id, '--all'],
    ['discard', 'x'],
  ]) {
    const { code, stderr } = await commonplace(place, ...args)
    assert.equal(code, 2, args.join(' '))
    assert.notEqual(stderr, '')
  }
})
