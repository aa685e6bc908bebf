import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchDirectory } from '../bench-directory.ts'
import { median, type Scenario } from '../scenario.ts'
import { type ServerProcess, startProduct } from '../server-process.ts'
import { fillSqlite, roleId } from '../users-data.ts'

const SIZES = { few: 10_000, many: 1_000_000 }
const ROUNDS = 40
const TOKEN = 'bench-administrator-token-0123456789abcdef'
const HEADERS = { authorization: `Bearer ${TOKEN}` }
const SORTS = ['name', 'email', 'handle', 'title', 'status', 'created_at', 'modified_at', 'last_login_time']

/** What is asked for, in pages of 100: the first, and the last that ten thousand users fill, which is the hundredth at most. */
const QUERIES: Record<string, string> = {
  ...Object.fromEntries(SORTS.map((sort) => [`sort ${sort}`, `sort=${sort}`])),
  'sort -name': 'sort=-name',
  'status Disabled': 'filter[status]=Disabled',
  'two statuses': 'filter[status]=Active,Pending&sort=email',
  'service accounts': 'filter[service_account]=true',
  'large role': `filter[role]=${roleId(0)}`,
  'small role': `filter[role]=${roleId(7)}`,
  'text, rare': 'filter=bacedi.123',
  'text, common': 'filter=example.org',
  'text and status': 'filter=gufo&filter[status]=Active',
}
const PAGE_SIZE = 100
const DEEPEST = 99

export const scenario: Scenario = {
  description: `GET /users with ${SIZES.many} users against ${SIZES.few}: every sort and filter, first and last page`,
  async run(say) {
    const few = await serverWith(SIZES.few, say)
    const many = await serverWith(SIZES.many, say)
    const before = rssOf(many)
    const rows: (string | number)[][] = []
    for (const [name, query] of Object.entries(QUERIES)) {
      const last = Math.min(DEEPEST, Math.ceil((await countOf(few, query)) / PAGE_SIZE) - 1)
      for (const page of new Set([0, Math.max(0, last)])) {
        const path = `/api/v2/users?page[size]=${PAGE_SIZE}&page[number]=${page}&${query}`
        const times = { few: [] as number[], many: [] as number[] }
        // Turn by turn, so that a noisy moment meets both.
        for (let round = 0; round < ROUNDS; round++) {
          times.few.push(await timeOf(few, path))
          times.many.push(await timeOf(many, path))
        }
        const [fewP99, manyP99] = [p99(times.few), p99(times.many)]
        rows.push([name, page, median(times.few), median(times.many), fewP99, manyP99, manyP99 / fewP99])
        say(`${name}, page ${page}: ${fewP99.toFixed(1)} against ${manyP99.toFixed(1)} ms`)
      }
    }
    const grownMb = (rssOf(many) - before) / 1e6
    await Promise.all([few.stop(), many.stop()])
    const worst = Math.max(...rows.map((row) => row.at(-1) as number))
    return {
      columns: ['list', 'page', 'few p50 ms', 'many p50 ms', 'few p99 ms', 'many p99 ms', 'p99 ratio'],
      rows,
      targets: [{ name: 'worst p99 against that of ten thousand users', value: worst, unit: 'x', below: 3 }],
      details: { sizes: SIZES, rounds: ROUNDS, memoryGrownMb: grownMb },
    }
  },
}

async function serverWith(users: number, say: (line: string) => void): Promise<ServerProcess> {
  const dataDir = benchDirectory()
  const env = { COMMONPLACE_ADMIN_TOKEN: TOKEN, COMMONPLACE_USERS__RATE_LIMITS: '{}' }
  await (await startProduct(dataDir, env)).stop()
  say(`making ${users} users`)
  await fillSqlite(join(dataDir, 'commonplace.db'), users)
  return startProduct(dataDir, env)
}

async function countOf({ url }: ServerProcess, query: string): Promise<number> {
  const response = await fetch(`${url}/api/v2/users?page[size]=1&${query}`, { headers: HEADERS })
  const { meta } = (await response.json()) as { meta: { page: { total_filtered_count: number } } }
  return meta.page.total_filtered_count
}

async function timeOf({ url }: ServerProcess, path: string): Promise<number> {
  const began = performance.now()
  const response = await fetch(url + path, { headers: HEADERS })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
  return performance.now() - began
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] as number
}

function rssOf({ child }: ServerProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
}
