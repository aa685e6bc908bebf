import type { Micros } from '../../../platform/clock/clock.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { FIRST_DAY, LAST_DAY, readIsoTime } from '../iso-time.ts'
import type { JsonValue, Metadata } from './metadata.ts'
import { readNames, readTags } from './tags.ts'

/** What the note calls itself, else the stem of its file name. */
export function titleOf(metadata: Metadata, stem: string): string {
  return asText(own(metadata, 'title')) ?? stem
}

export function typeOf(metadata: Metadata): string {
  return ownTypeOf(metadata) ?? 'note'
}

/** Null where it says nothing, as an empty line of a template does. */
export function ownTypeOf(metadata: Metadata): string | null {
  return asText(own(metadata, 'type'))
}

export function permalinkOf(metadata: Metadata): string | null {
  const permalink = own(metadata, 'permalink')
  return typeof permalink === 'string' ? permalink.trim() || null : null
}

export function tagsOf(metadata: Metadata): string[] {
  return readTags(own(metadata, 'tags'))
}

export function aliasesOf(metadata: Metadata): string[] {
  return readNames(own(metadata, 'aliases'))
}

/** What the note says of its own age. A time that cannot be read is refused, not ignored. */
export function timesOf(metadata: Metadata): { created?: Micros; modified?: Micros } {
  const times: { created?: Micros; modified?: Micros } = {}
  for (const field of ['created', 'modified'] as const) {
    const value = own(metadata, field)
    if (value === undefined || value === null) continue
    const time = typeof value === 'string' ? readIsoTime(value.trim()) : null
    if (time === null) {
      throw new AppError(
        'invalid_argument',
        `The frontmatter field "${field}" is not an ISO 8601 date or time; write it like 2026-01-31 or 2026-01-31T10:00:00Z.`,
      )
    }
    if (!Number.isSafeInteger(time)) {
      throw new AppError(
        'invalid_argument',
        `The frontmatter field "${field}" must lie between ${FIRST_DAY} and ${LAST_DAY}: other times cannot be kept exactly.`,
      )
    }
    times[field] = time
  }
  return times
}

const NO_EMBEDDING = new Set(['false', '0', 'no', 'off'])

export function embedOf(metadata: Metadata): boolean {
  const embed = own(metadata, 'embed')
  if (embed === undefined || embed === null || typeof embed === 'object') return true
  return !NO_EMBEDDING.has(String(embed).trim().toLowerCase())
}

/** The metadata as answers show it: no nulls, and tags as a list. */
export function answerMetadata(metadata: Metadata): Metadata {
  const answer: Metadata = {}
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    if (value !== null && value !== undefined && key !== '__proto__')
      answer[key] = key === 'tags' ? readTags(value) : value
  }
  return answer
}

const CANONICAL = /^[a-z0-9_]*$/

/** The form in which types are compared: `Meeting Note`, `meetingNote` and `meeting_note` are one. */
export function canonicalType(type: string): string {
  if (CANONICAL.test(type)) return type
  const words = type.trim().replace(/[\s\-.\\]/g, '_')
  return words.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
}

function own(metadata: Metadata, key: string): JsonValue | undefined {
  return Object.hasOwn(metadata, key) ? metadata[key] : undefined
}

/** Lists joined, other scalars written out; null for what says nothing, as `None` does that some tools write. */
function asText(value: JsonValue | undefined): string | null {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) {
    const texts = value.map(asText).filter((text) => text !== null)
    return texts.length === 0 ? null : texts.join(', ')
  }
  if (typeof value === 'object') return null
  const text = String(value).trim()
  return text === '' || text === 'None' ? null : text
}
