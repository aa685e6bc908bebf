import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { benchDirectory } from '../bench-directory.ts'
import { type Deliveries, startReceiver } from '../callback-deliveries.ts'
import { callbackData, fillCallbacks, LOCAL } from '../fill-callbacks.ts'
import { loadPost } from '../load.ts'
import { median, type Scenario } from '../scenario.ts'
import { type ServerProcess, start, startProduct, TOKEN } from '../server-process.ts'

const BACKLOG = 100_000
const CONCURRENCY = 100
const CLIENTS = 64
const SECONDS = 10
const SAMPLES = 200
const ENV = { COMMONPLACE_ADMIN_TOKEN: TOKEN, ...LOCAL }
const HEADERS = { authorization: `Bearer ${TOKEN}` }
const LOOP = fileURLToPath(new URL('../callback-loop.ts', import.meta.url))
const YARDSTICK = fileURLToPath(new URL('../yardstick-server.ts', import.meta.url))

export const scenario: Scenario = {
  description: `delivery on SQLite: a backlog of ${BACKLOG}, end to end, and the time to the first byte, against bare POSTs`,
  async run(say) {
    const receiver = await startReceiver()
    const bare: number[] = [await loop(receiver, BACKLOG)]
    say(`bare POSTs: ${Math.round(bare[0] as number)}/s`)
    const backlog = await deliverBacklog(receiver, say)
    bare.push(await loop(receiver, BACKLOG))
    const endToEnd = await deliverStarted(receiver, say)
    bare.push(await loop(receiver, BACKLOG))
    await receiver.stop()
    const latency = await measureLatency(say)
    const yardstick = median(bare)
    return {
      columns: ['what', 'deliveries/s', '% of bare POSTs'],
      rows: [
        [`bare POSTs, ${CONCURRENCY} at a time`, yardstick, 100],
        [`backlog of ${BACKLOG}`, backlog, (100 * backlog) / yardstick],
        [`started by ${CLIENTS} clients meanwhile`, endToEnd, (100 * endToEnd) / yardstick],
      ],
      targets: [
        { name: 'a backlog against bare POSTs', value: (100 * backlog) / yardstick, unit: '%', atLeast: 60 },
        { name: 'end to end against bare POSTs', value: (100 * endToEnd) / yardstick, unit: '%', atLeast: 35 },
        {
          name: 'start to first byte against a route with a durable write, medians',
          value: latency.start / latency.write,
          unit: 'x',
          below: 3,
        },
      ],
      details: { bare, latencyMs: latency, clients: CLIENTS, samples: SAMPLES },
    }
  },
}

async function loop(receiver: Deliveries, count: number): Promise<number> {
  const args = [LOOP, JSON.stringify({ url: receiver.url, concurrency: CONCURRENCY, count })]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  await receiver.reset()
  return Number(stdout)
}

/** From the first delivery until the last result is on disk. */
async function deliverBacklog(receiver: Deliveries, say: (line: string) => void): Promise<number> {
  const directory = benchDirectory()
  await (await startProduct(directory, ENV)).stop()
  say(`starting ${BACKLOG} callbacks`)
  await fillCallbacks(directory, BACKLOG, receiver.url)
  const product = await startProduct(directory, ENV)
  const { firstMs } = await receiver.until(BACKLOG)
  await nothingRuns(product)
  const rate = (BACKLOG / (Date.now() - firstMs)) * 1_000
  await product.stop()
  await receiver.reset()
  say(`backlog: ${Math.round(rate)}/s`)
  return rate
}

async function deliverStarted(receiver: Deliveries, say: (line: string) => void): Promise<number> {
  const product = await startProduct(benchDirectory(), ENV)
  const completion = { success: JSON.parse(callbackData(1)) }
  const callback = { nexus: { url: receiver.url, token: 'token-0123456789' } }
  const load = (seconds: number) =>
    loadPost({
      url: `${product.url}/api/v1/namespaces/default/callbacks/callback-[<id>]`,
      seconds,
      connections: CLIENTS,
      headers: HEADERS,
      body: JSON.stringify({ identity: 'bench', callback, completion }),
    })
  await load(2)
  await nothingRuns(product)
  await receiver.reset()
  const began = Date.now()
  const started = Math.round((await load(SECONDS)) * SECONDS)
  await nothingRuns(product)
  const { count } = await receiver.reset()
  const rate = (count / (Date.now() - began)) * 1_000
  await product.stop()
  say(`end to end: ${Math.round(rate)}/s, ${started} started in ${SECONDS} s`)
  return rate
}

async function nothingRuns({ url }: ServerProcess): Promise<void> {
  const query = encodeURIComponent("ExecutionStatus = 'Running'")
  for (;;) {
    const answer = await fetch(`${url}/namespaces/default/callback-count?query=${query}`, { headers: HEADERS })
    const { count = '0' } = (await answer.json()) as { count?: string }
    if (answer.status !== 200) throw new Error(`count answered ${answer.status}`)
    if (count === '0') return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Medians in milliseconds, one at a time and nothing else going on. */
async function measureLatency(say: (line: string) => void): Promise<{ start: number; write: number }> {
  const arrivals: ((at: number) => void)[] = []
  const receiver = createServer((_request, response) => {
    arrivals.shift()?.(performance.now())
    response.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const directory = benchDirectory()
  const product = await startProduct(directory, ENV)
  const bareDirectory = benchDirectory()
  await (await startProduct(bareDirectory, ENV)).stop()
  const bare = await start([YARDSTICK, bareDirectory], /(http:\S+)/)
  const times = { start: [] as number[], write: [] as number[] }
  const json = { ...HEADERS, 'content-type': 'application/json' }
  for (let n = 0; n < SAMPLES; n++) {
    const arrived = new Promise<number>((resolve) => arrivals.push(resolve))
    const body = { identity: 'bench', callback: { nexus: { url } }, completion: { success: n } }
    const began = performance.now()
    const path = `${product.url}/namespaces/default/callbacks/latency-${n}`
    const answer = await fetch(path, { method: 'POST', headers: json, body: JSON.stringify(body) })
    if (answer.status !== 200) throw new Error(`start answered ${answer.status}: ${await answer.text()}`)
    await answer.text()
    times.start.push((await arrived) - began)
    const wrote = performance.now()
    const payload = JSON.stringify({ payload: JSON.stringify(body) })
    await (await fetch(`${bare.url}/yardstick`, { method: 'POST', headers: json, body: payload })).text()
    times.write.push(performance.now() - wrote)
  }
  await Promise.all([product.stop(), bare.stop()])
  receiver.close()
  const medians = { start: median(times.start), write: median(times.write) }
  say(`start to first byte ${medians.start.toFixed(2)} ms, a durable write ${medians.write.toFixed(2)} ms`)
  return medians
}
