import { Type } from 'typebox'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import { type BlockRules, type DomainBlock, digestOf, LONGEST_COMMENT, SEVERITIES } from './domain-block.ts'

const Severity = Type.Enum([...SEVERITIES])

export const BlockDocument = Type.Object({
  id: Type.String(),
  domain: Type.String(),
  digest: Type.String({ description: 'SHA-256 of the domain, hexadecimal.' }),
  created_at: Type.String({ format: 'date-time' }),
  severity: Severity,
  reject_media: Type.Boolean(),
  reject_reports: Type.Boolean(),
  private_comment: Type.String(),
  public_comment: Type.String(),
  obfuscate: Type.Boolean(),
})

export const BlockList = Type.Array(BlockDocument)
export const BlockPath = Type.Object({ id: Type.String({ description: 'Id of the block.' }) })

const comment = () =>
  Type.Optional(
    Type.Union([Type.String({ documented: { maxLength: LONGEST_COMMENT } }), Type.Null()], {
      description: `At most ${LONGEST_COMMENT} characters; null is the same as empty.`,
    }),
  )

const rules = {
  severity: Type.Optional(Severity),
  reject_media: Type.Optional(Type.Boolean()),
  reject_reports: Type.Optional(Type.Boolean()),
  private_comment: comment(),
  public_comment: comment(),
  obfuscate: Type.Optional(Type.Boolean()),
}

export const NewBlock = Type.Object({
  domain: Type.String({ description: 'In any script.', documented: { minLength: 1 } }),
  ...rules,
})
export const ChangedBlock = Type.Object({
  domain: Type.Optional(Type.String({ description: 'The same as before: it cannot be changed.' })),
  ...rules,
})

interface RulesJson {
  severity?: BlockRules['severity']
  reject_media?: boolean
  reject_reports?: boolean
  private_comment?: string | null
  public_comment?: string | null
  obfuscate?: boolean
}

/** The members that are there. */
export function readRules(json: RulesJson): Partial<BlockRules> {
  const { severity, reject_media, reject_reports, private_comment, public_comment, obfuscate } = json
  return {
    ...(severity !== undefined && { severity }),
    ...(reject_media !== undefined && { rejectMedia: reject_media }),
    ...(reject_reports !== undefined && { rejectReports: reject_reports }),
    ...(private_comment !== undefined && { privateComment: private_comment ?? '' }),
    ...(public_comment !== undefined && { publicComment: public_comment ?? '' }),
    ...(obfuscate !== undefined && { obfuscate }),
  }
}

export function blockToJson(block: DomainBlock) {
  return {
    id: String(block.id),
    domain: block.domain,
    digest: digestOf(block.domain),
    created_at: toRfc3339(block.createdAt),
    severity: block.severity,
    reject_media: block.rejectMedia,
    reject_reports: block.rejectReports,
    private_comment: block.privateComment,
    public_comment: block.publicComment,
    obfuscate: block.obfuscate,
  }
}
