import { wholeCharacter } from '../../../platform/text/whole-character.ts'
import { UNSPACED_SCRIPTS } from '../../text/unspaced.ts'
import { ASCII, LETTERS } from './ascii-letters.ts'
import { FLAG_HALVES, UNSEEN } from './letter-signs.ts'

/** Where a piece of a long text ends, and the next one begins: behind each other, or the last characters in both. */
export interface Cut {
  end: number
  next: number
  /** Whether a word is cut there that is longer than any which is kept. */
  isInWord: boolean
}

const UNSPACED = new RegExp(`^[${UNSPACED_SCRIPTS}]`, 'u')
// What may be one with the character before it.
const MAYBE_JOINED = /^[\p{M}\u1160-\u11ff]/u
const NO_WORD = new RegExp(String.raw`^[^\p{L}\p{N}\p{M}${UNSEEN}${FLAG_HALVES}]`, 'u')

/**
 * The last place up to `last` where what stands on both sides can be read by itself: a gap between words, or a character of a script
 * without spaces, which makes a pair with the one before it.
 */
export function cutBefore(text: string, first: number, last: number): Cut {
  let end: number | undefined
  for (let at = last; at > first; at--) {
    const character = characterAt(text, at)
    if (isGap(character)) return { end: at, next: at, isInWord: false }
    if (!isUnspaced(character)) continue
    if (end !== undefined) return { end, next: at, isInWord: false }
    end = at
  }
  end ??= wholeCharacter(text, last)
  return { end, next: end, isInWord: true }
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) as number)
}

function isGap(character: string): boolean {
  const code = character.charCodeAt(0)
  if (code < ASCII) return LETTERS[code] === 0
  // A sign may stand for letters, as the one for a telephone does, and half of a character may stand for anything.
  return character.isWellFormed() && NO_WORD.test(character) && NO_WORD.test(character.normalize('NFKD'))
}

/** Whether it is of such a script, whatever stands before it. */
function isUnspaced(character: string): boolean {
  if (character.charCodeAt(0) < ASCII) return false
  const plain = character.normalize('NFKC')
  return UNSPACED.test(plain) && !MAYBE_JOINED.test(plain)
}
