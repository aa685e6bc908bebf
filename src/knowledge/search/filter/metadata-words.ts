import { hash } from 'node:crypto'
import type { Metadata } from '../../text/frontmatter/metadata.ts'
import { typeWord } from '../index/search-scope.ts'
import { composed, unicodeForms } from '../words/unicode-forms.ts'
import type { MetadataFilter, MetadataScalar } from './metadata-filter.ts'
import { metadataValues, sameForm, sharesForm, TYPE, typeKeys, writtenForm } from './metadata-values.ts'

const LENGTH = 11
// Different for almost every note, so that words for them would cost more than they are worth.
const WITHOUT_WORDS: ReadonlySet<string> = new Set(['title', 'permalink'])

/** Scope words for a note's frontmatter: each key that it has, and each of its values. */
export function metadataWords(metadata: Metadata): string[] {
  const words = new Set<string>()
  for (const [key, values] of metadataValues(metadata)) {
    if (WITHOUT_WORDS.has(key)) continue
    words.add(keyWord(key))
    for (const value of values) words.add(valueWord(key, sameForm(key, value)))
  }
  return [...words]
}

/** Groups of scope words: what passes the filters has one of each group. */
export function filterWords(filters: readonly MetadataFilter[]): string[][] {
  return filters.flatMap(({ key, condition }) => {
    if (WITHOUT_WORDS.has(key) || condition.op === 'not_all') return []
    if (condition.op === 'range') return [[keyWord(key)]]
    const words = condition.values.map((value) => {
      const own = unicodeForms(writtenForm(key, value)).map((form) => valueWord(key, form))
      return key === TYPE ? [...own, ...typeWords(value)] : own
    })
    return condition.op === 'in' ? [words.flat()] : words
  })
}

/** Those of which a note of the type has one. */
export function typeWords(type: MetadataScalar): string[] {
  const keys = typeKeys(type)
  return [...new Set([...keys.map(composed), ...keys])].map(typeWord)
}

/** Groups of scope words: what passes the filters has not all of any group. */
export function refusedWords(filters: readonly MetadataFilter[]): string[][] {
  return filters.flatMap((filter) => {
    const { key, condition } = filter
    // What other values have as well excludes nothing by itself.
    if (condition.op !== 'not_all' || mustCompare(filter)) return []
    return [condition.values.map((value) => valueWord(key, sameForm(key, value)))]
  })
}

/** Whether what has the words may still not pass. */
export function mustCompare({ key, condition }: MetadataFilter): boolean {
  if (condition.op === 'range' || WITHOUT_WORDS.has(key)) return true
  return condition.values.some((value) => sharesForm(key, value))
}

/** The scope word of observations of a category. */
export function categoryWord(category: string): string {
  return `c${digest(composed(category))}`
}

/** Those of which an observation of the category has one. */
export function categoryWords(category: string): string[] {
  return unicodeForms(category).map((form) => `c${digest(form)}`)
}

function keyWord(key: string): string {
  return `f${digest(key)}`
}

// Nothing in a key is a NUL, so key and value cannot be mistaken for another pair.
function valueWord(key: string, form: string): string {
  return `f${digest(`${key}\0${form}`)}`
}

// Notes have most of their keys, types and categories in common with others. A longer one may be a piece of a text to the engine, and
// keep all of the text in memory.
const MOST_KEPT = 1_000
const LONGEST_KEPT = 12
const kept = new Map<string, string>()

/** Long enough that two different ones never meet. */
function digest(text: string): string {
  const known = kept.get(text)
  if (known !== undefined) return known
  const made = hash('sha256', text, 'hex').slice(0, LENGTH)
  if (text.length > LONGEST_KEPT) return made
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(text, made)
  return made
}
