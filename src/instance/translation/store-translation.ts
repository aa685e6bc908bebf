import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import '../tables.ts'
import type { TranslationLanguages } from './languages.ts'

export interface TranslationList {
  languages: TranslationLanguages
  fetchedAt: Micros
}

export async function readTranslationList(reader: Reader, providerKey: string): Promise<TranslationList | undefined> {
  const row = await reader.query
    .selectFrom('translation_lists')
    .select(['languages', 'fetched_at'])
    .where('provider_key', '=', providerKey)
    .executeTakeFirst()
  return row && { languages: JSON.parse(row.languages), fetchedAt: row.fetched_at }
}

/** Lists of providers as they were asked before are dropped. */
export async function keepTranslationList(tx: Transaction, providerKey: string, list: TranslationList): Promise<void> {
  await tx.query.deleteFrom('translation_lists').execute()
  await tx.query
    .insertInto('translation_lists')
    .values({ provider_key: providerKey, languages: JSON.stringify(list.languages), fetched_at: list.fetchedAt })
    .execute()
}
