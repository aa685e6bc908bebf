import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createScan, createScanMemory, PAGE, ROW_STEP } from '../src/knowledge/semantic/search/scan-kernel.ts'
import { insertVectors, recordEmbeddings } from '../src/knowledge/semantic/sync/store-vectors.ts'
import { encodeVector } from '../src/knowledge/semantic/vector-bytes.ts'
import { SystemClock } from '../src/platform/clock/clock.ts'
import { createLogger } from '../src/platform/logging/logger.ts'
import { migrate } from '../src/platform/storage/migrate.ts'
import { openDatabase } from '../src/platform/storage/open.ts'
import type { AskedVectors } from './ask-vectors.ts'
import { benchDirectory } from './bench-directory.ts'
import { randomDirection } from './random-direction.ts'
import { type Measurement, percentile } from './scenario.ts'

const DIMENSIONS = 256
const K = 100
const QUESTIONS = 200
const NOTES_AT_ONCE = 2_000
const CHUNKS_OF_A_NOTE = 5
const KEY = { projectId: 1, modelId: 1 }
const ASK = fileURLToPath(new URL('ask-vectors.ts', import.meta.url))

/** Asks for the nearest among so many chunks, and scans as many rows with nothing around it. */
export async function vectorFigures(chunks: number, say: (line: string) => void): Promise<Measurement> {
  const dataDir = benchDirectory()
  say(`filling ${chunks} chunks`)
  await fill(dataDir, chunks)
  say('scanning')
  const bare = bareScans(chunks)
  say('asking')
  const asked = await ask(dataDir)
  const [p95, bareP95] = [percentile(asked.timesMs, 95), percentile(bare.timesMs, 95)]
  const isLarge = chunks >= 1_000_000
  return {
    columns: ['what', 'p50 ms', 'p95 ms', 'CPU ms'],
    rows: [
      ['bare scan', percentile(bare.timesMs, 50), bareP95, bare.cpuMs],
      [`nearest ${K}`, percentile(asked.timesMs, 50), p95, asked.cpuMs],
      ['first question, reads all', asked.firstMs, asked.firstMs, null],
    ],
    targets: [
      { name: 'search against a bare scan, p95', value: p95 / bareP95, unit: 'x', below: isLarge ? 2 : 4 },
      { name: 'memory', value: asked.memoryMib, unit: 'MiB', below: isLarge ? 600 : 150 },
      ...(isLarge ? [{ name: 'search, p95', value: p95, unit: 'ms', below: 60 }] : []),
    ],
    details: {
      chunks,
      dimensions: DIMENSIONS,
      longestWaitOfTheEventLoopMs: asked.longestWaitOfTheEventLoopMs,
    },
  }
}

async function ask(dataDir: string): Promise<AskedVectors> {
  const values = [ASK, dataDir, DIMENSIONS, K, QUESTIONS].map(String)
  const { stdout } = await promisify(execFile)(process.execPath, values, { maxBuffer: 10_000_000 })
  return JSON.parse(stdout) as AskedVectors
}

async function fill(dataDir: string, chunks: number): Promise<void> {
  const clock = new SystemClock()
  const log = createLogger({ level: 'error', format: 'json' })
  await using db = await openDatabase({ dataDir, clock, log })
  await migrate(db, { clock, log })
  await db.write((tx) =>
    tx.query
      .insertInto('project_embeddings')
      .values({ project_id: 1, model_id: 1, change_seq: 1, completed_at: 1, last_error: null, lease_owner: null })
      .execute()
      .then(() => {}),
  )
  const notes = chunks / CHUNKS_OF_A_NOTE
  for (let from = 1; from <= notes; from += NOTES_AT_ONCE) {
    const noteIds = Array.from({ length: Math.min(NOTES_AT_ONCE, notes - from + 1) }, (_, at) => from + at)
    const rows = noteIds.flatMap((noteId) =>
      Array.from({ length: CHUNKS_OF_A_NOTE }, (_, number) => ({
        ...{ noteId, kind: 0, position: 0, number, hash: HASH, start: 0, end: 500 },
        vector: encodeVector(randomDirection(DIMENSIONS)),
      })),
    )
    await db.write(
      async (tx) => {
        await insertVectors(tx, KEY, rows)
        const embedded = noteIds.map((noteId) => ({ noteId, seq: 1, chunks: CHUNKS_OF_A_NOTE, fingerprint: HASH }))
        await recordEmbeddings(tx, KEY, embedded)
      },
      { alone: true },
    )
  }
}

const HASH = 'a'.repeat(64)

/** The same kernel over the same number of rows in one piece, nothing kept of what it finds. */
function bareScans(chunks: number): { timesMs: number[]; cpuMs: number } {
  const count = Math.ceil(chunks / ROW_STEP) * ROW_STEP
  const [rowsAt, factorsAt] = [PAGE, PAGE + count * DIMENSIONS]
  const memory = createScanMemory(Math.ceil((factorsAt + 4 * count) / PAGE))
  const rows = new Int8Array(memory.buffer, rowsAt, count * DIMENSIONS)
  for (let at = 0; at < rows.length; at++) rows[at] = at * 31
  const apart = count / ROW_STEP
  const scan = createScan(memory, DIMENSIONS, { apart })
  const timesMs: number[] = []
  const cpu = process.cpuUsage()
  for (let i = 0; i < QUESTIONS; i++) {
    const start = performance.now()
    scan(rowsAt, rowsAt + apart * DIMENSIONS, factorsAt, 0, DIMENSIONS * 2, 1, 0)
    timesMs.push(performance.now() - start)
  }
  const { user, system } = process.cpuUsage(cpu)
  return { timesMs, cpuMs: (user + system) / 1_000 / QUESTIONS }
}
