/** The program of the thread that searches vectors. It reads the database over a connection of its own. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { isConnectionLost } from '../../../platform/storage/storage-errors.ts'
import { NearTableKeeper } from './near-table-keeper.ts'
import { NearTable } from './store-near-table.ts'
import { connectVectors } from './store-vector-connection.ts'
import { VectorSource } from './store-vector-source.ts'
import { VectorKeeper } from './vector-keeper.ts'
import type { FromVectorThread, ToVectorThread, VectorThreadOptions } from './vector-thread.ts'

const port = parentPort as MessagePort
const { place, maxBytes } = workerData as VectorThreadOptions
const connection = connectVectors(place)
const source = new VectorSource(connection)
const memory = new VectorKeeper(source, maxBytes)
let opening: Promise<VectorKeeper | NearTableKeeper> | undefined

class GivenUp extends Error {}

port.on('message', (message: ToVectorThread) => {
  if (message.type === 'nearest') void answer(message)
  else void stop()
})

async function answer({ id, question, givenUp }: ToVectorThread & { type: 'nearest' }): Promise<void> {
  const mayGoOn = () => {
    if (Atomics.load(givenUp, 0) !== 0) throw new GivenUp()
  }
  try {
    post({ type: 'found', id, chunks: await (await keeper()).nearest(question, mayGoOn) })
  } catch (error) {
    if (error instanceof GivenUp) post({ type: 'given up', id })
    else post({ type: 'failed', id, reason: errorOf(error) })
  }
}

function keeper(): Promise<VectorKeeper | NearTableKeeper> {
  opening ??= openKeeper()
  return opening
}

/** What cannot be had from an extension of the database is had from memory. */
async function openKeeper(): Promise<VectorKeeper | NearTableKeeper> {
  try {
    const table = await NearTable.open(connection)
    return table === null ? memory : new NearTableKeeper({ source, table, memory, onTrouble })
  } catch (error) {
    onTrouble(error)
    // Nobody refused anything: the next question asks once more.
    if (isConnectionLost(error)) opening = undefined
    return memory
  }
}

function onTrouble(error: unknown): void {
  post({ type: 'trouble', reason: errorOf(error) })
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

async function stop(): Promise<void> {
  const opened = await opening
  if (opened instanceof NearTableKeeper) await opened.close()
  await connection.close()
  port.close()
}

function post(message: FromVectorThread): void {
  port.postMessage(message)
}
