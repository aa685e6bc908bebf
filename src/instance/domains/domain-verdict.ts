import { isIP } from 'node:net'
import type { BlockSeverity } from '../tables.ts'
import { normaliseDomain, withParents } from './normalise-domain.ts'

/** What decides whether something may be delivered to a host. */
export interface DomainPolicy {
  severities: ReadonlyMap<string, BlockSeverity>
  /** Null where every domain is allowed. */
  allowed: ReadonlySet<string> | null
}

/** Why nothing may be delivered to the host; null when it may. */
export function refusalOf({ severities, allowed }: DomainPolicy, host: string): string | null {
  const names = namesOf(host)
  const rule = names.find((name) => severities.has(name))
  if (rule !== undefined && severities.get(rule) === 'suspend') return `The domain rule for ${rule} forbids deliveries`
  if (allowed === null || names.some((name) => allowed.has(name))) return null
  return `Deliveries go to allowed domains only, and ${shown(names[0] as string)} is not one of them`
}

/** The most specific first. What no rule can name, such as `a_b.example.com`, may be below what one does. */
function namesOf(host: string): string[] {
  return withParents(normaliseDomain(host) ?? host.toLowerCase().replace(/\.$/, ''))
}

function shown(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '')
  return isIP(bare) === 6 ? `[${bare}]` : host.slice(0, 255)
}
