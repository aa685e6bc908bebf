import { atOnce, inTurns, type Steps } from '../steps.ts'
import { readExplicit } from './explicit-relation.ts'
import { readingBlocks } from './markdown-blocks.ts'
import { type ParsedObservation, readObservation } from './observations.ts'
import type { TextBlock } from './text-block.ts'
import { hasLinks, type InlineSpans, type LinkTarget, readTarget, type Span, scanInline } from './wikilinks.ts'

export type { ParsedObservation } from './observations.ts'

export interface ParsedLink extends LinkTarget {
  type: string
  context: string | null
}

export interface ParsedBody {
  observations: ParsedObservation[]
  /** In the order of the document, each type and name once. */
  links: ParsedLink[]
  headings: string[]
  firstHeading1: string | null
}

/** The type of a link that stands in a text without one. */
export const INLINE = 'links_to'
// What other servers have agents write at the end of a line whose first word is no type: no tag, and nothing that the line says.
const DIRECTIVE = /\s#bm:links_to$/

/** Everything that is derived from the text of a note, in time proportional to its length. */
export function parseBody(body: string): ParsedBody {
  return atOnce(parsingBody(body))
}

// Parsing more than this takes long enough to let others have their turn meanwhile.
const LONG_BODY = 100_000

/** The same. Of a long text not in one go. */
export async function readBody(body: string, breathe?: () => Promise<unknown>): Promise<ParsedBody> {
  return body.length > LONG_BODY ? inTurns(parsingBody(body), breathe) : parseBody(body)
}

/** The same, which can be left alone from time to time. */
export function* parsingBody(body: string): Steps<ParsedBody> {
  const reading = new BodyReading()
  for (const block of yield* readingBlocks(body)) {
    yield* reading.block(block)
    yield
  }
  return reading.result
}

class BodyReading {
  readonly result: ParsedBody = { observations: [], links: [], headings: [], firstHeading1: null }
  readonly #seen = new Set<string>()

  #heading({ text, level, isTop }: TextBlock): void {
    if (text !== '') this.result.headings.push(text)
    if (level === 1 && isTop) this.result.firstHeading1 ??= text
  }

  *block(block: TextBlock): Steps<void> {
    if (block.kind === 'heading') this.#heading(block)
    const spans = hasLinks(block.text) ? scanInline(block.text) : undefined
    const from = block.kind === 'item' && this.#item(block, spans) ? 1 : 0
    if (spans !== undefined) yield* this.#inlineLinks(block.text, spans, from)
  }

  /** Whether its first link is a relation of its own. */
  #item({ text, isQuoted }: TextBlock, spans: InlineSpans | undefined): boolean {
    const lineEnd = text.indexOf('\n')
    const line = lineEnd === -1 ? text : text.slice(0, lineEnd)
    const isExplicit = spans !== undefined && this.#explicit(line, spans)
    if (!isExplicit && !isQuoted) {
      const observation = readObservation(line.trim().replace(DIRECTIVE, '').trimEnd())
      if (observation !== null) this.result.observations.push(observation)
    }
    return isExplicit
  }

  #explicit(line: string, { links }: InlineSpans): boolean {
    const link = links[0]
    if (link === undefined || link.end > line.length) return false
    const relation = readExplicit(line, link)
    const target = relation === null ? null : readTarget(line.slice(link.start + 2, link.end - 2))
    if (relation === null || target === null) return false
    this.#add({ ...target, ...relation })
    return true
  }

  /** A line may have all links of a long text. */
  *#inlineLinks(text: string, { links }: InlineSpans, from: number): Steps<void> {
    for (let at = from; at < links.length; at++) {
      const { start, end } = links[at] as Span
      const target = readTarget(text.slice(start + 2, end - 2))
      if (target !== null) this.#add({ ...target, type: INLINE, context: null })
      yield
    }
  }

  #add(link: ParsedLink): void {
    const key = `${link.type}\n${link.name}`
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    this.result.links.push(link)
  }
}
