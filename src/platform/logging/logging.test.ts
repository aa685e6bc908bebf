import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { LineBuffer } from './line-buffer.ts'
import { createLogger, named } from './logger.ts'

function gather() {
  const written: string[] = []
  return { written, destination: { write: (text: string) => void written.push(text) } }
}

test('no secret reaches the log, however deep it was put by mistake', () => {
  const { written, destination } = gather()
  const log = named(createLogger({ level: 'info', format: 'json', destination }), 'http')
  log.info({ token: 's3cret', a: { Password: 's3cret', b: { email: 's3cret', fine: 1 } } }, 'done')
  assert.doesNotMatch(written.join(''), /s3cret/)
  assert.deepEqual(JSON.parse(written[0] as string).a, { Password: '[redacted]', b: { email: '[redacted]', fine: 1 } })
})

test('an error keeps its message and its stack', () => {
  const { written, destination } = gather()
  createLogger({ level: 'info', format: 'json', destination }).error({ err: new Error('broken') }, 'failed')
  const { err } = JSON.parse(written[0] as string)
  assert.equal(err.message, 'broken')
  assert.match(err.stack, /logging\.test/)
})

test('a part of a part has one name, which says whose it is', () => {
  const { written, destination } = gather()
  const log = createLogger({ level: 'info', format: 'json', destination })
  named(named(named(log, 'callbacks'), 'delivery'), 'lane').info('done')
  assert.deepEqual(written[0]?.match(/"name":"[^"]*"/g), ['"name":"callbacks.delivery.lane"'])
})

test('readable lines show time, level, part, message and members', () => {
  const { written, destination } = gather()
  named(createLogger({ level: 'info', format: 'readable', destination }), 'jobs').info({ status: 200 }, 'done')
  assert.match(written[0] as string, /^\d\d:\d\d:\d\d info {2}jobs {5}done status=200\n$/)
})

test('a readable line of the access log says what was asked and how it went', () => {
  const { written, destination } = gather()
  const access = { request: 'r-1', method: 'GET', route: '/livez', status: 200, micros: 1234 }
  named(createLogger({ level: 'info', format: 'readable', destination }), 'http').info(access, 'request')
  assert.match(written[0] as string, /info {2}http {5}GET \/livez 200 1\.2ms request=r-1\n$/)
})

test('gathered lines are handed on together after a moment, and when there are many', async () => {
  const { written, destination } = gather()
  const clock = new FakeClock()
  const lines = new LineBuffer(destination, clock)
  lines.write('a\n')
  lines.write('b\n')
  assert.deepEqual(written, [])
  await clock.advance(50)
  assert.deepEqual(written, ['a\nb\n'])
  for (let i = 0; i < 40; i++) lines.write(`${'x'.repeat(1000)}\n`)
  assert.equal(written.length, 2)
  lines.flush()
  assert.equal(written.join('').length, 4 + 40 * 1001)
  assert.equal(clock.waiting, 0)
})

const noFullDisk = !existsSync('/dev/full') && 'this system has no /dev/full'

test('a process whose log cannot be written ends all the same', { skip: noFullDisk }, () => {
  const file = fileURLToPath(new URL('./logger.ts', import.meta.url))
  const script = `
    import { createLogger, destinationOf } from ${JSON.stringify(file)}
    const log = createLogger({ level: 'info', format: 'json' })
    destinationOf(log).on('error', () => process.exit(7))
    log.info('lost')`
  const full = openSync('/dev/full', 'w')
  const args = ['--no-warnings', '--input-type=module', '-e', script]
  const child = spawnSync(process.execPath, args, { stdio: ['ignore', full, 'inherit'], timeout: 20_000 })
  closeSync(full)
  assert.equal(child.status, 7)
})

test('a process whose log is read by nobody any more, through a pipe that stays open, ends all the same', async () => {
  const file = fileURLToPath(new URL('./logger.ts', import.meta.url))
  const script = `
    import { createLogger } from ${JSON.stringify(file)}
    const log = createLogger({ level: 'info', format: 'json' })
    process.stdout.write('it runs')
    for (let i = 0; i < 4_000; i++) log.info('x'.repeat(1_000))
    setImmediate(() => process.exit(7))`
  const args = ['--no-warnings', '--input-type=module', '-e', script]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout: 40_000 })
  const [status] = await once(child, 'exit')
  child.stdout.destroy()
  assert.equal(status, 7)
})
