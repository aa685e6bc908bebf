import { hash } from 'node:crypto'

// What stands in a sentence or alone; the rules of addresses do not matter here.
const EMAIL = /[^\s@"'<>(),;:]+@[^\s@"'<>(),;:]+/g

export function userMention(id: string): string {
  return `user ${id}`
}

/** Not kept in a form that names anybody. */
export function emailMention(email: string): string {
  return `email ${hash('sha256', email.toLowerCase(), 'base64url')}`
}

/** Whom a JSON document is about: users it shows or refers to, and addresses in its texts. */
export function mentionsIn(body: string): string[] {
  if (body === '') return []
  const mentions = new Set<string>()
  // The document is one of ours, so it is not deep.
  const visit = (value: unknown): void => {
    if (typeof value === 'string') {
      for (const [email] of value.matchAll(EMAIL)) mentions.add(emailMention(email))
    } else if (typeof value === 'object' && value !== null) {
      const { type, id } = value as { type?: unknown; id?: unknown }
      if (type === 'users' && typeof id === 'string') mentions.add(userMention(id))
      for (const member of Object.values(value)) visit(member)
    }
  }
  visit(JSON.parse(body))
  return [...mentions]
}
