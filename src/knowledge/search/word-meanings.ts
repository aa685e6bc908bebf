import { readFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Clock, sleep } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Worker } from '../../platform/supervisor/supervisor.ts'
import { readModelFile } from '../semantic/builtin/model-file.ts'
import { createTokenMeaning, type TokenMeaning } from './rank/token-meaning.ts'

// Where builtin-model.ts has it; in a bundle it lies beside the program.
const FILE = import.meta.url.endsWith('.ts') ? '../semantic/builtin/model.bin' : './builtin-model.bin'
// A server that starts has other things to do first.
const LOAD_AFTER_MS = 3_000

let loading: Promise<TokenMeaning> | undefined

/** One for the whole process. Whoever asks first waits for the disk; nobody else does. */
export function loadWordMeanings(): Promise<TokenMeaning> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

/** What is loaded is read, checked and arranged in three steps; requests have their turn between them. */
async function load(): Promise<TokenMeaning> {
  const path = fileURLToPath(new URL(FILE, import.meta.url))
  const bytes = await readFile(path)
  await nextTurn()
  const table = readModelFile(bytes, path)
  await nextTurn()
  return createTokenMeaning(table)
}

/** Loads them soon after the start, so that no search has to. */
export function wordMeaningsLoader({ clock, log }: { clock: Clock; log: Logger }): Worker {
  return {
    name: 'word meanings',
    async run(signal) {
      try {
        await sleep(clock, LOAD_AFTER_MS, signal)
        await loadWordMeanings()
      } catch (error) {
        if (!signal.aborted)
          log.warn({ err: error }, 'the meanings of words cannot be loaded: searches rank without them')
      }
    },
  }
}
