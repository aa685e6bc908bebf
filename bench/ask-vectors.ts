// Asks for the nearest vectors of project 1 in a process of its own, so that its memory is that of the search:
// node bench/ask-vectors.ts <data directory> <dimensions> <k> <questions>
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openVectorSearch } from '../src/knowledge/semantic/search/open-vector-search.ts'
import { SystemClock } from '../src/platform/clock/clock.ts'
import { createLogger } from '../src/platform/logging/logger.ts'
import { openDatabase } from '../src/platform/storage/open.ts'
import { randomDirection } from './random-direction.ts'

export interface AskedVectors {
  firstMs: number
  timesMs: number[]
  /** Of all threads together, for one question. */
  cpuMs: number
  memoryMib: number
  longestWaitOfTheEventLoopMs: number
}

const MIB = 1_048_576
const MEMORY = 512 * MIB

const [dataDir = '', dimensions, k, questions] = process.argv.slice(2)
const clock = new SystemClock()
const log = createLogger({ level: 'error', format: 'json' })
await using db = await openDatabase({ dataDir, clock, log })
await using search = openVectorSearch({ db, clock, log, settings: { vector_memory_bytes: MEMORY } })
const before = process.memoryUsage().rss
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const firstMs = await ask()
const cpu = process.cpuUsage()
const timesMs: number[] = []
for (let i = 0; i < Number(questions); i++) timesMs.push(await ask())
const { user, system } = process.cpuUsage(cpu)
delay.disable()
const asked: AskedVectors = {
  firstMs,
  timesMs,
  cpuMs: (user + system) / 1_000 / timesMs.length,
  memoryMib: (process.memoryUsage().rss - before) / MIB,
  longestWaitOfTheEventLoopMs: delay.max / 1e6,
}
console.log(JSON.stringify(asked))

async function ask(): Promise<number> {
  const start = performance.now()
  await search.nearest({ projectId: 1, modelId: 1, vector: randomDirection(Number(dimensions)), k: Number(k) })
  return performance.now() - start
}
