import { readFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readModelFile } from '../semantic/builtin/model-file.ts'
import { createTokenMeaning, type TokenMeaning } from './rank/token-meaning.ts'

// Where builtin-model.ts has it; in a bundle it lies beside the program.
const FILE = import.meta.url.endsWith('.ts') ? '../semantic/builtin/model.bin' : './builtin-model.bin'

let loading: Promise<TokenMeaning> | undefined

/** One for the whole process, from the first question on: not every server is asked. Whoever asks first waits for the disk; nobody else does. */
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
