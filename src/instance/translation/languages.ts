/** Source language to target languages; `und` stands for a text whose language nobody said. */
export type TranslationLanguages = Readonly<Record<string, readonly string[]>>

const CODE = /^[a-z]{2,8}(?:[-_][a-z0-9]{2,8}){0,3}$/i
const SCRIPT = /^[a-z]{4}$/i
// A provider knows some hundred languages. What is beyond belief is not taken over.
const MOST_LANGUAGES = 1_000

export const ANY_SOURCE = 'und'

/** `EN-gb` is `en-GB`, `zh-hans` is `zh-Hans`; undefined for what is no code of a language. */
export function languageCode(text: unknown): string | undefined {
  if (typeof text !== 'string' || !CODE.test(text)) return undefined
  const [language = '', ...parts] = text.split(/[-_]/)
  const rest = parts.map((part) =>
    SCRIPT.test(part) ? part.slice(0, 1).toUpperCase() + part.slice(1).toLowerCase() : part.toUpperCase(),
  )
  return [language.toLowerCase(), ...rest].join('-')
}

/** The codes of a list, each once, in its order. */
export function languageCodes(list: readonly unknown[]): string[] {
  const codes = list.slice(0, MOST_LANGUAGES).map(languageCode)
  return [...new Set(codes.filter((code) => code !== undefined))]
}

export function withoutItself(language: string, targets: readonly string[]): string[] {
  return targets.filter((target) => target !== language)
}

/** Objects would take any name for a member, such as `__proto__`; codes that passed above are harmless. */
export function languageMap(entries: Iterable<[string, readonly string[]]>): TranslationLanguages {
  return Object.fromEntries(entries)
}
