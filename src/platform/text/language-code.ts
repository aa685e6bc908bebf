const CODE = /^[a-z]{2,8}(?:[-_][a-z0-9]{2,8}){0,3}$/i
const SCRIPT = /^[a-z]{4}$/i
const REGION = /^(?:[a-z]{2}|\d{3})$/i

/** `EN-gb` and `en_GB` are `en-GB`, `zh-hans` is `zh-Hans`; undefined for what is no code of a language. */
export function languageCode(text: unknown): string | undefined {
  if (typeof text !== 'string' || !CODE.test(text)) return undefined
  const [language = '', ...parts] = text.toLowerCase().split(/[-_]/)
  return [language, ...parts.map(spelled)].join('-')
}

function spelled(part: string): string {
  if (SCRIPT.test(part)) return part.slice(0, 1).toUpperCase() + part.slice(1)
  return REGION.test(part) ? part.toUpperCase() : part
}
