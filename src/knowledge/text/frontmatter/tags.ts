import { dropUnstorable } from '../clean-text.ts'
import type { JsonValue } from './metadata.ts'

/** Tags as people write them: a list, `a, b`, or a JSON array in a text; each once, without `#`. */
export function readTags(value: JsonValue | undefined): string[] {
  const tags = new Set<string>()
  for (const text of readTexts(value)) {
    for (const part of text.split(',')) {
      const tag = withoutHashes(part.trim())
      if (tag !== '') tags.add(tag)
    }
  }
  return [...tags]
}

/** A list of texts, or what is between the commas of one. Commas inside the elements of a list stay. */
export function readNames(value: JsonValue | undefined): string[] {
  const texts = typeof value === 'string' && arrayInText(value) === null ? value.split(',') : readTexts(value)
  return [...new Set(texts.map((text) => text.trim()).filter((text) => text !== ''))]
}

function readTexts(value: JsonValue | undefined): string[] {
  if (value === null || value === undefined) return []
  if (typeof value === 'string') return arrayInText(value) ?? [value]
  if (Array.isArray(value))
    return value.flatMap((element) => (typeof element === 'string' ? element : readTexts(element)))
  return typeof value === 'object' ? [] : [String(value)]
}

function arrayInText(text: string): string[] | null {
  const trimmed = text.trim()
  if (!trimmed.startsWith('[') || !trimmed.endsWith(']')) return null
  try {
    const elements = JSON.parse(trimmed) as JsonValue[]
    const scalars = elements.filter((element) => element !== null && typeof element !== 'object')
    // Escapes in it were no signs yet when the text was cleaned.
    return scalars.map((element) => dropUnstorable(String(element)))
  } catch {
    return null
  }
}

/** A tag as it is kept, however many `#` it was written with. */
export function withoutHashes(text: string): string {
  let start = 0
  while (text[start] === '#') start++
  return start === 0 ? text : text.slice(start).trimStart()
}
