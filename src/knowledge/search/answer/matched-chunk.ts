import { cutTo } from '../../../platform/text/shortened.ts'
import type { HitChunk } from '../hit.ts'

/** Where a chunk stands in the content, by its hash. */
export type ChunkPlaces = ReadonlyMap<string, { start: number; end: number }>

const LONGEST_WHOLE = 2_000
const MOST_CHUNKS = 5
const BETWEEN = '\n---\n'

/** What of a note answers: all of a short one, else its best chunks, best first. */
export function matchedChunk(content: string, body: string, chunks: readonly HitChunk[], places: ChunkPlaces): string {
  if (body.length <= LONGEST_WHOLE) return body
  const texts: string[] = []
  for (const { hash } of chunks) {
    const place = places.get(hash)
    const text = place === undefined ? '' : content.slice(place.start, place.end).trim()
    if (text !== '' && !texts.includes(text)) texts.push(text)
    if (texts.length === MOST_CHUNKS) break
  }
  return texts.length === 0 ? cutTo(body, LONGEST_WHOLE) : texts.join(BETWEEN).toWellFormed()
}
