import { wholeCharacter } from './whole-character.ts'

/** The first so many units of UTF-16, without half of a character at their end. Half of one that was sent is replaced: many readers refuse JSON with it. */
export function cutTo(text: string, length: number): string {
  return (text.length > length ? text.slice(0, wholeCharacter(text, length)) : text).toWellFormed()
}

/** The same for a sentence that repeats what a caller sent: "…" tells that there is more. */
export function shortened(text: string, length: number): string {
  return text.length > length ? `${cutTo(text, length)}…` : text.toWellFormed()
}
