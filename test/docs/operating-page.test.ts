import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadSettings } from '../../src/settings.ts'

const ROOT = new URL('../../', import.meta.url)
const page = readFileSync(new URL('docs/operating.md', ROOT), 'utf8')

/** Every text of this form in the sources of callbacks, between quotes. */
function namesIn(form: RegExp): string[] {
  const directory = fileURLToPath(new URL('src/callbacks/', ROOT))
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  const found = sources.flatMap((file) => [...readFileSync(`${directory}/${file}`, 'utf8').matchAll(form)])
  return [...new Set(found.map(([, name]) => name as string))]
}

test('the page for operators names every metric of callbacks', () => {
  const metrics = namesIn(/name: '(callback_\w+)'/g)
  assert.ok(metrics.length >= 5)
  assert.deepEqual(
    metrics.filter((name) => !page.includes(`| \`${name}\` |`)),
    [],
  )
})

test('the page for operators names every metric of the platform', () => {
  const metrics = ['telemetry/request-timings.ts', 'rpc/observe-calls.ts', 'jobs/metrics.ts'].flatMap((file) =>
    [...readFileSync(new URL(`src/platform/${file}`, ROOT), 'utf8').matchAll(/name: '(\w+)'/g)].map(([, name]) => name),
  )
  assert.ok(metrics.length >= 6)
  assert.deepEqual(
    metrics.filter((name) => !page.includes(`| \`${name}\` |`)),
    [],
  )
})

test('the page for operators names every job of callbacks', () => {
  const jobs = [...namesIn(/jobKind<\w+>\('(callbacks\.[\w-]+)'/g), ...namesIn(/name: '(callbacks\.[\w-]+)'/g)]
  assert.ok(jobs.length >= 3)
  assert.deepEqual(
    jobs.filter((name) => !page.includes(`| \`${name}\` |`)),
    [],
  )
})

test('the page for operators names every event of callbacks in the log', () => {
  const source = readFileSync(new URL('src/callbacks/deliver/delivery-events.ts', ROOT), 'utf8')
  const events = [...source.matchAll(/'((?:callback|destination)\.[a-z_]+)'/g)].map(([, name]) => name)
  assert.ok(events.length >= 6)
  assert.deepEqual(
    events.filter((name) => !page.includes(`\`${name}\``)),
    [],
  )
})

test('the proxy of the page for operators lets through what the server takes unless it is told otherwise', async () => {
  const { settings } = await loadSettings({ mode: 'serve', env: {} })
  const proxy = (form: RegExp) => Number(form.exec(page)?.[1])
  assert.ok(proxy(/client_max_body_size (\d+)m;/) * 1024 * 1024 >= settings.server.body_limit)
  assert.ok(proxy(/large_client_header_buffers \d (\d+)k;/) * 1024 >= settings.server.header_limit)
  assert.ok(proxy(/proxy_read_timeout (\d+)s;/) * 1_000 > settings.callbacks.long_poll.timeout)
})
