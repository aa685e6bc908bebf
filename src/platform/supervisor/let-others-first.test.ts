import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

const FILE = new URL('./let-others-first.ts', import.meta.url).href

// In a thread: it has a priority of its own, and this process keeps what it has.
const PROGRAM = `
  const { getPriority, setPriority } = require('node:os')
  const { parentPort, workerData } = require('node:worker_threads')
  import(workerData.file).then(({ letOthersFirst }) => {
    if (workerData.niceness > getPriority()) setPriority(workerData.niceness)
    const before = getPriority()
    letOthersFirst()
    parentPort.postMessage({ before, after: getPriority() })
  })`

test('a thread lets others go first however nice the process is, and asks for nothing that only root may have', {
  skip: process.platform !== 'linux' && 'only Linux knows priorities of threads',
}, async () => {
  for (const niceness of [0, 10, 17, 19]) {
    const thread = new Worker(PROGRAM, { eval: true, workerData: { file: FILE, niceness } })
    const [{ before, after }] = await once(thread, 'message')
    assert.equal(after, Math.min(before + 5, 19))
  }
})
