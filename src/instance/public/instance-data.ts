import type { Micros } from '../../platform/clock/clock.ts'
import type { InstanceSettings } from '../settings.ts'
import type { BlockSeverity } from '../tables.ts'

/** Everything the public face is made from, read in one snapshot. v1 and v2 are two writings of the same value. */
export interface InstanceData {
  /** What is stored counts more than the file, the environment and the defaults. */
  settings: InstanceSettings
  /** Since when the server has had its name, as far as this process knows. */
  namedSince: Micros
  installedAt: Micros
  rules: readonly Rule[]
  /** Null: never written, or cleared. */
  extendedDescription: MarkdownText | null
  privacyPolicy: MarkdownText | null
  /** Published versions, the earliest effective date first. */
  terms: readonly PublishedTerms[]
  thumbnail: StoredImage | null
  icon: StoredImage | null
  /** Uncompressed point, URL-safe base64 with padding. */
  vapidPublicKey: string
  contact: ContactUser | null
  invitesEnabled: boolean
  numbers: InstanceNumbers
}

/** In the order in which rules are shown: by priority, then by id. Deleted ones are not here. */
export interface Rule {
  id: string
  text: string
  hint: string
  translations: Readonly<Record<string, { text: string; hint: string }>>
}

export interface MarkdownText {
  text: string
  updatedAt: Micros
}

export interface PublishedTerms extends MarkdownText {
  /** `YYYY-MM-DD` */
  effectiveDate: string
}

/** What an uploaded picture was turned into; the bytes are read when somebody asks for them. */
export interface StoredImage {
  /** By size, such as `1200x630`: the name under which it is served, which changes with its bytes. */
  files: Readonly<Record<string, string>>
  blurhash: string
  description: string
}

/** The user who answers for the server: neither disabled nor anonymized. */
export interface ContactUser {
  id: string
  username: string
  name: string | null
  title: string | null
  isServiceAccount: boolean
  createdAt: Micros
  noteCount: number
  lastNoteAt: Micros | null
}

export interface InstanceNumbers {
  userCount: number
  statusCount: number
  domainCount: number
  /** As counted, whatever the mode; never more than userCount. */
  activeMonth: number
  activeHalfyear: number
  /** Twelve, the running week first, not rounded. */
  weeks: readonly ActivityWeek[]
}

export interface ActivityWeek {
  /** UNIX second of Monday 00:00 UTC. */
  week: number
  statuses: number
  logins: number
  registrations: number
}

/** What the public list needs of a block. */
export interface ListedBlock {
  /** Normalised: lower case, `xn--` form. */
  domain: string
  severity: BlockSeverity
  publicComment: string
  obfuscate: boolean
}
