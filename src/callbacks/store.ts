import type { Micros } from '../platform/clock/clock.ts'
import type { Id } from '../platform/ids/uuid.ts'
import type { Reader, Transaction } from '../platform/storage/database.ts'

export type NamespaceId = Id<'Namespace'>

export interface NamespacesTable {
  id: NamespaceId
  name: string
  description: string
  /** JSON object: name of the attribute to its type. */
  search_attributes: string
  /** JSON object. */
  settings: string
  created_at: Micros
  modified_at: Micros
}

declare module '../platform/storage/tables.ts' {
  interface Tables {
    namespaces: NamespacesTable
  }
}

export interface Namespace {
  name: string
  searchAttributes: Record<string, string>
}

/** False when a namespace of that name is there already. */
export async function insertNamespace(
  tx: Transaction,
  namespace: Namespace & { id: NamespaceId; createdAt: Micros },
): Promise<boolean> {
  const rows = await tx.query
    .insertInto('namespaces')
    .values({
      id: namespace.id,
      name: namespace.name,
      description: '',
      search_attributes: JSON.stringify(namespace.searchAttributes),
      settings: '{}',
      created_at: namespace.createdAt,
      modified_at: namespace.createdAt,
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('id')
    .execute()
  return rows.length === 1
}

export async function findNamespaces(reader: Reader, names: readonly string[]): Promise<Map<string, Namespace>> {
  const found = new Map<string, Namespace>()
  if (names.length === 0) return found
  const rows = await reader.query
    .selectFrom('namespaces')
    .select(['name', 'search_attributes'])
    .where('name', 'in', names)
    .execute()
  for (const row of rows) {
    found.set(row.name, {
      name: row.name,
      searchAttributes: JSON.parse(row.search_attributes) as Record<string, string>,
    })
  }
  return found
}

export async function setSearchAttributes(tx: Transaction, namespace: Namespace, at: Micros): Promise<void> {
  await tx.query
    .updateTable('namespaces')
    .set({ search_attributes: JSON.stringify(namespace.searchAttributes), modified_at: at })
    .where('name', '=', namespace.name)
    .execute()
}
