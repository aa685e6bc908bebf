import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { Courier } from '../../src/callbacks/destination/send/courier.ts'
import { requestHeaders } from '../../src/callbacks/destination/send/request-headers.ts'
import { readSigningSecret } from '../../src/callbacks/destination/send/signature.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { blocksOf } from '../support/shell-blocks.ts'
import { tempDir } from '../support/temp-dir.ts'

const PAGE = 'docs/receiving-callbacks.md'
const VERIFY = new URL('../../src/callbacks/receiver-kit/verify.ts', import.meta.url)
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(32, 2).toString('base64')}`
const clock = new SystemClock()

function headersOf(runId: string, attempt: number, body: Uint8Array, secret: string): Map<string, string> {
  return requestHeaders({
    runId,
    attempt,
    createdAt: clock.now(),
    attemptedAt: clock.now(),
    callback: { header: {}, token: 'token' },
    completion: { state: 'succeeded', headers: new Map([['content-type', 'application/json']]), body },
    secrets: [readSigningSecret(secret)],
  })
}

test('the receiver of the page runs as it is shown: it acts once on each result, turns strangers away and loses nothing by it', async (t) => {
  const [block, ...others] = blocksOf(PAGE, 'ts')
  assert.ok(block !== undefined && others.length === 0)
  const directory = tempDir()
  copyFileSync(VERIFY, join(directory, 'verify.ts'))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  writeFileSync(join(directory, 'receiver.ts'), block.text)
  const child = spawn(process.execPath, ['receiver.ts'], {
    cwd: directory,
    env: { PORT: '0', SIGNING_SECRETS: `${OTHER},${SECRET}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill())
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const { value: listening } = await lines.next()
  const port = /port: (\d+)/.exec(listening as string)?.[1]

  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const send = (id: string, attempt: number, text: string, secret = SECRET) => {
    const body = Buffer.from(text)
    const headers = headersOf(id, attempt, body, secret)
    return courier.deliver({ ...deliveryTo(`http://127.0.0.1:${port}/`, { body }), headers })
  }
  assert.equal((await send('first', 1, '{"a":1}')).statusCode, 204)
  assert.equal((await send('first', 2, '{"a":1}')).statusCode, 204)
  assert.equal((await send('second', 1, '{"a":2}', OTHER)).statusCode, 204)
  assert.equal((await lines.next()).value, 'succeeded: {"a":1}')
  assert.equal((await lines.next()).value, 'succeeded: {"a":2}')
  // Or one of ours, while the receiver has not been given the secret yet.
  const stranger = await send('third', 1, '{}', `whsec_${Buffer.alloc(32, 3).toString('base64')}`)
  assert.equal(stranger.statusCode, 401)
  assert.equal(stranger.verdict.result, 'retryable')
  assert.equal(stranger.snippet, 'invalid_signature')
  // Four times `callbacks.blob_size.error`, which is what a failure may be sent as.
  const largest = await send('fourth', 1, 'x'.repeat(4 * 2_097_152))
  assert.equal(largest.statusCode, 204)
  const large = await send('fifth', 1, 'x'.repeat(9_000_000))
  assert.equal(large.verdict.result, 'retryable')
})

test('the page names every header that a request has', () => {
  const page = readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8').toLowerCase()
  for (const name of headersOf('run', 1, Buffer.from('{}'), SECRET).keys())
    assert.ok(page.includes(`\`${name}\``), name)
})
