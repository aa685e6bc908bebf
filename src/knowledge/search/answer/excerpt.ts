import { wholeCharacter } from '../../../platform/text/whole-character.ts'
import type { Place } from '../words/place.ts'
import type { WantedWords } from '../words/wanted-words.ts'

const AROUND = 300

/** Of a long text its beginning and what stands around the words that are looked for, about so many characters. */
export function excerptOf(text: string, wanted: WantedWords, length: number): string {
  return text.length <= length ? text : excerptAround(text, wanted.placesIn(text), length)
}

/** The same, around places that were found in it. */
export function excerptAround(text: string, places: readonly Place[], length: number): string {
  let end = wholeCharacter(text, Math.min(AROUND, length))
  let excerpt = text.slice(0, end)
  for (const place of places) {
    const from = Math.max(end, wholeCharacter(text, place.start - AROUND))
    const to = wholeCharacter(text, Math.min(text.length, place.end + AROUND))
    if (to <= end) continue
    if (excerpt.length + to - from > length) break
    excerpt += `${from > end ? '\n' : ''}${text.slice(from, to)}`
    end = to
  }
  return excerpt
}
