import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { MarkdownText } from '../public/instance-data.ts'
import type { DocumentKind } from '../tables.ts'

/** Null when it was never written; one that was cleared has no text, and the time of that. */
export async function readDocument(reader: Reader, kind: DocumentKind): Promise<MarkdownText | null> {
  const row = await reader.query
    .selectFrom('instance_documents')
    .select(['text', 'updated_at'])
    .where('kind', '=', kind)
    .executeTakeFirst()
  return row === undefined ? null : { text: row.text, updatedAt: row.updated_at }
}

export function isWritten(document: MarkdownText | null): document is MarkdownText {
  return document !== null && document.text !== ''
}

export async function putDocument(tx: Transaction, kind: DocumentKind, text: string, now: Micros): Promise<void> {
  await tx.query
    .insertInto('instance_documents')
    .values({ kind, text, updated_at: now })
    .onConflict((conflict) => conflict.column('kind').doUpdateSet({ text, updated_at: now }))
    .execute()
}

/** When this installation was set up. */
export async function readInstalledAt(reader: Reader): Promise<Micros> {
  const row = await reader.query
    .selectFrom('installation')
    .select('created_at')
    .where('key', '=', 'id')
    .executeTakeFirstOrThrow()
  return row.created_at
}
