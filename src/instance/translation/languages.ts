import { languageCode } from '../../platform/text/language-code.ts'

/** Source language to target languages; `und` stands for a text whose language nobody said. */
export type TranslationLanguages = Readonly<Record<string, readonly string[]>>

// A provider knows some hundred languages. What is beyond belief is not taken over.
const MOST_LANGUAGES = 1_000

export const ANY_SOURCE = 'und'

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
