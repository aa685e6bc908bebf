// Made when the first is needed: what it loads takes 20 ms of a start.
let segmenter: Intl.Segmenter | undefined
// Enough to see every character as a whole, and which halves of flags in a row belong together. A whole text would take milliseconds.
const AROUND = 256
const FIRST_MARK = 0x300

/**
 * Where the character begins and ends that a place is in the middle of, as readers see characters: a letter with its marks, a syllable
 * of Korean, a flag, a family. Between two of them it is the place itself.
 */
export function readerCharacterAt(text: string, at: number): { start: number; end: number } {
  const isPlain = text.charCodeAt(at - 1) < FIRST_MARK && text.charCodeAt(at) < FIRST_MARK
  const from = Math.max(0, at - AROUND)
  const found = isPlain
    ? undefined
    : characters()
        .segment(text.slice(from, at + AROUND))
        .containing(at - from)
  if (found === undefined || from + found.index === at) return { start: at, end: at }
  return { start: from + found.index, end: from + found.index + found.segment.length }
}

function characters(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter
}
