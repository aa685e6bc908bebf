// The yardstick of delivery: POSTs with nothing around them, as fast as they are answered. Prints how many per second.
import { Pool } from 'undici'
import { callbackData } from './fill-callbacks.ts'

const { url, concurrency, count } = JSON.parse(process.argv[2] as string) as {
  url: string
  concurrency: number
  count: number
}
const pool = new Pool(url, { connections: concurrency })
const body = Buffer.from(callbackData(0))
// As many bytes as an attempt has.
const headers = {
  'content-type': 'application/json',
  'user-agent': 'yardstick',
  'nexus-operation-state': 'succeeded',
  'nexus-operation-start-time': 'Tue, 15 Nov 1994 08:12:31 GMT',
  'nexus-operation-close-time': '1994-11-15T08:12:31.123456Z',
  'temporal-callback-token': 'token-0123456789',
  'webhook-id': '0190c0de-0000-7000-8000-000000000000',
  'webhook-timestamp': '784887151',
  'webhook-attempt': '1',
}
let next = 0
async function work(): Promise<void> {
  while (next < count) {
    next++
    const answer = await pool.request({ path: '/', method: 'POST', headers, body })
    if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`)
    await answer.body.dump()
  }
}
const began = performance.now()
await Promise.all(Array.from({ length: concurrency }, work))
console.log((count / (performance.now() - began)) * 1_000)
await pool.close()
