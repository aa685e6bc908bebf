import type { Micros } from '../../platform/clock/clock.ts'
import { newId } from '../../platform/ids/uuid.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { FieldType } from '../query/fields.ts'
import type { Namespace, SearchAttributeTypes } from './namespace.ts'
import { findNamespaces, insertNamespace, updateNamespace } from './store-namespaces.ts'

/** The part of `callbacks.namespaces` that lives in the database. */
export type ListedNamespaces = Readonly<Record<string, { search_attributes?: Readonly<Record<string, string>> }>>

const DEFAULT = 'default'

// One of each type, so that the examples of the documentation work on a machine that was just set up.
const DEV_SEARCH_ATTRIBUTES: SearchAttributeTypes = {
  CustomKeyword: 'Keyword',
  CustomKeywordList: 'KeywordList',
  CustomText: 'Text',
  CustomInt: 'Int',
  CustomDouble: 'Double',
  CustomBool: 'Bool',
  CustomDatetime: 'Datetime',
}

export async function createDefaultNamespace(tx: Transaction, mode: 'dev' | 'serve', now: Micros): Promise<void> {
  await insertNamespace(tx, newNamespace(DEFAULT, mode === 'dev' ? DEV_SEARCH_ATTRIBUTES : {}, now))
}

/**
 * After every start each namespace of the settings exists with the search attributes listed there. What the database
 * says already stays: an attribute never changes its type, because stored values have the old one.
 */
export async function ensureNamespaces(
  deps: { db: Database; log: Logger; now: Micros },
  wanted: ListedNamespaces,
): Promise<void> {
  const { db, log, now } = deps
  const names = Object.keys(wanted)
  const listed = names.map((name) => newNamespace(name, attributesOf(wanted[name]), now))
  const found = await findNamespaces(db, names)
  for (const { name, searchAttributes } of listed) {
    for (const attribute of contradictions(searchAttributes, found.get(name))) {
      log.warn(`callbacks.namespaces.${name}: "${attribute}" has another type in the database, which stays`)
    }
  }
  if (listed.every(({ name, searchAttributes }) => isComplete(searchAttributes, found.get(name)))) return
  await db.write(async (tx) => {
    const current = await findNamespaces(tx, names)
    for (const namespace of listed) {
      const known = current.get(namespace.name)
      if (known === undefined) await insertNamespace(tx, namespace)
      else if (!isComplete(namespace.searchAttributes, known)) {
        const searchAttributes = { ...namespace.searchAttributes, ...known.searchAttributes }
        await updateNamespace(tx, { ...known, searchAttributes, modifiedAt: now })
      }
    }
  })
}

export function newNamespace(name: string, searchAttributes: SearchAttributeTypes, now: Micros): Namespace {
  return {
    id: newId(),
    name,
    description: '',
    searchAttributes,
    overrides: {},
    sealedSecrets: null,
    createdAt: now,
    modifiedAt: now,
  }
}

function attributesOf(listed: ListedNamespaces[string] | undefined): SearchAttributeTypes {
  return { ...listed?.search_attributes } as Record<string, FieldType>
}

function isComplete(wanted: SearchAttributeTypes, known: Namespace | undefined): boolean {
  return known !== undefined && Object.keys(wanted).every((name) => Object.hasOwn(known.searchAttributes, name))
}

function contradictions(wanted: SearchAttributeTypes, known: Namespace | undefined): string[] {
  const stored = known?.searchAttributes ?? {}
  return Object.keys(wanted).filter((name) => Object.hasOwn(stored, name) && stored[name] !== wanted[name])
}
