import { join } from 'node:path'
import { createDatabase } from '../../test/support/postgres-database.ts'
import { benchDirectory } from '../bench-directory.ts'
import { median, type Scenario } from '../scenario.ts'
import { residentMb, type ServerProcess, startProduct, TOKEN } from '../server-process.ts'
import { fillPostgres, fillSqlite, roleId, userId } from '../users-data.ts'

interface Plan {
  engine: 'SQLite' | 'PostgreSQL'
  few: number
  many: number
  rounds: number
}

const PLANS: Plan[] = [
  { engine: 'SQLite', few: 10_000, many: 1_000_000, rounds: 200 },
  // For comparison only: fewer users and rounds, so that it ends within minutes.
  { engine: 'PostgreSQL', few: 10_000, many: 200_000, rounds: 40 },
]
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
  'two roles': `filter[role]=${roleId(0)},${roleId(7)}`,
  'text, rare': 'filter=bacedi.123',
  'text, of a fortieth': 'filter=gufo&sort=email',
  'text, of everybody': 'filter=example.org',
  'text, of half': 'filter=7&sort=-created_at',
  'text, two characters': 'filter=xo',
  'text and status': 'filter=gufo&filter[status]=Active',
  'text and role': `filter=gufo&filter[role]=${roleId(0)}`,
}
const PAGE_SIZE = 100
const DEEPEST = 99
const COLUMNS = [
  'engine',
  'list',
  'page',
  'few p50 ms',
  'many p50 ms',
  'few p99 ms',
  'many p99 ms',
  'p99 ratio',
  'many first ms',
]

export const scenario: Scenario = {
  description: 'GET /users with a million users against ten thousand: every sort and filter, first and last page',
  async run(say) {
    const rows: (string | number)[][] = []
    const memory: Record<string, unknown> = {}
    for (const plan of PLANS) {
      const few = await serverWith(plan, plan.few, say)
      const many = await serverWith(plan, plan.many, say)
      const before = { few: residentMb(few), many: residentMb(many) }
      for (const [name, query] of Object.entries(QUERIES)) {
        for (const row of await measure(plan, { few, many }, query)) {
          rows.push([plan.engine, name, ...row])
          say(`${plan.engine}, ${name}, page ${row[0]}: ${row.slice(1).map(milliseconds).join(', ')}`)
        }
      }
      memory[plan.engine] = { beforeMb: before, afterMb: { few: residentMb(few), many: residentMb(many) } }
      await Promise.all([few.stop(), many.stop()])
    }
    const { afterMb } = memory.SQLite as { afterMb: { few: number; many: number } }
    return {
      columns: COLUMNS,
      rows,
      targets: [
        {
          name: 'worst p99 against that of ten thousand users, SQLite',
          value: Math.max(...rows.filter((row) => row[0] === 'SQLite').map((row) => row[7] as number)),
          unit: 'x',
          below: 3,
        },
        {
          name: 'worst median of the larger table, PostgreSQL',
          value: Math.max(...rows.filter((row) => row[0] === 'PostgreSQL').map((row) => row[4] as number)),
          unit: 'ms',
          below: 50,
        },
        {
          // The runtime lets young objects take up to 128 MB before it tidies up, so two equal servers differ by as much.
          name: 'memory of the server with a million users beyond that of the other, SQLite',
          value: afterMb.many - afterMb.few,
          unit: 'MB',
          below: 128,
        },
      ],
      details: {
        plans: PLANS,
        pageSize: PAGE_SIZE,
        memory,
        // What nobody asked for before has to be looked up; p99 of two hundred rounds leaves it out.
        rounds: 'The first time that a list is asked for is one of the rounds; one user is changed before each round.',
      },
    }
  },
}

/** Figures of the first and of the last page. */
async function measure(
  { rounds }: Plan,
  { few, many }: { few: ServerProcess; many: ServerProcess },
  query: string,
): Promise<number[][]> {
  const first = await timed(() => countOf(many, query))
  // A full one: a page of two users would be compared with a page of a hundred.
  const last = Math.min(DEEPEST, Math.floor((await countOf(few, query)) / PAGE_SIZE) - 1)
  const rows: number[][] = []
  for (const page of new Set([0, Math.max(0, last)])) {
    const path = `/api/v2/users?page[size]=${PAGE_SIZE}&page[number]=${page}&${query}`
    const times = { few: [] as number[], many: page === 0 ? [first.ms] : [] }
    let firstMs = page === 0 ? first.ms : 0
    // Turn by turn, so that a noisy moment meets both.
    for (let round = 0; round < rounds; round++) {
      await Promise.all([change(few, round), change(many, round)])
      times.few.push((await timed(() => get(few, path))).ms)
      const { ms } = await timed(() => get(many, path))
      times.many.push(ms)
      if (round === 0) firstMs = Math.max(firstMs, ms)
    }
    const [fewP99, manyP99] = [p99(times.few), p99(times.many)]
    rows.push([page, median(times.few), median(times.many), fewP99, manyP99, manyP99 / fewP99, firstMs])
  }
  return rows
}

async function serverWith({ engine }: Plan, users: number, say: (line: string) => void): Promise<ServerProcess> {
  const dataDir = benchDirectory()
  const database = engine === 'PostgreSQL' ? await createDatabase({ migrated: false }) : undefined
  const env = {
    COMMONPLACE_ADMIN_TOKEN: TOKEN,
    COMMONPLACE_USERS__RATE_LIMITS: '{}',
    ...(database === undefined ? {} : { COMMONPLACE_DATABASE_URL: database.url }),
  }
  await (await startProduct(dataDir, env)).stop()
  say(`making ${users} users`)
  if (database === undefined) await fillSqlite(join(dataDir, 'commonplace.db'), users)
  else await fillPostgres(database.url, users)
  return startProduct(dataDir, env)
}

/** So that nothing is answered only because it was remembered. */
async function change({ url }: ServerProcess, round: number): Promise<void> {
  const id = userId(100 + (round % 50))
  const body = JSON.stringify({ data: { type: 'users', id, attributes: { name: `Gufo ${round}` } } })
  const headers = { ...HEADERS, 'content-type': 'application/json' }
  await answered(await fetch(`${url}/api/v2/users/${id}`, { method: 'PATCH', headers, body }))
}

async function countOf({ url }: ServerProcess, query: string): Promise<number> {
  const answer = await answered(await fetch(`${url}/api/v2/users?page[size]=1&${query}`, { headers: HEADERS }))
  const { meta } = JSON.parse(answer) as { meta: { page: { total_filtered_count: number } } }
  return meta.page.total_filtered_count
}

async function get({ url }: ServerProcess, path: string): Promise<void> {
  await answered(await fetch(url + path, { headers: HEADERS }))
}

async function answered(response: Response): Promise<string> {
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.url} answered ${response.status}: ${text}`)
  return text
}

async function timed(work: () => Promise<unknown>): Promise<{ ms: number }> {
  const began = performance.now()
  await work()
  return { ms: performance.now() - began }
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] as number
}

function milliseconds(value: number): string {
  return value.toFixed(1)
}
