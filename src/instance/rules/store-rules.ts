import type { Selectable } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { InstanceRulesTable } from '../tables.ts'
import type { StoredRule } from './rule.ts'

/** Those that are shown, in order: by priority, then by age. */
export async function readRules(reader: Reader): Promise<StoredRule[]> {
  const rows = await reader.query
    .selectFrom('instance_rules')
    .selectAll()
    .where('deleted_at', 'is', null)
    .orderBy('priority')
    .orderBy('id')
    .execute()
  return rows.map(toRule)
}

export async function findRule(reader: Reader, id: number): Promise<StoredRule | undefined> {
  const row = await reader.query
    .selectFrom('instance_rules')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row && toRule(row)
}

export async function insertRule(tx: Transaction, rule: Omit<StoredRule, 'id'>, now: Micros): Promise<StoredRule> {
  const { id } = await tx.query
    .insertInto('instance_rules')
    .values({ ...columnsOf(rule), created_at: now, modified_at: now, deleted_at: null })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...rule, id: String(id) }
}

export async function updateRule(tx: Transaction, rule: StoredRule, now: Micros): Promise<void> {
  await tx.query
    .updateTable('instance_rules')
    .set({ ...columnsOf(rule), modified_at: now })
    .where('id', '=', Number(rule.id))
    .execute()
}

/** It stays in storage. */
export async function retireRule(tx: Transaction, id: number, now: Micros): Promise<void> {
  await tx.query.updateTable('instance_rules').set({ deleted_at: now }).where('id', '=', id).execute()
}

function columnsOf({ text, hint, priority, translations }: Omit<StoredRule, 'id'>) {
  return { text, hint, priority, translations: JSON.stringify(translations) }
}

function toRule(row: Selectable<InstanceRulesTable>): StoredRule {
  return {
    id: String(row.id),
    text: row.text,
    hint: row.hint,
    priority: row.priority,
    translations: JSON.parse(row.translations),
  }
}
