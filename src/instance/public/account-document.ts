import { type Micros, toRfc3339 } from '../../platform/clock/clock.ts'
import { escapeHtml } from '../../platform/http/pages/escape-html.ts'
import { imageUrl } from '../images/image-documents.ts'
import { DEFAULT_IMAGES } from '../images/image-names.ts'
import { THUMBNAIL_1X } from '../images/image-sizes.ts'
import type { ContactUser, InstanceData } from './instance-data.ts'
import { linkHtml } from './markdown-html.ts'

const WEB_ADDRESS = /^https?:\/\/[^\s<>"']+$/

/** A user as the account that social clients expect. Nothing of the person beyond what stands here is ever shown. */
export function accountDocument(user: ContactUser, { settings }: Pick<InstanceData, 'settings'>, baseUrl: string) {
  const url = `${baseUrl}/@${user.username}`
  const avatar = `${baseUrl}/api/v2/users/${user.id}/icon`
  const header = imageUrl(baseUrl, DEFAULT_IMAGES.thumbnail.files[THUMBNAIL_1X] as string)
  return {
    id: user.id,
    username: user.username,
    acct: user.username,
    display_name: user.name ?? '',
    locked: false,
    bot: user.isServiceAccount,
    discoverable: settings.account.discoverable,
    indexable: settings.account.discoverable && !settings.account.noindex,
    group: false,
    created_at: `${dateAt(user.createdAt)}T00:00:00.000Z`,
    note: user.title === null || user.title === '' ? '' : `<p>${escapeHtml(user.title)}</p>`,
    url,
    uri: url,
    avatar,
    avatar_static: avatar,
    header,
    header_static: header,
    followers_count: 0,
    following_count: 0,
    statuses_count: user.noteCount,
    last_status_at: user.lastNoteAt === null ? null : dateAt(user.lastNoteAt),
    hide_collections: null,
    emojis: [],
    roles: [],
    fields: settings.contact.fields.map(({ name, value }) => ({ name, value: fieldHtml(value), verified_at: null })),
  }
}

function fieldHtml(value: string): string {
  const text = escapeHtml(value)
  return WEB_ADDRESS.test(value) ? linkHtml(value, text) : text
}

/** `YYYY-MM-DD`, UTC. */
export function dateAt(at: Micros): string {
  return toRfc3339(at).slice(0, 10)
}
