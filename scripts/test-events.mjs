// A reporter for node:test that run-tests.ts loads into each test file's process: one JSON line per result, on the
// fourth stream, so that what the tests print stays apart. When that stream breaks, the run is over and so are we.
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { inspect } from 'node:util'

const STREAM = 3
// What Node says of an error that came when no test, or no test any more, was there for it.
const LATE = /^Error: .* generated asynchronous activity after the test ended\./

const runner = new Socket({ fd: STREAM, readable: true, writable: false })
runner.on('error', () => {})
runner.once('close', () => process.exit(1))
runner.resume().unref()
// Node says of these the message alone.
for (const event of ['uncaughtExceptionMonitor', 'unhandledRejection'])
  process.on(event, (error) => console.error(error))

// biome-ignore lint/style/noDefaultExport: node:test takes a reporter from nowhere else
// biome-ignore lint/correctness/useYield: nothing goes to the standard streams
export default async function* report(source) {
  const path = []
  let open = 0
  for await (const { type, data } of source) {
    if (type === 'test:start') path.splice(data.nesting, path.length, data.name)
    else if (type === 'test:pass' || type === 'test:fail') send(resultOf(type === 'test:pass', data, path))
    else if (type === 'test:diagnostic' && LATE.test(data.message)) send(lateError(data.message))
    // Node sums up only when the process is about to end by itself; the runner has to know before that.
    if (data?.nesting !== 0) continue
    if (type === 'test:enqueue' && open++ === 0) send({ kind: 'busy' })
    if (type === 'test:complete' && --open === 0) send({ kind: 'done' })
  }
}

function resultOf(passed, data, path) {
  const isSuite = data.details?.type === 'suite'
  const name = [...path.slice(0, data.nesting), data.name].join(' > ')
  if (data.skip !== undefined && data.skip !== false) return { kind: 'skipped', name, reason: String(data.skip) }
  if (data.todo !== undefined && data.todo !== false) return { kind: 'skipped', name, reason: 'to do' }
  if (passed) return isSuite ? null : { kind: 'passed', name }
  const error = data.details?.error
  // Its parts have been reported, each by itself.
  if (error?.failureType === 'subtestsFailed') return null
  return { kind: 'failed', name, error: describe(error) }
}

function lateError(message) {
  return { kind: 'failed', name: 'an error that nobody caught', error: message }
}

function describe(error) {
  const cause = error?.cause ?? error
  const text = cause instanceof Error ? inspect(cause, { depth: 4 }) : String(cause)
  return text.replaceAll(/^ +at .*\bnode:(internal|async_hooks).*\n/gm, '')
}

function send(message) {
  if (message === null) return
  let rest = Buffer.from(`${JSON.stringify(message)}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STREAM, rest))
    } catch (error) {
      if (error.code !== 'EAGAIN') process.exit(1)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5) // the runner is busy reading
    }
  }
}
