import { readingTextLines } from '../text/body/markdown-blocks.ts'
import { type LinkTarget, readTarget, scanInline } from '../text/body/wikilinks.ts'
import type { Steps } from '../text/steps.ts'

export interface Rewritten {
  body: string
  count: number
}

/**
 * Gives links another name, which has the anchor in it. Display texts stay as they are written, as does everything that
 * is no link: code, comments, brackets that are never closed. `newName` answers undefined for a link that shall stay.
 */
export function* rewritingLinks(body: string, newName: (link: LinkTarget) => string | undefined): Steps<Rewritten> {
  const starts = lineStarts(body)
  let result = ''
  let written = 0
  let count = 0
  for (const [first, end] of yield* readingTextLines(body)) {
    yield
    const offset = starts[first] ?? body.length
    const text = body.slice(offset, starts[end] ?? body.length)
    for (const span of scanInline(text).links) {
      const start = offset + span.start + 2
      const inner = text.slice(span.start + 2, span.end - 2)
      const link = readTarget(inner)
      const name = link === null ? undefined : newName(link)
      // Two blocks never share a line that is read twice, unless one is lazily continued: what was written stays.
      if (name === undefined || start < written) continue
      result += body.slice(written, start) + name
      written = start + nameEnd(inner)
      count++
    }
  }
  return count === 0 ? { body, count } : { body: result + body.slice(written), count }
}

/** Where the display text begins, with its bar; the end where there is none. */
function nameEnd(inner: string): number {
  const bar = inner.indexOf('|')
  if (bar < 0) return inner.length
  return bar > 0 && inner[bar - 1] === '\\' ? bar - 1 : bar
}

function lineStarts(body: string): number[] {
  const starts = [0]
  for (let at = 0; at < body.length; at++) {
    const code = body.charCodeAt(at)
    if (code === 10 || (code === 13 && body.charCodeAt(at + 1) !== 10)) starts.push(at + 1)
  }
  return starts
}
