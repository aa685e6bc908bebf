import { digestOf } from '../domains/domain-block.ts'
import { obfuscateDomain } from '../domains/obfuscate-domain.ts'
import type { ListedBlock } from './instance-data.ts'

/** `noop` entries never get here. A comment that the caller may not see is null; one that nobody wrote is empty. */
export function blockDocument({ domain, severity, publicComment, obfuscate }: ListedBlock, showsComment: boolean) {
  return {
    domain: obfuscate ? obfuscateDomain(domain) : domain,
    digest: digestOf(domain),
    severity,
    comment: showsComment ? publicComment : null,
  }
}

export function allowDocument(domain: string) {
  return { domain, digest: digestOf(domain) }
}
