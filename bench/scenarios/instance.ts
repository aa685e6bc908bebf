import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { benchDirectory } from '../bench-directory.ts'
import { median, type Scenario } from '../scenario.ts'
import { type ServerProcess, start, startProduct, TOKEN } from '../server-process.ts'

const ROUNDS = 4
const SECONDS = 3
const CONNECTIONS = 64
const PEERS = 50_000
const RULES = 20
/** One after the other over a few connections: how long an answer takes, not how many a client can read. */
const LATENCY = { requests: 2_000, connections: 2 }
// The limits count as they do for everybody; they are only never reached.
const ENV = {
  COMMONPLACE_ADMIN_TOKEN: TOKEN,
  COMMONPLACE_INSTANCE__RATE_LIMITS__PER_IP: '1000000000',
  COMMONPLACE_INSTANCE__RATE_LIMITS__WINDOW_SECONDS: '86400',
}

interface Case {
  name: string
  path: string
  headers?: Record<string, string>
  /** Only reported where no target is set for it. */
  isTarget: boolean
}

const CASES: Case[] = [
  { name: 'v2', path: '/api/v2/instance', isTarget: true },
  { name: 'rules', path: '/api/v1/instance/rules', isTarget: true },
  { name: 'peers', path: '/api/v1/instance/peers', isTarget: true },
  { name: 'peers, br', path: '/api/v1/instance/peers', headers: { 'accept-encoding': 'br' }, isTarget: false },
]

export const scenario: Scenario = {
  description: `GET of the instance, its rules and ${PEERS} peers against bare node:http with the same bytes; 304; latency`,
  async run(say) {
    const directory = benchDirectory()
    const product = await startFilled(directory)
    const rows: (string | number)[][] = []
    const targets = []
    for (const one of CASES) {
      const { ours, theirs, bytes } = await compare(product, directory, one, say)
      const share = median(ours.map((our, round) => (100 * our) / (theirs[round] as number)))
      rows.push([one.name, bytes, median(theirs), median(ours), share])
      if (one.isTarget)
        targets.push({ name: `${one.name}, share of bare node:http`, value: share, unit: '%', atLeast: 80 })
    }
    const known = await compareKnown(product, say)
    rows.push(['v2, 304 against 200', 0, median(known.whole), median(known.unchanged), known.share])
    targets.push({ name: '304, share of 200', value: known.share, unit: '%', atLeast: 100 })
    for (const coding of ['identity', 'br']) {
      const { ours, theirs } = await compareLatency(product, directory, coding)
      rows.push([`peers, ${coding}: p99 ms`, 0, theirs, ours, (100 * theirs) / ours])
      targets.push({ name: `peers ${coding}, p99`, value: ours, unit: 'ms', below: 20 })
    }
    await product.stop()
    return { columns: ['what', 'bytes', 'bare requests/s', 'requests/s', '% of bare'], rows, targets }
  },
}

/** The first start makes the database, the second one finds it filled. */
async function startFilled(directory: string): Promise<ServerProcess> {
  await (await startProduct(directory, ENV)).stop()
  const db = new DatabaseSync(join(directory, 'commonplace.db'))
  db.exec('begin')
  const peer = db.prepare('insert into declared_peers (domain, created_at) values (?, 0)')
  for (let i = 0; i < PEERS; i++) peer.run(`social-${(i * 7919) % PEERS}.town-${i % 97}.org`)
  const rule = db.prepare(
    "insert into instance_rules (text, hint, priority, translations, created_at, modified_at) values (?, ?, ?, '{}', 0, 0)",
  )
  for (let i = 0; i < RULES; i++) rule.run(`Rule ${i}: be kind to one another`, 'Whatever the subject is.', i)
  db.exec('commit')
  db.close()
  return startProduct(directory, ENV)
}

async function compare(
  product: ServerProcess,
  directory: string,
  { name, path, headers = {} }: Case,
  say: (line: string) => void,
) {
  const answer = await capture(product.url + path, headers)
  const bare = await startBare(answer, directory)
  const ours: number[] = []
  const theirs: number[] = []
  // The first round only warms both up.
  for (let round = 0; round <= ROUNDS; round++) {
    const seconds = round === 0 ? 1 : SECONDS
    const our = await load(product.url + path, { seconds, headers })
    const their = await load(bare.url + path, { seconds, headers })
    if (round === 0) continue
    ours.push(our.perSecond)
    theirs.push(their.perSecond)
    say(
      `${name}, round ${round} of ${ROUNDS}: ${Math.round(our.perSecond)} against ${Math.round(their.perSecond)} requests/s`,
    )
  }
  await bare.stop()
  return { ours, theirs, bytes: answer.body.length }
}

function startBare(answer: Answer, directory: string): Promise<ServerProcess> {
  const file = join(directory, 'answer.json')
  writeFileSync(file, JSON.stringify({ ...answer, body: answer.body.toString('base64'), encoding: 'base64' }))
  return start([fileURLToPath(new URL('../bare-server.ts', import.meta.url)), '', file], /(http:\S+)/)
}

/** The same document to callers who have it and to callers who do not. */
async function compareKnown(product: ServerProcess, say: (line: string) => void) {
  const url = `${product.url}/api/v2/instance`
  const { headers } = await capture(url, {})
  const etag = headers[headers.indexOf('etag') + 1] as string
  const whole: number[] = []
  const unchanged: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const seconds = round === 0 ? 1 : SECONDS
    const all = await load(url, { seconds, headers: {} })
    const none = await load(url, { seconds, headers: { 'if-none-match': etag }, isUnchanged: true })
    if (round === 0) continue
    whole.push(all.perSecond)
    unchanged.push(none.perSecond)
    say(
      `304, round ${round} of ${ROUNDS}: ${Math.round(none.perSecond)} against ${Math.round(all.perSecond)} requests/s`,
    )
  }
  const share = median(unchanged.map((one, round) => (100 * one) / (whole[round] as number)))
  return { whole, unchanged, share }
}

/** What a machine with other work to do takes is in both figures. */
async function compareLatency(product: ServerProcess, directory: string, coding: string) {
  const path = '/api/v1/instance/peers'
  const bare = await startBare(await capture(product.url + path, { 'accept-encoding': coding }), directory)
  const ours = await p99(product.url + path, coding)
  const theirs = await p99(bare.url + path, coding)
  await bare.stop()
  return { ours, theirs }
}

/** From the request to the last byte. */
async function p99(url: string, coding: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: LATENCY.connections })
  const times: number[] = []
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const began = performance.now()
      request(url, { agent, headers: { 'accept-encoding': coding } }, (response) => {
        response.resume().once('end', () => {
          times.push(performance.now() - began)
          resolve()
        })
      })
        .once('error', reject)
        .end()
    })
  const some = Array.from({ length: LATENCY.connections }, async () => {
    while (times.length < LATENCY.requests) await ask()
  })
  await Promise.all(some)
  agent.destroy()
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] as number
}

interface Answer {
  headers: string[]
  body: Buffer
}

/** What the server sends, without what node:http adds by itself. */
function capture(url: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('end', () => {
        const { rawHeaders } = response
        const own: string[] = []
        for (let i = 0; i < rawHeaders.length; i += 2) {
          const [name, value] = rawHeaders.slice(i, i + 2) as [string, string]
          if (!/^(date|connection|keep-alive|transfer-encoding)$/i.test(name)) own.push(name, value)
        }
        resolve({ headers: own, body: Buffer.concat(chunks) })
      })
    })
      .once('error', reject)
      .end()
  })
}

interface Load {
  seconds: number
  headers: Record<string, string>
  isUnchanged?: boolean
}

/** From a process of its own; any error or other status makes the figures worthless. */
async function load(url: string, { seconds, headers, isUnchanged }: Load) {
  const autocannon = createRequire(import.meta.url).resolve('autocannon/autocannon.js')
  const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`])
  const args = [autocannon, '-c', String(CONNECTIONS), '-d', String(seconds), ...sent, '--json', url]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 10_000_000 })
  const result = JSON.parse(stdout) as Result
  const bad = isUnchanged ? result['2xx'] + result['4xx'] + result['5xx'] : result.non2xx
  if (result.errors > 0 || bad > 0 || result.requests.average === 0) {
    throw new Error(`${url} failed under load: ${result.errors} errors, ${bad} other answers`)
  }
  return { perSecond: result.requests.average }
}

interface Result {
  requests: { average: number }
  errors: number
  non2xx: number
  '2xx': number
  '4xx': number
  '5xx': number
}
