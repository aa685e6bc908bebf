import type { Micros } from '../../platform/clock/clock.ts'

/** A domain of one of the two lists that hold nothing but names. */
export interface NamedDomain {
  id: number
  domain: string
  createdAt: Micros
}

export type NamedDomainList = 'domain_allows' | 'declared_peers'
