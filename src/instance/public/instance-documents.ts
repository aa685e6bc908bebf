/** The two writings of the instance. What they share is made once, so that they cannot disagree. */
import { iconDocument, thumbnailDocument } from '../images/image-documents.ts'
import { instanceDomain } from '../instance-domain.ts'
import { accountDocument } from './account-document.ts'
import { cleanHtml } from './clean-html.ts'
import { type EnforcedLimits, limitGroups } from './configuration-document.ts'
import type { InstanceData } from './instance-data.ts'
import { markdownHtml } from './markdown-html.ts'
import { API_VERSION, SOFTWARE_NAME, versionText } from './software.ts'

export interface DocumentContext {
  /** Without a slash at the end. */
  baseUrl: string
  enforced: EnforcedLimits
}

export function instanceV2(data: InstanceData, { baseUrl, enforced }: DocumentContext) {
  const { settings, numbers } = data
  return {
    domain: instanceDomain(settings, baseUrl),
    title: settings.title,
    version: versionText(settings),
    source_url: settings.source_url,
    description: settings.description,
    usage: { users: { active_month: settings.whitelist_mode ? 0 : numbers.activeMonth } },
    thumbnail: thumbnailDocument(data.thumbnail, baseUrl),
    icon: iconDocument(data.icon, baseUrl),
    languages: settings.languages,
    configuration: {
      urls: {
        streaming: streamingUrl(data, baseUrl),
        status: settings.status_page_url,
        about: `${baseUrl}/about`,
        privacy_policy: `${baseUrl}/privacy-policy`,
        terms_of_service: data.terms.length === 0 ? null : `${baseUrl}/terms-of-service`,
      },
      vapid: { public_key: data.vapidPublicKey },
      ...limitGroups(enforced, settings),
      translation: { enabled: settings.translation.provider !== null },
      limited_federation: settings.whitelist_mode,
    },
    registrations: {
      ...registrations(data),
      reason_required: settings.registrations.mode === 'approved' && settings.registrations.reason_required,
      message: closedMessage(data),
      min_age: settings.registrations.min_age,
      url: settings.registrations.url,
    },
    api_versions: { [SOFTWARE_NAME]: API_VERSION },
    contact: {
      email: settings.contact.email,
      account:
        data.contact === null
          ? null
          : { ...accountDocument(data.contact, data, baseUrl), noindex: settings.account.noindex },
    },
    rules: data.rules.map(ruleDocument),
  }
}

export function instanceV1(data: InstanceData, { baseUrl, enforced }: DocumentContext) {
  const { settings, numbers } = data
  const { enabled, approval_required } = registrations(data)
  const { accounts, statuses, media_attachments, polls } = limitGroups(enforced, settings)
  const { description_limit: _, ...media } = media_attachments
  return {
    uri: instanceDomain(settings, baseUrl),
    title: settings.title,
    short_description: settings.description,
    description: cleanHtml(settings.legacy_description),
    email: settings.contact.email,
    version: versionText(settings),
    urls: { streaming_api: streamingUrl(data, baseUrl) },
    stats: {
      user_count: numbers.userCount,
      status_count: numbers.statusCount,
      domain_count: numbers.domainCount,
    },
    thumbnail: thumbnailDocument(data.thumbnail, baseUrl).url,
    languages: settings.languages,
    registrations: enabled,
    approval_required,
    invites_enabled: data.invitesEnabled,
    configuration: { accounts, statuses, media_attachments: media, polls },
    contact_account: data.contact === null ? null : accountDocument(data.contact, data, baseUrl),
    rules: data.rules.map(ruleDocument),
  }
}

export function ruleDocument({ id, text, hint, translations }: InstanceData['rules'][number]) {
  return { id, text, hint, translations }
}

function registrations({ settings }: InstanceData) {
  const { mode } = settings.registrations
  return { enabled: mode !== 'none', approval_required: mode === 'approved' }
}

function closedMessage({ settings }: InstanceData): string | null {
  const { mode, closed_message: message } = settings.registrations
  return mode !== 'none' || message.trim() === '' ? null : markdownHtml(message)
}

/** Without a path: clients append theirs. */
function streamingUrl({ settings }: InstanceData, baseUrl: string): string {
  return settings.streaming_url ?? new URL(baseUrl).origin.replace(/^http/, 'ws')
}
