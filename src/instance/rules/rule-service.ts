import type { Change, ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { InstanceChanges } from '../changes.ts'
import { invalidField, recordNotFound } from '../invalid.ts'
import { applyRuleWish, MOST_RULES, moved, type RuleWish, type StoredRule } from './rule.ts'
import { findRule, insertRule, readRules, retireRule, updateRule } from './store-rules.ts'

export interface RuleServiceOptions {
  db: Database
  clock: Clock
  changes: InstanceChanges
}

const NEW_RULE = { text: '', hint: '', priority: 0, translations: {} }

/** Who may call is decided before: `org_management`. */
export class RuleService {
  readonly #options: RuleServiceOptions

  constructor(options: RuleServiceOptions) {
    this.#options = options
  }

  list(_principal: Principal): Promise<StoredRule[]> {
    return readRules(this.#options.db)
  }

  create(principal: Principal, wish: RuleWish & { text: string }, client?: ClientInfo): Promise<StoredRule> {
    return this.#write(async (tx, now) => {
      const rules = await readRules(tx)
      if (rules.length >= MOST_RULES) {
        throw invalidField('', `There are ${MOST_RULES} rules already: delete one first`, 'ERR_TOO_MANY')
      }
      const priority = (rules.at(-1)?.priority ?? -1) + 1
      const rule = await insertRule(tx, applyRuleWish({ ...NEW_RULE, priority }, wish), now)
      await this.#options.changes.record(tx, principal, about(rule, 'created', { rule: { new: asText(rule) } }), client)
      return rule
    })
  }

  update(principal: Principal, input: { id: number; wish: RuleWish }, client?: ClientInfo): Promise<StoredRule> {
    return this.#write(async (tx, now) => {
      const before = await requireRule(tx, input.id)
      const after = { id: before.id, ...applyRuleWish(before, input.wish) }
      if (asText(before) === asText(after)) return before
      await updateRule(tx, after, now)
      const changes = { rule: { old: asText(before), new: asText(after) } }
      await this.#options.changes.record(tx, principal, about(after, 'updated', changes), client)
      return after
    })
  }

  async delete(principal: Principal, input: { id: number }, client?: ClientInfo): Promise<void> {
    await this.#write(async (tx, now) => {
      const rule = await requireRule(tx, input.id)
      await retireRule(tx, input.id, now)
      await this.#options.changes.record(tx, principal, about(rule, 'deleted', { rule: { old: asText(rule) } }), client)
    })
  }

  /** Afterwards priorities are 0, 1, 2 … in the order of the list. */
  move(principal: Principal, input: { id: number; offset: number }, client?: ClientInfo): Promise<StoredRule> {
    return this.#write(async (tx, now) => {
      const rule = await requireRule(tx, input.id)
      const rules = await readRules(tx)
      const ids = rules.map(({ id }) => id)
      const order = moved(ids, rule.id, input.offset)
      for (const one of rules) {
        const priority = order.indexOf(one.id)
        if (one.priority !== priority) await updateRule(tx, { ...one, priority }, now)
      }
      await this.#options.changes.record(
        tx,
        principal,
        about(rule, 'moved', { order: { old: ids, new: order } }),
        client,
      )
      return { ...rule, priority: order.indexOf(rule.id) }
    })
  }

  #write<T>(work: (tx: Transaction, now: number) => Promise<T>): Promise<T> {
    const { clock, changes } = this.#options
    return changes.write((tx) => work(tx, clock.now()))
  }
}

function about({ id }: StoredRule, verb: string, changes: Change['changes']): Change {
  return { action: `instance_rule.${verb}`, target: { type: 'instance_rules', id }, changes }
}

async function requireRule(tx: Transaction, id: number): Promise<StoredRule> {
  const rule = await findRule(tx, id)
  if (rule === undefined) throw recordNotFound()
  return rule
}

/** One text: the log refuses objects with members that are called like secrets, and there may be any language. */
function asText({ text, hint, priority, translations }: StoredRule): string {
  return JSON.stringify({ text, hint, priority, translations })
}
