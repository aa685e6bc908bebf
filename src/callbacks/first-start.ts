import type { Micros } from '../platform/clock/clock.ts'
import { newId } from '../platform/ids/uuid.ts'
import type { Logger } from '../platform/logging/logger.ts'
import type { Database, Transaction } from '../platform/storage/database.ts'
import { findNamespaces, insertNamespace, type Namespace, setSearchAttributes } from './store.ts'

/** The part of `callbacks.namespaces` that lives in the database. */
export type NamespaceSettings = Readonly<Record<string, { search_attributes?: Readonly<Record<string, string>> }>>

const DEFAULT = 'default'

// One of each type, so that the examples of the documentation work on a machine that was just set up.
const DEV_SEARCH_ATTRIBUTES = {
  CustomKeyword: 'Keyword',
  CustomKeywordList: 'KeywordList',
  CustomText: 'Text',
  CustomInt: 'Int',
  CustomDouble: 'Double',
  CustomBool: 'Bool',
  CustomDatetime: 'Datetime',
}

export async function createDefaultNamespace(tx: Transaction, mode: 'dev' | 'serve', now: Micros): Promise<void> {
  const searchAttributes = mode === 'dev' ? DEV_SEARCH_ATTRIBUTES : {}
  await insertNamespace(tx, { id: newId(), name: DEFAULT, searchAttributes, createdAt: now })
}

/**
 * After every start each namespace of the settings exists with the search attributes listed there. What the database
 * says already stays: an attribute never changes its type, because stored values have the old one.
 */
export async function ensureNamespaces(
  deps: { db: Database; log: Logger; now: Micros },
  wanted: NamespaceSettings,
): Promise<void> {
  const { db, log, now } = deps
  const names = Object.keys(wanted)
  const listed = names.map((name) => ({ name, searchAttributes: { ...wanted[name]?.search_attributes } }))
  const found = await findNamespaces(db, names)
  for (const { name, attribute } of listed.flatMap((namespace) =>
    contradictions(namespace, found.get(namespace.name)),
  )) {
    log.warn(`callbacks.namespaces.${name}: "${attribute}" has another type in the database, which stays`)
  }
  if (listed.every((namespace) => isComplete(namespace, found.get(namespace.name)))) return
  await db.write(async (tx) => {
    const current = await findNamespaces(tx, names)
    for (const namespace of listed) {
      const known = current.get(namespace.name)
      if (known === undefined) await insertNamespace(tx, { ...namespace, id: newId(), createdAt: now })
      else if (!isComplete(namespace, known)) {
        const searchAttributes = { ...namespace.searchAttributes, ...known.searchAttributes }
        await setSearchAttributes(tx, { name: namespace.name, searchAttributes }, now)
      }
    }
  })
}

function isComplete(wanted: Namespace, known: Namespace | undefined): boolean {
  return known !== undefined && Object.keys(wanted.searchAttributes).every((name) => name in known.searchAttributes)
}

function contradictions(wanted: Namespace, known: Namespace | undefined): { name: string; attribute: string }[] {
  return Object.entries(wanted.searchAttributes)
    .filter(([attribute, type]) => (known?.searchAttributes[attribute] ?? type) !== type)
    .map(([attribute]) => ({ name: wanted.name, attribute }))
}
