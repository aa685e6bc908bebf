import { withOne } from '../with-one.ts'
import { divideAtFirst } from './anchors.ts'

/** A part of a text: from `start` up to but not including `end`. */
export interface Span {
  start: number
  end: number
}

export interface InlineSpans {
  /** `[[…]]` with its brackets, outermost only, in order. */
  links: readonly Span[]
  /** Inline code and comments. */
  hidden: readonly Span[]
}

const NONE: readonly Span[] = []
const NOTHING: InlineSpans = { links: NONE, hidden: NONE }

export interface LinkTarget {
  /** Without display text and anchor; `project::Note` as `project/Note`. */
  target: string
  anchor: string | null
  display: string | null
  /** The target as written, with its anchor. */
  name: string
}

/** No note has a longer name, and names are indexed. In UTF-16 units. */
export const MAX_LINK_NAME = 1_000

const BACKTICK = 96
const BACKSLASH = 92
const LESS = 60
const OPEN = 91
const CLOSE = 93

/** One pass over the text. Brackets match by depth; one that is never closed hides nothing behind it. */
export function scanInline(text: string): InlineSpans {
  const mayHide = text.includes('`') || text.includes('<!--')
  if (!mayHide && !hasLinks(text)) return NOTHING
  const links = mayHide || text.includes('\\') ? null : plainLinks(text)
  if (links !== null) return { links, hidden: NONE }
  const scan = new InlineScan(text)
  for (let at = 0; at < text.length; ) at = scan.step(at)
  return scan.spans
}

export function hasLinks(text: string): boolean {
  return text.includes('[[')
}

/** The links of a text in which nothing is hidden or escaped; null when one of them has brackets inside. */
function plainLinks(text: string): Span[] | null {
  let links: Span[] = []
  for (let start = text.indexOf('[['); start !== -1; ) {
    const close = text.indexOf(']', start + 2)
    if (close === -1) break
    const open = text.indexOf('[', start + 2)
    if ((open !== -1 && open < close) || text.charCodeAt(close + 1) !== CLOSE) return null
    links = withOne(links, { start, end: close + 2 })
    start = open === -1 ? -1 : text.indexOf('[[', open)
  }
  return links
}

class InlineScan {
  readonly spans = { links: [] as Span[], hidden: [] as Span[] }
  readonly #text: string
  // Where open links begin, and how many single brackets are open in each.
  readonly #open: number[] = []
  readonly #singles: number[] = []
  #lastRuns: Map<number, number> | null = null
  #hasComments = true

  constructor(text: string) {
    this.#text = text
  }

  step(at: number): number {
    switch (this.#text.charCodeAt(at)) {
      case BACKSLASH:
        return at + (this.#isEscapable(at + 1) ? 2 : 1)
      case BACKTICK:
        return this.#code(at)
      case LESS:
        return this.#comment(at)
      case OPEN:
        return this.#opening(at)
      case CLOSE:
        return this.#closing(at)
      default:
        return at + 1
    }
  }

  #isEscapable(at: number): boolean {
    const code = this.#text.charCodeAt(at)
    return code === BACKTICK || code === OPEN || code === BACKSLASH
  }

  #code(at: number): number {
    const end = runEnd(this.#text, at)
    this.#lastRuns ??= lastRuns(this.#text)
    // NOTE: without knowing that there is a partner, a text of ever longer runs would be searched again and again.
    if ((this.#lastRuns.get(end - at) ?? -1) < end) return end
    let close = this.#text.indexOf('`', end)
    while (close !== -1) {
      const closeEnd = runEnd(this.#text, close)
      if (closeEnd - close === end - at) return this.#hide(at, closeEnd)
      close = this.#text.indexOf('`', closeEnd)
    }
    return end
  }

  #comment(at: number): number {
    if (!this.#hasComments || !this.#text.startsWith('<!--', at)) return at + 1
    const end = this.#text.indexOf('-->', at + 2)
    if (end !== -1) return this.#hide(at, end + 3)
    this.#hasComments = false
    return at + 1
  }

  #hide(start: number, end: number): number {
    this.spans.hidden.push({ start, end })
    return end
  }

  #opening(at: number): number {
    const end = runEnd(this.#text, at)
    const isOdd = (end - at) % 2 === 1
    if (isOdd && this.#open.length > 0) this.#addSingle(1)
    for (let start = isOdd ? at + 1 : at; start < end; start += 2) {
      this.#open.push(start)
      this.#singles.push(0)
    }
    return end
  }

  #closing(at: number): number {
    const end = runEnd(this.#text, at)
    let left = at
    while (left < end && this.#open.length > 0) {
      const isOdd = (end - left) % 2 === 1
      const singles = this.#singles[this.#singles.length - 1] as number
      if (isOdd && singles > 0) {
        this.#addSingle(-1)
        left += 1
      } else if (end - left >= 2) {
        this.#close(left + 2)
        left += 2
      } else break
    }
    return end
  }

  #addSingle(change: number): void {
    const top = this.#singles.length - 1
    this.#singles[top] = (this.#singles[top] as number) + change
  }

  #close(end: number): void {
    const start = this.#open.pop() as number
    this.#singles.pop()
    const { links } = this.spans
    while (links.length > 0 && (links[links.length - 1] as Span).start > start) links.pop()
    links.push({ start, end })
  }
}

function runEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  let end = at + 1
  while (text.charCodeAt(end) === code) end++
  return end
}

/** For every length of a run of backticks, where the last one begins. */
function lastRuns(text: string): Map<number, number> {
  const runs = new Map<number, number>()
  for (let at = text.indexOf('`'); at !== -1; ) {
    const end = runEnd(text, at)
    runs.set(end - at, at)
    at = text.indexOf('`', end)
  }
  return runs
}

/** What stands between `[[` and `]]`; null when it names nothing. */
export function readTarget(inner: string): LinkTarget | null {
  const bar = inner.indexOf('|')
  // In a table the bar is written `\|`.
  const nameEnd = bar > 0 && inner.charCodeAt(bar - 1) === BACKSLASH ? bar - 1 : bar
  const written = oneLine(bar === -1 ? inner : inner.slice(0, nameEnd))
  if (written === '' || written.length > MAX_LINK_NAME) return null
  const hash = written.indexOf('#')
  // Not in the anchor: `Doc#std::vector` leads to a heading.
  const name = hash < 0 ? withSlash(written) : withSlash(written.slice(0, hash)) + written.slice(hash)
  const display = bar === -1 ? '' : oneLine(inner.slice(bar + 1))
  const { text: target, anchor } = divideAtFirst(name)
  if (target === '') return null
  return { target, anchor, display: display === '' ? null : display, name }
}

function oneLine(text: string): string {
  if (!text.includes('\n')) return text.trim()
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}

/** `project::Note` as `project/Note`, in which form links are kept; so is `project::/Note`, where the path has a slash of its own. */
export function withSlash(name: string): string {
  const at = name.indexOf('::')
  if (at === -1) return name
  const project = name.slice(0, at).trimEnd()
  const note = withoutFirstSlashes(name.slice(at + 2).trimStart())
  return project === '' || note === '' ? name : `${project}/${note}`
}

function withoutFirstSlashes(path: string): string {
  let start = 0
  while (path[start] === '/') start++
  return path.slice(start)
}
