import type { Change, ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { InstanceChanges } from '../changes.ts'
import { invalidField, recordNotFound } from '../invalid.ts'
import { type BlockRules, DEFAULT_RULES, type DomainBlock, isCovered, refuseBadComments } from './domain-block.ts'
import type { PageBounds } from './id-page.ts'
import { normaliseDomain } from './normalise-domain.ts'
import { blockToJson } from './schema-blocks.ts'
import { deleteBlock, findBlock, findRuleFor, insertBlock, listBlocks, updateBlock } from './store-blocks.ts'

export interface BlockServiceOptions {
  db: Database
  clock: Clock
  changes: InstanceChanges
}

/** Who may call is decided before: `org_management`. */
export class BlockService {
  readonly #options: BlockServiceOptions

  constructor(options: BlockServiceOptions) {
    this.#options = options
  }

  /** Newest first. */
  list(_principal: Principal, bounds: PageBounds): Promise<DomainBlock[]> {
    return listBlocks(this.#options.db, bounds)
  }

  async get(_principal: Principal, { id }: { id: number }): Promise<DomainBlock> {
    return requireBlock(await findBlock(this.#options.db, id))
  }

  async create(
    principal: Principal,
    input: { domain: string; rules: Partial<BlockRules> },
    client?: ClientInfo,
  ): Promise<DomainBlock> {
    const domain = readDomain(input.domain)
    const rules = { ...DEFAULT_RULES, ...input.rules }
    refuseBadComments(rules)
    return this.#write(async (tx, now) => {
      refuseCovered(domain, rules, await findRuleFor(tx, domain))
      const block = await insertBlock(tx, { domain, ...rules, createdAt: now })
      const changes = auditedChanges({}, rulesOf(block), domain)
      await this.#options.changes.record(tx, principal, about(block, 'created', changes), client)
      return block
    })
  }

  /** What is absent stays; the domain always does. */
  async update(
    principal: Principal,
    input: { id: number; domain?: string; rules: Partial<BlockRules> },
    client?: ClientInfo,
  ): Promise<DomainBlock> {
    return this.#write(async (tx, now) => {
      const before = requireBlock(await findBlock(tx, input.id))
      if (input.domain !== undefined && normaliseDomain(input.domain) !== before.domain) {
        throw invalidField('domain', 'cannot be changed: make another block', 'ERR_FIXED')
      }
      const after = { ...before, ...input.rules }
      refuseBadComments(after)
      const changes = auditedChanges(rulesOf(before), rulesOf(after))
      if (Object.keys(changes).length === 0) return before
      await updateBlock(tx, after, now)
      await this.#options.changes.record(tx, principal, about(after, 'updated', changes), client)
      return after
    })
  }

  async delete(principal: Principal, { id }: { id: number }, client?: ClientInfo): Promise<void> {
    await this.#write(async (tx) => {
      const block = requireBlock(await findBlock(tx, id))
      await deleteBlock(tx, id)
      await this.#options.changes.record(tx, principal, about(block, 'deleted', lastState(block)), client)
    })
  }

  #write<T>(work: (tx: Transaction, now: number) => Promise<T>): Promise<T> {
    const { clock, changes } = this.#options
    return changes.write((tx) => work(tx, clock.now()))
  }
}

function about({ id }: DomainBlock, verb: string, changes: Change['changes']): Change {
  return { action: `domain_block.${verb}`, target: { type: 'domain_blocks', id: String(id) }, changes }
}

/** The normalised name; 422 for what is none. */
export function readDomain(given: string): string {
  if (given.trim() === '') throw invalidField('domain', 'must not be empty', 'ERR_BLANK')
  const domain = normaliseDomain(given)
  if (domain === undefined) throw invalidField('domain', 'is not a valid domain name')
  return domain
}

function refuseCovered(domain: string, rules: BlockRules, existing: DomainBlock | undefined): void {
  if (existing === undefined) return
  const isSame = existing.domain === domain
  if (!isSame && !isCovered(rules, existing)) return
  const text = isSame ? 'is blocked already' : `is covered by the block of ${existing.domain}`
  throw invalidField('domain', text, 'ERR_TAKEN', { existing_domain_block: blockToJson(existing) })
}

function requireBlock(block: DomainBlock | undefined): DomainBlock {
  if (block === undefined) throw recordNotFound()
  return block
}

function rulesOf(block: DomainBlock): Record<string, unknown> {
  const { id: _, created_at: __, digest: ___, domain: ____, ...rules } = blockToJson(block)
  return rules
}

/** Enough to make it again: the log is all that is left of it. */
function lastState(block: DomainBlock): NonNullable<Change['changes']> {
  const members = Object.entries({ domain: block.domain, ...rulesOf(block) })
  return Object.fromEntries(members.map(([name, value]) => [name, { old: value }]))
}

function auditedChanges(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  domain?: string,
): NonNullable<Change['changes']> {
  const names = Object.keys(after).filter((name) => before[name] !== after[name])
  const changes = names.map((name) => [name, { old: before[name], new: after[name] }] as const)
  return { ...(domain !== undefined && { domain: { new: domain } }), ...Object.fromEntries(changes) }
}
