import { hash } from 'node:crypto'
import { parseId } from '../ids/uuid.ts'
import { foldedText } from '../text/folded-text.ts'

const SIGNS = new Set(Array.from(`"'<>(),;:`, (sign) => sign.charCodeAt(0)))
// What stands between addresses, in a sentence or a list. An address may hold all of these but blanks, as o'brien@ does: both are tried.
const BETWEEN = [isBlank, (code: number) => SIGNS.has(code) || isBlank(code)]

const MOST_MENTIONS = 1_000

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code >= 0xa0 && /\s/.test(String.fromCharCode(code)))
}

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
 * The rules of addresses do not matter here: something, `@`, something. From each `@` outwards, because an expression that looks for
 * this would look through the rest of a long text from every character.
 */
export function* emailsIn(text: string): Generator<string> {
  for (const isBetween of BETWEEN) {
    let end = 0
    for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', end)) {
      let start = at
      while (start > end && !isBetween(text.charCodeAt(start - 1))) start--
      end = at
      while (end < text.length && !isBetween(text.charCodeAt(end))) end++
      yield* emailsInWord(text.slice(start, end))
    }
  }
}

/** Of `a@b@c` the first: what stands between two signs is one half of one address. */
function* emailsInWord(word: string): Generator<string> {
  let start = 0
  for (let at = word.indexOf('@'); at !== -1; at = word.indexOf('@', start)) {
    const next = word.indexOf('@', at + 1)
    const end = next === -1 ? word.length : next
    const isEmail = at > start && end > at + 1
    if (isEmail) yield word.slice(start, end)
    start = isEmail ? end + 1 : at + 1
  }
}
