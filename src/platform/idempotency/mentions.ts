import { hash } from 'node:crypto'
import { parseId } from '../ids/uuid.ts'
import { foldedText } from '../text/folded-text.ts'

// What stands between addresses, in a sentence or a list. An address may hold all of these but blanks, as o'brien@ does: both are tried.
const BETWEEN = [/\s+/, /[\s"'<>(),;:]+/]

const MOST_MENTIONS = 1_000

export function userMention(id: string): string {
  return `user ${id}`
}

/** Not kept in a form that names anybody. */
export function emailMention(email: string): string {
  return `email ${hash('sha256', foldedText(email), 'base64url')}`
}

/** What has an external id, such as a note. */
export function resourceMention(externalId: string): string {
  return `resource ${externalId}`
}

/**
 * What a JSON document is about: users it shows or refers to, addresses in its texts, and what it names by an external id. Null when that is
 * too much to keep.
 */
export function mentionsIn(body: string): string[] | null {
  if (body === '') return []
  const mentions = new Set<string>()
  // As they are written: a text may hold the same one very often, and each is hashed.
  const emails = new Set<string>()
  const isTooMuch = () => mentions.size + emails.size > MOST_MENTIONS
  // The document is one of ours, so it is not deep.
  const visit = (value: unknown): void => {
    if (isTooMuch()) return
    if (typeof value === 'string') {
      for (const email of emailsIn(value)) {
        emails.add(email)
        if (isTooMuch()) return
      }
    } else if (typeof value === 'object' && value !== null) {
      const { type, id, external_id: external } = value as { type?: unknown; id?: unknown; external_id?: unknown }
      if (type === 'users' && typeof id === 'string') mentions.add(userMention(id))
      const externalId = typeof external === 'string' ? parseId(external) : undefined
      if (externalId !== undefined) mentions.add(resourceMention(externalId))
      for (const member of Object.values(value)) visit(member)
    }
  }
  visit(JSON.parse(body))
  if (isTooMuch()) return null
  for (const email of emails) mentions.add(emailMention(email))
  return [...mentions]
}

/**
 * The rules of addresses do not matter here: something, `@`, something. Cut into pieces, because an expression that looks for
 * this in a long text without `@` would look through the rest of it from every character.
 */
function* emailsIn(text: string): Generator<string> {
  if (!text.includes('@')) return
  for (const between of BETWEEN) {
    for (const word of new Set(text.split(between))) {
      if (!word.includes('@')) continue
      const parts = word.split('@')
      for (let at = 0; at + 1 < parts.length; at++) {
        if (parts[at] === '' || parts[at + 1] === '') continue
        yield `${parts[at]}@${parts[at + 1]}`
        at++
      }
    }
  }
}
