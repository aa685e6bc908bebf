import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { PolicyOverrides } from '../settings.ts'
import type { Namespace, NamespaceId, SearchAttributeTypes } from './namespace.ts'

export interface NamespacesTable {
  id: NamespaceId
  name: string
  description: string
  /** JSON object: name of the attribute to its type. */
  search_attributes: string
  /** JSON object: overrides of the policy; `signing_secrets` are encrypted. */
  settings: string
  created_at: Micros
  modified_at: Micros
}

declare module '../../platform/storage/tables.ts' {
  interface Tables {
    namespaces: NamespacesTable
  }
}

export type NamespaceRow = Selectable<NamespacesTable>

// No namespace can be called that: a name holds no blank.
const RETIRED = 'deleted'

/** Whether there is a namespace with the id that nobody has deleted: part of what is to be written only then. */
export function isLive(id: NamespaceId): RawBuilder<boolean> {
  return sql`exists (select 1 from namespaces where id = ${id} and name not like ${sql.lit(`${RETIRED} %`)})`
}

/** False when a namespace of that name is there already. */
export async function insertNamespace(tx: Transaction, namespace: Namespace): Promise<boolean> {
  const rows = await tx.query
    .insertInto('namespaces')
    .values({ ...changeable(namespace), id: namespace.id, name: namespace.name, created_at: namespace.createdAt })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('id')
    .execute()
  return rows.length === 1
}

export async function updateNamespace(tx: Transaction, namespace: Namespace): Promise<void> {
  await tx.query.updateTable('namespaces').set(changeable(namespace)).where('id', '=', namespace.id).execute()
}

const byName = statement<{ name: string }, NamespaceRow>((query, p) =>
  query.selectFrom('namespaces').selectAll().where('name', '=', p('name')),
)

const byId = statement<{ id: NamespaceId }, NamespaceRow>((query, p) =>
  query.selectFrom('namespaces').selectAll().where('id', '=', p('id')),
)

export async function findNamespaceRow(reader: Reader, name: string): Promise<NamespaceRow | undefined> {
  return (await reader.run(byName, { name }))[0]
}

/** Also one that was deleted, as long as something of it is left. */
export async function findNamespaceRowById(reader: Reader, id: NamespaceId): Promise<NamespaceRow | undefined> {
  return (await reader.run(byId, { id }))[0]
}

export async function findNamespace(reader: Reader, name: string): Promise<Namespace | undefined> {
  const row = await findNamespaceRow(reader, name)
  return row && toNamespace(row)
}

export async function findNamespaces(reader: Reader, names: readonly string[]): Promise<Map<string, Namespace>> {
  if (names.length === 0) return new Map()
  const rows = await reader.query.selectFrom('namespaces').selectAll().where('name', 'in', names).execute()
  return new Map(rows.map((row) => [row.name, toNamespace(row)]))
}

/** Oldest first. */
export async function listNamespaces(
  reader: Reader,
  { after, limit }: { after: string | null; limit: number },
): Promise<Namespace[]> {
  let query = reader.query
    .selectFrom('namespaces')
    .selectAll()
    .where('name', 'not like', `${RETIRED} %`)
    .orderBy('id')
    .limit(limit)
  if (after !== null) query = query.where('id', '>', after as NamespaceId)
  return (await query.execute()).map(toNamespace)
}

/** Nobody finds it by its name any more, and the name is free. */
export async function retireNamespace(tx: Transaction, { id, name }: Namespace, now: Micros): Promise<void> {
  await tx.query
    .updateTable('namespaces')
    .set({ name: `${RETIRED} ${id} ${name}`, modified_at: now })
    .where('id', '=', id)
    .execute()
}

export async function deleteNamespaceRow(tx: Transaction, id: NamespaceId): Promise<void> {
  await tx.query.deleteFrom('namespaces').where('id', '=', id).execute()
}

export function toNamespace(row: NamespaceRow): Namespace {
  const { signing_secrets: sealed = null, ...overrides } = JSON.parse(row.settings) as PolicyOverrides
  return {
    id: row.id,
    // What is left of a deleted namespace goes by the name that it had.
    name: row.name.startsWith(`${RETIRED} `) ? (row.name.split(' ')[2] ?? '') : row.name,
    description: row.description,
    searchAttributes: JSON.parse(row.search_attributes) as SearchAttributeTypes,
    overrides,
    sealedSecrets: sealed,
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
  }
}

function changeable({ description, searchAttributes, overrides, sealedSecrets, modifiedAt }: Namespace) {
  const settings = sealedSecrets === null ? overrides : { ...overrides, signing_secrets: sealedSecrets }
  return {
    description,
    search_attributes: JSON.stringify(searchAttributes),
    settings: JSON.stringify(settings),
    modified_at: modifiedAt,
  }
}
