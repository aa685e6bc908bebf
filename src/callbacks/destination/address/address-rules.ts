import type { Target } from './target.ts'

export interface AddressRule {
  /** Compared with the whole `host[:port]`; `*` stands for any characters. */
  pattern: string
  allow_insecure: boolean
}

/** Why the rules refuse the target; undefined when they let it pass. The first rule that matches decides. */
export function findRuleProblem(rules: readonly AddressRule[], { url, authority }: Target): string | undefined {
  const isSecure = url.protocol === 'https:'
  for (const { pattern, allow_insecure } of rules) {
    if (pattern === '') continue
    const matches = (text: string) => matchesPattern(pattern.toLowerCase(), text)
    const isLetPass = isSecure || allow_insecure
    if (isLetPass && matches(authority)) return undefined
    // Another spelling of a host that is called by https only, such as `%61.example`, is no way around that.
    if (!isLetPass && (matches(authority) || matches(meant(url, authority)))) {
      return `callback url is insecure: "${authority}" may be called by https only`
    }
  }
  return `callback url does not match any allowed address: "${authority}"`
}

/** The host that is called in the end, with the port as it was written. */
function meant({ hostname }: URL, authority: string): string {
  return hostname.replace(/\.$/, '') + (/:\d*$/.exec(authority)?.[0] ?? '')
}

/** Each literal piece is taken at its first place, the last one at the end: no piece is ever tried twice. */
function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return text === first
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const piece of others) {
    const found = text.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}
