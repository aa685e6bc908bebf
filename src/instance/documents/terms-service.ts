import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Change, ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { instanceDomain } from '../instance-domain.ts'
import { invalidField, recordNotFound, refuseProblems, textProblem } from '../invalid.ts'
import { documentHtml } from './document-html.ts'
import { type DocumentServiceOptions, LONGEST_DOCUMENT } from './document-service.ts'
import {
  countTerms,
  deleteTerms,
  findTerms,
  insertTerms,
  listTerms,
  readEffectiveDates,
  updateTerms,
} from './store-terms.ts'
import { earliestEffectiveDate, isDate, type Terms } from './terms.ts'

export interface ShownTerms extends Terms {
  /** HTML */
  content: string
}

export interface TermsWish {
  text?: string
  changelog?: string
}

// They travel together in one answer.
const MOST_VERSIONS = 500

/** Versions of the terms of service: drafts, and published ones, which never change. */
export class TermsService {
  readonly #options: DocumentServiceOptions

  constructor(options: DocumentServiceOptions) {
    this.#options = options
  }

  /** The newest first, drafts included. */
  async list(_principal: Principal): Promise<ShownTerms[]> {
    const show = await this.#shower()
    const shown: ShownTerms[] = []
    for (const terms of await listTerms(this.#options.db)) {
      shown.push(show(terms))
      // To make HTML of a long one takes a while.
      await nextTurn()
    }
    return shown
  }

  async create(principal: Principal, wish: TermsWish & { text: string }, client?: ClientInfo): Promise<ShownTerms> {
    const { text, changelog = '' } = wish
    refuseBadTexts({ text, changelog })
    return this.#write(async (tx, now) => {
      if ((await countTerms(tx)) >= MOST_VERSIONS) {
        throw invalidField('', `There are ${MOST_VERSIONS} versions already: delete a draft first`, 'ERR_TOO_MANY')
      }
      const draft = { text, changelog, effectiveDate: null, publishedAt: null, updatedAt: now }
      const terms = await insertTerms(tx, draft)
      const changes = { text: { new: text }, changelog: { new: changelog } }
      await this.#options.changes.record(tx, principal, about(terms, 'created', changes), client)
      return terms
    })
  }

  async update(principal: Principal, input: TermsWish & { id: number }, client?: ClientInfo): Promise<ShownTerms> {
    return this.#write(async (tx, now) => {
      const before = await requireDraft(tx, input.id)
      const { text = before.text, changelog = before.changelog } = input
      refuseBadTexts({ text, changelog })
      const after = { ...before, text, changelog, updatedAt: now }
      await updateTerms(tx, after)
      await this.#options.changes.record(tx, principal, about(after, 'updated', changesBetween(before, after)), client)
      return after
    })
  }

  async delete(principal: Principal, input: { id: number }, client?: ClientInfo): Promise<void> {
    await this.#write(async (tx) => {
      const terms = await requireDraft(tx, input.id)
      await deleteTerms(tx, terms.id)
      await this.#options.changes.record(tx, principal, about(terms, 'deleted', { text: { old: terms.text } }), client)
      return terms
    })
  }

  async publish(
    principal: Principal,
    input: { id: number; effectiveDate?: string; changelog?: string },
    client?: ClientInfo,
  ): Promise<ShownTerms> {
    return this.#write(async (tx, now) => {
      const before = await requireDraft(tx, input.id)
      const today = toRfc3339(now).slice(0, 10)
      const { effectiveDate = today, changelog = before.changelog } = input
      refuseBadTexts({ text: before.text, changelog })
      await refuseBadDate(tx, effectiveDate, today)
      const after = { ...before, changelog, effectiveDate, publishedAt: now, updatedAt: now }
      await updateTerms(tx, after)
      await this.#options.changes.record(
        tx,
        principal,
        about(after, 'published', changesBetween(before, after)),
        client,
      )
      return after
    })
  }

  async #write(work: (tx: Transaction, now: number) => Promise<Terms>): Promise<ShownTerms> {
    const { clock, changes } = this.#options
    const terms = await changes.write((tx) => work(tx, clock.now()))
    return (await this.#shower())(terms)
  }

  async #shower(): Promise<(terms: Terms) => ShownTerms> {
    const { keeper, baseUrl } = this.#options
    const domain = instanceDomain(await keeper.current(), baseUrl())
    return (terms) => ({ ...terms, content: documentHtml(terms.text, domain) })
  }
}

function about({ id }: Terms, verb: string, changes: Change['changes']): Change {
  return { action: `instance_terms.${verb}`, target: { type: 'instance_terms', id: String(id) }, changes }
}

async function requireDraft(tx: Transaction, id: number): Promise<Terms> {
  const terms = await findTerms(tx, id)
  if (terms === undefined) throw recordNotFound()
  if (terms.publishedAt === null) return terms
  throw invalidField('', 'Published terms never change: make a new draft', 'ERR_PUBLISHED')
}

function refuseBadTexts({ text, changelog }: { text: string; changelog: string }): void {
  refuseProblems([
    textProblem('text', text, { maxLength: LONGEST_DOCUMENT, required: true }),
    textProblem('changelog', changelog, { maxLength: LONGEST_DOCUMENT }),
  ])
}

async function refuseBadDate(tx: Transaction, date: string, today: string): Promise<void> {
  const field = 'effective_date'
  if (!isDate(date)) throw invalidField(field, 'is not a date such as 2030-01-31')
  const published = await readEffectiveDates(tx)
  const earliest = earliestEffectiveDate(published, today)
  if (date < earliest) throw invalidField(field, `must not be before ${earliest}`, 'ERR_TOO_SOON')
  if (published.some(({ effectiveDate }) => effectiveDate === date)) {
    throw invalidField(field, 'is that of another version', 'ERR_TAKEN')
  }
}

const AUDITED = { text: 'text', changelog: 'changelog', effectiveDate: 'effective_date' } as const

function changesBetween(before: Terms, after: Terms): NonNullable<Change['changes']> {
  const changed = (Object.keys(AUDITED) as (keyof typeof AUDITED)[]).filter((key) => before[key] !== after[key])
  return Object.fromEntries(changed.map((key) => [AUDITED[key], { old: before[key], new: after[key] }]))
}
