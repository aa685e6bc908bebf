import { cutTo } from '../../../platform/text/shortened.ts'
import { readerCharacterAt } from '../../text/reader-character.ts'
import type { Question } from '../question/question.ts'
import type { Place } from '../words/place.ts'
import { WantedWords } from '../words/wanted-words.ts'

export interface Snippet {
  field: 'title' | 'content' | 'tags' | 'permalink' | 'file_path'
  text: string
  /** Start and end of what was asked for in `text`, in UTF-16 units, in order and apart. */
  highlights: [number, number][]
}

/** Of what a result is made, as far as it can be shown. */
export interface SnippetTexts {
  title: string
  tags: readonly string[]
  permalink: string | null
  /** Of a note. */
  path?: string
  content: string
}

const LENGTH = 240
/** A word without an end is cut. */
const LONGEST = 500
const BEFORE = 60
const MOST_OF_CONTENT = 3
const WORD_EDGE = 24
const BLANK = /\s/

/** Where a text has what was asked for. Takes linear time, and stops when it has seen enough. */
export function snippetsOf(texts: SnippetTexts, question: Question): Snippet[] {
  const wanted = new WantedWords(question)
  if (wanted.isEmpty) return []
  const snippets = [
    ...whole('title', texts.title, wanted),
    ...parts(texts.content, wanted),
    ...whole('tags', cutTo(texts.tags.join(', '), LONGEST), wanted),
  ]
  if (snippets.length > 0) return snippets
  // A note that was moved keeps its permalink.
  const named = whole('permalink', texts.permalink ?? '', wanted)
  return named.length > 0 ? named : whole('file_path', texts.path ?? '', wanted)
}

/** The beginning of a text, for what was not found by its words. */
export function beginningOf(content: string): Snippet[] {
  const from = content.length - content.trimStart().length
  const text = cut(content, from, from + LENGTH).text
  return text === '' ? [] : [{ field: 'content', text, highlights: [] }]
}

function whole(field: Snippet['field'], text: string, wanted: WantedWords): Snippet[] {
  const places = wanted.placesIn(text)
  return places.length === 0 ? [] : [{ field, text, highlights: merged(places, 0, text.length) }]
}

/** The stretches of the content that have the most different words of the question, in the order of the text. */
function parts(content: string, wanted: WantedWords): Snippet[] {
  let left = wanted.placesIn(content)
  const chosen: { start: number; end: number; places: Place[] }[] = []
  const shown = new Set<number>()
  while (left.length > 0 && chosen.length < MOST_OF_CONTENT) {
    const best = bestStretch(left, shown)
    for (const { terms } of best) for (const term of terms) shown.add(term)
    const [first, last] = [best[0] as Place, best.at(-1) as Place]
    const start = Math.max(0, first.start - BEFORE)
    const end = Math.max(start + LENGTH, Math.min(last.end, start + LONGEST))
    chosen.push({ start, end, places: best })
    left = left.filter((place) => endOf(place) < start || startOf(place) > end + BEFORE)
  }
  return chosen
    .sort((one, other) => one.start - other.start)
    .map(({ start, end, places }) => {
      const shownText = cut(content, start, end, places)
      return {
        field: 'content',
        text: shownText.text,
        highlights: merged(places, shownText.start, shownText.text.length),
      }
    })
}

/** A phrase is shown as a whole, unless it is too long for that. */
function startOf({ start, phrase }: Place): number {
  return phrase !== undefined && isShort(phrase) ? phrase.start : start
}

function endOf({ end, phrase }: Place): number {
  return phrase !== undefined && isShort(phrase) ? phrase.end : end
}

function isShort({ start, end }: { start: number; end: number }): boolean {
  return end - start <= LONGEST - BEFORE
}

/** What fits into one snippet, beginning at the place from which that is worth most. */
function bestStretch(places: readonly Place[], shown: ReadonlySet<number>): Place[] {
  let best: Place[] = []
  let bestWorth = -1
  for (let from = 0; from < places.length; from++) {
    const first = places[from] as Place
    if (startOf(first) < first.start && best.length > 0) continue
    const reach = Math.max(LENGTH - BEFORE, endOf(first) - first.start)
    const stretch = [first]
    const terms = new Set(first.terms)
    for (let next = from + 1; next < places.length; next++) {
      const place = places[next] as Place
      if (endOf(place) - first.start > reach) break
      stretch.push(place)
      for (const term of place.terms) terms.add(term)
    }
    let worth = Math.min(stretch.length, 10) / 100
    for (const term of terms) worth += shown.has(term) ? 0.1 : 1
    if (worth > bestWorth) [best, bestWorth] = [stretch, worth]
  }
  return best
}

/** A stretch of a text, moved to the edges of words where one is near, but never into a place. */
function cut(
  content: string,
  from: number,
  to: number,
  places: readonly Place[] = [],
): { text: string; start: number } {
  let start = from
  let end = Math.min(content.length, to)
  const firstPlace = places[0]?.start ?? end
  const lastPlace = places.at(-1)?.end ?? start
  if (start > 0) {
    for (let at = start; at < Math.min(start + WORD_EDGE, firstPlace); at++) {
      if (!BLANK.test(content[at - 1] as string)) continue
      start = at
      break
    }
  }
  if (end < content.length) {
    for (let at = end; at > Math.max(end - WORD_EDGE, lastPlace); at--) {
      if (!BLANK.test(content[at] as string)) continue
      end = at
      break
    }
  }
  while (start < firstPlace && BLANK.test(content[start] as string)) start++
  while (end > Math.max(lastPlace, start) && BLANK.test(content[end - 1] as string)) end--
  if (start < firstPlace) start = Math.min(readerCharacterAt(content, start).end, firstPlace)
  const whole = Math.max(start, readerCharacterAt(content, end).start)
  end = end > lastPlace ? Math.max(whole, lastPlace) : whole
  return { text: content.slice(start, end), start }
}

function merged(places: readonly Place[], offset: number, length: number): [number, number][] {
  const highlights: [number, number][] = []
  for (const place of places) {
    const [start, end] = [place.start - offset, Math.min(place.end - offset, length)]
    const last = highlights.at(-1)
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end)
    else highlights.push([start, end])
  }
  return highlights
}
