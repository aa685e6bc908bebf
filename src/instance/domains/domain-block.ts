import { hash } from 'node:crypto'
import type { Micros } from '../../platform/clock/clock.ts'
import { type FieldProblem, refuseProblems, textProblem } from '../invalid.ts'
import type { BlockSeverity } from '../tables.ts'

export interface DomainBlock {
  id: number
  domain: string
  severity: BlockSeverity
  rejectMedia: boolean
  rejectReports: boolean
  privateComment: string
  publicComment: string
  obfuscate: boolean
  createdAt: Micros
}

/** Everything that an administrator chooses, but for the domain, which never changes. */
export type BlockRules = Omit<DomainBlock, 'id' | 'domain' | 'createdAt'>

export const SEVERITIES = ['noop', 'silence', 'suspend'] as const satisfies BlockSeverity[]

export const DEFAULT_RULES: BlockRules = {
  severity: 'silence',
  rejectMedia: false,
  rejectReports: false,
  privateComment: '',
  publicComment: '',
  obfuscate: false,
}

export const LONGEST_COMMENT = 5_000

/** SHA-256 of the normalised name, hexadecimal: also of one that is shown obfuscated. */
export function digestOf(domain: string): string {
  return hash('sha256', domain)
}

type Strictness = Pick<DomainBlock, 'severity' | 'rejectMedia' | 'rejectReports'>

/** Whether nothing is added by `wished` where `existing` holds. Who is suspended can send neither media nor reports. */
export function isCovered(wished: Strictness, existing: Strictness): boolean {
  if (SEVERITIES.indexOf(existing.severity) < SEVERITIES.indexOf(wished.severity)) return false
  if (existing.severity === 'suspend') return true
  return (existing.rejectMedia || !wished.rejectMedia) && (existing.rejectReports || !wished.rejectReports)
}

export function refuseBadComments({ privateComment, publicComment }: BlockRules): void {
  refuseProblems(commentProblems({ privateComment, publicComment }))
}

export function commentProblems(
  rules: Pick<BlockRules, 'privateComment' | 'publicComment'>,
): (FieldProblem | undefined)[] {
  const limits = { maxLength: LONGEST_COMMENT }
  return [
    textProblem('private_comment', rules.privateComment, limits),
    textProblem('public_comment', rules.publicComment, limits),
  ]
}
