import type { Change } from '../../platform/audit/audit-change.ts'
import type { Namespace } from './namespace.ts'
import { overriddenKeys } from './policy-json.ts'

/**
 * What differs, for the audit log. As lists of texts: the log refuses objects with members that are called like secrets,
 * and search attributes may have any name.
 */
export function changesBetween(before: Namespace, after: Namespace): NonNullable<Change['changes']> {
  const changes: NonNullable<Change['changes']> = {}
  if (before.description !== after.description) {
    changes.description = { old: before.description, new: after.description }
  }
  const attributes = difference(
    texts(Object.entries(before.searchAttributes)),
    texts(Object.entries(after.searchAttributes)),
  )
  if (attributes !== undefined) changes.search_attributes = attributes
  const overrides = difference(texts(overriddenKeys(before.overrides)), texts(overriddenKeys(after.overrides)))
  if (overrides !== undefined) changes.overrides = overrides
  const [old, now] = [before.sealedSecrets, after.sealedSecrets]
  // Encrypted anew whenever they were touched.
  if (JSON.stringify(old) !== JSON.stringify(now)) {
    changes.signing_count = { old: old?.length ?? null, new: now?.length ?? null }
  }
  return changes
}

function texts(entries: Iterable<readonly [string, string]>): string[] {
  return [...entries].map(([name, value]) => `${name}: ${value}`)
}

function difference(before: readonly string[], after: readonly string[]): { old: string[]; new: string[] } | undefined {
  const old = before.filter((text) => !after.includes(text))
  const added = after.filter((text) => !before.includes(text))
  return old.length + added.length === 0 ? undefined : { old, new: added }
}
