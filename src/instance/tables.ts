import type { Generated } from 'kysely'
import type { UserId } from '../platform/auth/principal.ts'
import type { Micros } from '../platform/clock/clock.ts'
import type { Flag } from '../platform/storage/tables.ts'

export interface InstanceSettingsTable {
  /** Path of a key below `instance`: `contact.email`. */
  key: string
  /** JSON; encrypted for a secret. */
  value: string
  modified_at: Micros
}

export interface InstanceRulesTable {
  id: Generated<number>
  text: string
  hint: string
  priority: number
  /** JSON object: language to `{text, hint}`. */
  translations: string
  created_at: Micros
  modified_at: Micros
  /** Kept, so that an id never means two rules; shown nowhere. */
  deleted_at: Micros | null
}

export type DocumentKind = 'extended_description' | 'privacy_policy'

export interface InstanceDocumentsTable {
  kind: DocumentKind
  /** Markdown; empty when it was cleared. */
  text: string
  updated_at: Micros
}

export interface InstanceTermsTable {
  id: Generated<number>
  text: string
  changelog: string
  /** `YYYY-MM-DD`; null in drafts. */
  effective_date: string | null
  published_at: Micros | null
  created_at: Micros
  updated_at: Micros
}

export type BlockSeverity = 'noop' | 'silence' | 'suspend'

export interface DomainBlocksTable {
  id: Generated<number>
  domain: string
  severity: BlockSeverity
  reject_media: Flag
  reject_reports: Flag
  private_comment: string
  public_comment: string
  obfuscate: Flag
  created_at: Micros
  modified_at: Micros
}

/** The allowed domains, and the declared peers. */
export interface NamedDomainsTable {
  id: Generated<number>
  domain: string
  created_at: Micros
}

export interface InstanceImagesTable {
  kind: 'thumbnail' | 'icon'
  /** `1200x630` */
  size: string
  content_type: string
  width: number
  height: number
  hash: string
  /** The same in all sizes of a picture, as is the description. */
  blurhash: string | null
  description: Generated<string>
  bytes: Uint8Array
  created_at: Micros
}

export interface InstanceSecretsTable {
  name: string
  public_value: string
  /** Encrypted. */
  sealed_value: string
  created_at: Micros
}

export interface TranslationListsTable {
  /** Names the provider as it was asked, so that another one, or another address, has another list. */
  provider_key: string
  /** JSON */
  languages: string
  fetched_at: Micros
}

export interface AccountNamesTable {
  user_id: UserId
  username: string
}

/** One row for each user and day on which the user proved who it is. */
export interface LogInDaysTable {
  /** Days since 1970-01-01, UTC. */
  day: number
  /** Of a user who was anonymized: a random value. */
  user_id: string
}

declare module '../platform/storage/tables.ts' {
  interface Tables {
    instance_settings: InstanceSettingsTable
    instance_rules: InstanceRulesTable
    instance_documents: InstanceDocumentsTable
    instance_terms: InstanceTermsTable
    domain_blocks: DomainBlocksTable
    domain_allows: NamedDomainsTable
    declared_peers: NamedDomainsTable
    instance_images: InstanceImagesTable
    instance_secrets: InstanceSecretsTable
    translation_lists: TranslationListsTable
    account_names: AccountNamesTable
    log_in_days: LogInDaysTable
  }
}
