import { wholeCharacter } from '../../../platform/text/whole-character.ts'
import { ASCII } from '../words/ascii-letters.ts'

/** A line, or a piece of a long one: what somebody says in one go. */
export interface Segment {
  start: number
  end: number
}

/** About forty words. */
const LONGEST = 240
const SENTENCE_END = /[.!?。！？]/
const SPACE = /\s/

/** The segments of a text in their order; blank lines have none. */
export function segmentsOf(text: string): Segment[] {
  const segments: Segment[] = []
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    addLine(segments, text, start, end)
    start = end + 1
  }
  return segments
}

function addLine(segments: Segment[], text: string, lineStart: number, end: number): void {
  let start = lineStart
  while (end - start > LONGEST) {
    const cut = cutBefore(text, start, start + LONGEST)
    segments.push({ start, end: cut })
    start = cut
  }
  if (text.slice(start, end).trim() !== '') segments.push({ start, end })
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code < ASCII ? code === 0x20 || (code >= 0x09 && code <= 0x0d) : SPACE.test(text.charAt(at))
}

/** After the last sentence, else the last word, in the second half; else anywhere. */
function cutBefore(text: string, start: number, end: number): number {
  const middle = start + LONGEST / 2
  let space = 0
  for (let at = end; at > middle; at--) {
    if (!isSpace(text, at)) continue
    if (SENTENCE_END.test(text.charAt(at - 1))) return at
    if (space === 0) space = at
  }
  return space > 0 ? space : wholeCharacter(text, end)
}
