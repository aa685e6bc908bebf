import { atOnce, inTurns, type Steps } from '../steps.ts'
import { readExplicit } from './explicit-relation.ts'
import { readingBlocks } from './markdown-blocks.ts'
import { type ParsedObservation, readObservation } from './observations.ts'
import type { TextBlock } from './text-block.ts'
import { hasLinks, type LinkTarget, readTarget, type Span, scanInline } from './wikilinks.ts'

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
const DIRECTIVE = '#bm:links_to'
const NO_LINKS: readonly Span[] = []

/** Everything that is derived from the text of a note, in time proportional to its length. */
export function parseBody(body: string): ParsedBody {
  return atOnce(parsingBody(body))
}

// Parsing more than this takes long enough to let others have their turn meanwhile.
const LONG_BODY = 50_000

/** The same. Of a long text not in one go. */
export async function readBody(body: string, breathe?: () => Promise<unknown>): Promise<ParsedBody> {
  return body.length > LONG_BODY ? inTurns(parsingBody(body), breathe) : parseBody(body)
}

/** The same. A long text can be left alone from time to time. */
export function* parsingBody(body: string): Steps<ParsedBody> {
  const reading = new BodyReading()
  const isLong = body.length > LONG_BODY
  const blocks = yield* readingBlocks(body)
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at] as TextBlock
    const links = reading.block(block)
    // A line may have all links of a long text.
    for (let next = 0; next < links.length; next++) {
      reading.inlineLink(block.text, links[next] as Span)
      if (isLong) yield
    }
    if (isLong) yield
  }
  return reading.result
}

class BodyReading {
  readonly result: ParsedBody = { observations: [], links: [], headings: [], firstHeading1: null }
  readonly #seen = new Set<string>()

  /** Answers with the links in it that are yet to be read: those that stand in the text. */
  block(block: TextBlock): readonly Span[] {
    const { kind, text } = block
    const links = hasLinks(text) ? scanInline(text).links : NO_LINKS
    if (kind === 'heading') this.#heading(block)
    return kind === 'item' && this.#item(block, links) ? links.slice(1) : links
  }

  inlineLink(text: string, { start, end }: Span): void {
    const target = readTarget(text.slice(start + 2, end - 2))
    if (target !== null) this.#add(target, INLINE, null)
  }

  #heading({ text, level, isTop }: TextBlock): void {
    if (text !== '') this.result.headings.push(text)
    if (level === 1 && isTop) this.result.firstHeading1 ??= text
  }

  /** Whether its first link is a relation of its own. */
  #item({ text, isQuoted }: TextBlock, links: readonly Span[]): boolean {
    const lineEnd = text.indexOf('\n')
    const line = lineEnd === -1 ? text : text.slice(0, lineEnd)
    const isExplicit = this.#explicit(line, links[0])
    if (!isExplicit && !isQuoted) {
      const observation = readObservation(withoutDirective(line.trim()))
      if (observation !== null) this.result.observations.push(observation)
    }
    return isExplicit
  }

  #explicit(line: string, link: Span | undefined): boolean {
    if (link === undefined || link.end > line.length) return false
    const relation = readExplicit(line, link)
    const target = relation === null ? null : readTarget(line.slice(link.start + 2, link.end - 2))
    if (relation === null || target === null) return false
    this.#add(target, relation.type, relation.context)
    return true
  }

  #add({ target, anchor, display, name }: LinkTarget, type: string, context: string | null): void {
    const key = `${type}\n${name}`
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    // NOTE: spelled out, for one that is spread and then added to is made in two pieces.
    this.result.links.push({ target, anchor, display, name, type, context })
  }
}

function withoutDirective(line: string): string {
  const end = line.length - DIRECTIVE.length
  return line.endsWith(DIRECTIVE) && /\s/.test(line.charAt(end - 1)) ? line.slice(0, end).trimEnd() : line
}
