import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import { recordNotFound } from '../invalid.ts'
import { type BlockServiceOptions, readDomain } from './block-service.ts'
import type { PageBounds } from './id-page.ts'
import type { NamedDomain, NamedDomainList } from './named-domains.ts'
import { normaliseDomain } from './normalise-domain.ts'
import { deleteNamedDomain, findNamedDomain, insertNamedDomain, listNamedDomains } from './store-named-domains.ts'

const NOUNS = { domain_allows: 'domain_allow', declared_peers: 'declared_peer' } as const

/** The allowed domains, or the declared peers. Who may call is decided before: `org_management`. */
export class NamedDomainService {
  readonly #options: BlockServiceOptions
  readonly #list: NamedDomainList

  constructor(options: BlockServiceOptions, list: NamedDomainList) {
    this.#options = options
    this.#list = list
  }

  /** Newest first. */
  list(_principal: Principal, bounds: PageBounds): Promise<NamedDomain[]> {
    return listNamedDomains(this.#options.db, this.#list, bounds)
  }

  /** One that is there already is answered as it is. */
  async add(principal: Principal, input: { domain: string }, client?: ClientInfo): Promise<NamedDomain> {
    const { clock, changes } = this.#options
    const domain = readDomain(input.domain)
    return changes.write(async (tx) => {
      const known = await findNamedDomain(tx, this.#list, domain)
      if (known !== undefined) return known
      const one = await insertNamedDomain(tx, this.#list, domain, clock.now())
      const target = { type: this.#list, id: String(one.id) }
      const action = `${NOUNS[this.#list]}.created`
      await changes.record(tx, principal, { action, target, changes: { domain: { new: domain } } }, client)
      return one
    })
  }

  async remove(principal: Principal, input: { domain: string }, client?: ClientInfo): Promise<void> {
    const { changes } = this.#options
    const domain = normaliseDomain(input.domain)
    await changes.write(async (tx) => {
      const known = domain === undefined ? undefined : await findNamedDomain(tx, this.#list, domain)
      if (known === undefined) throw recordNotFound()
      await deleteNamedDomain(tx, this.#list, known.id)
      const target = { type: this.#list, id: String(known.id) }
      const action = `${NOUNS[this.#list]}.deleted`
      await changes.record(tx, principal, { action, target, changes: { domain: { old: domain } } }, client)
    })
  }
}
