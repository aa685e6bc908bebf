import { setImmediate as nextTurn } from 'node:timers/promises'
import { BuiltinModel } from '../../semantic/builtin/builtin-model.ts'
import { createTokenMeaning, type TokenMeaning } from '../rank/token-meaning.ts'

let loading: Promise<TokenMeaning> | undefined

/**
 * One for the whole process, from the first question on: not every server is asked. Whoever asks first waits for the disk; nobody
 * else does.
 */
export function loadWordMeanings(): Promise<TokenMeaning> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

/** What is loaded is read, checked and arranged in three steps; requests have their turn between them. */
async function load(): Promise<TokenMeaning> {
  const table = await BuiltinModel.loadTable()
  await nextTurn()
  return createTokenMeaning(table)
}
