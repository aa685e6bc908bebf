import type { Selectable } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { PublishedTerms } from '../public/instance-data.ts'
import type { InstanceTermsTable } from '../tables.ts'
import type { Dated, Terms } from './terms.ts'

/** Drafts too, the newest first. */
export async function listTerms(reader: Reader): Promise<Terms[]> {
  const rows = await reader.query.selectFrom('instance_terms').selectAll().orderBy('id', 'desc').execute()
  return rows.map(toTerms)
}

/** Of all versions, without their texts. */
export async function countTerms(reader: Reader): Promise<number> {
  const { count } = await reader.query
    .selectFrom('instance_terms')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Of published versions, without their texts. */
export async function readEffectiveDates(reader: Reader): Promise<Dated[]> {
  const rows = await reader.query
    .selectFrom('instance_terms')
    .select('effective_date')
    .where('published_at', 'is not', null)
    .execute()
  return rows.map((row) => ({ effectiveDate: row.effective_date as string }))
}

/** Published versions, the earliest effective date first. */
export async function readTerms(reader: Reader): Promise<PublishedTerms[]> {
  const rows = await reader.query
    .selectFrom('instance_terms')
    .select(['text', 'updated_at', 'effective_date'])
    .where('published_at', 'is not', null)
    .orderBy('effective_date')
    .execute()
  return rows.map((row) => ({
    text: row.text,
    updatedAt: row.updated_at,
    effectiveDate: row.effective_date as string,
  }))
}

export async function findTerms(reader: Reader, id: number): Promise<Terms | undefined> {
  const row = await reader.query.selectFrom('instance_terms').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toTerms(row)
}

export async function insertTerms(tx: Transaction, terms: Omit<Terms, 'id'>): Promise<Terms> {
  const { id } = await tx.query
    .insertInto('instance_terms')
    .values({ ...columnsOf(terms), created_at: terms.updatedAt })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...terms, id }
}

export async function updateTerms(tx: Transaction, terms: Terms): Promise<void> {
  await tx.query.updateTable('instance_terms').set(columnsOf(terms)).where('id', '=', terms.id).execute()
}

export async function deleteTerms(tx: Transaction, id: number): Promise<void> {
  await tx.query.deleteFrom('instance_terms').where('id', '=', id).execute()
}

function columnsOf({ text, changelog, effectiveDate, publishedAt, updatedAt }: Omit<Terms, 'id'>) {
  return { text, changelog, effective_date: effectiveDate, published_at: publishedAt, updated_at: updatedAt }
}

function toTerms(row: Selectable<InstanceTermsTable>): Terms {
  return {
    id: row.id,
    text: row.text,
    changelog: row.changelog,
    effectiveDate: row.effective_date,
    publishedAt: row.published_at,
    updatedAt: row.updated_at,
  }
}
