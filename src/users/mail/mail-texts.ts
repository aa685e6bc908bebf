/**
 * What our mails say. Names come from people: each is put on one line, without characters that hide or turn text, and
 * escaped in HTML.
 */
import { MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import { escapeHtml } from '../../platform/http/pages/escape-html.ts'

export interface MailText {
  subject: string
  text: string
  html: string
}

/** A mail is paragraphs, at most one link, and a last word on why it came. */
interface Letter {
  subject: string
  paragraphs: string[]
  action?: { label: string; link: string }
  footer: string
}

export interface Organization {
  name: string
}

export function invitationText(input: {
  organization: Organization
  inviter: string | null
  link: string
  expiresAt: Micros
}): MailText {
  const organization = shown(input.organization.name)
  const inviter = input.inviter === null ? 'An administrator' : shown(input.inviter)
  return write({
    subject: `${inviter} invites you to ${organization}`,
    paragraphs: [
      `${inviter} invites you to join ${organization}.`,
      `Follow the link to choose a password. It works once, until ${moment(input.expiresAt)}.`,
    ],
    action: { label: 'Accept the invitation', link: input.link },
    footer: 'If you did not expect this, ignore this mail: nothing happens without you.',
  })
}

export function passwordResetText(input: { organization: Organization; link: string; expiresAt: Micros }): MailText {
  const organization = shown(input.organization.name)
  return write({
    subject: `Set a new password for ${organization}`,
    paragraphs: [
      `Somebody asked for a new password for your account at ${organization}.`,
      `Follow the link to choose one. It works once, until ${moment(input.expiresAt)}.`,
    ],
    action: { label: 'Choose a new password', link: input.link },
    footer: 'If it was not you, ignore this mail: your password stays as it is.',
  })
}

export function emailVerificationText(input: {
  organization: Organization
  link: string
  expiresAt: Micros
}): MailText {
  const organization = shown(input.organization.name)
  return write({
    subject: `Confirm your new address for ${organization}`,
    paragraphs: [
      `This address was entered for an account at ${organization}.`,
      `Follow the link to confirm that it is yours. It works once, until ${moment(input.expiresAt)}.`,
    ],
    action: { label: 'Confirm the address', link: input.link },
    footer: 'If you have no account there, ignore this mail: somebody mistyped an address.',
  })
}

export function emailChangedText(input: { organization: Organization }): MailText {
  const organization = shown(input.organization.name)
  return write({
    subject: `Your address at ${organization} was changed`,
    paragraphs: [
      `The email address of your account at ${organization} was changed.`,
      'From now on mail about the account goes to the new address, and no longer to this one.',
    ],
    footer: 'If you know nothing of this, tell an administrator at once.',
  })
}

// Line breaks and other control characters, and those that turn the direction of the text around them.
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]+/gu
const LONGEST_NAME = 100

/** A name as it may stand in a subject or a sentence. */
export function shown(name: string): string {
  const line = name.toWellFormed().replaceAll(UNSEEN, ' ').replaceAll(/\s+/gu, ' ').trim()
  const characters = [...line]
  return characters.length > LONGEST_NAME ? `${characters.slice(0, LONGEST_NAME).join('')}…` : line
}

const MOMENT: Intl.DateTimeFormatOptions = {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
}
// Made when the first letter is written: it takes milliseconds of a start.
let format: Intl.DateTimeFormat | undefined

/** `Tuesday, 1 January 2030, 09:30 UTC`: in pieces, because the punctuation differs between versions of the library. */
function moment(at: Micros): string {
  format ??= new Intl.DateTimeFormat('en-GB', MOMENT)
  const parts = format.formatToParts(new Date(at / MICROS_PER_MS))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? ''
  return `${part('weekday')}, ${part('day')} ${part('month')} ${part('year')}, ${part('hour')}:${part('minute')} UTC`
}

function write({ subject, paragraphs, action, footer }: Letter): MailText {
  const link = action?.link
  const text = [...paragraphs, ...(link === undefined ? [] : [link]), `-- \n${footer}`].join('\n\n')
  const body = paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`)
  if (action !== undefined) body.push(button(action))
  body.push(`<p style="color:#666;font-size:13px">${escapeHtml(footer)}</p>`)
  return { subject, text: `${text}\n`, html: page(subject, body.join('\n')) }
}

// The address stands there in full, too: some readers show no buttons, and a careful person reads before clicking.
function button({ label, link }: { label: string; link: string }): string {
  const href = escapeHtml(link)
  const style = 'display:inline-block;padding:10px 18px;border-radius:6px;background:#1f4fa3;color:#fff'
  return [
    `<p><a href="${href}" style="${style};text-decoration:none">${escapeHtml(label)}</a></p>`,
    `<p style="font-size:13px;word-break:break-all">${href}</p>`,
  ].join('\n')
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>
<body style="font-family:sans-serif;font-size:16px;line-height:1.5;color:#222;max-width:34em;margin:0 auto;padding:16px">
${body}
</body>
</html>
`
}
