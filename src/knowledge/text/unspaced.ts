/** Scripts that are written without blanks between words, for the inside of a character class. */
export const UNSPACED_SCRIPTS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`

/** Half-width voice marks of Japanese, which belong to no script; in every other form they are part of a character. */
export const HALF_WIDTH_MARKS = 'ﾞﾟ'

const UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}${HALF_WIDTH_MARKS}]`, 'u')

/** Whether any of it, as it is written, is in such a script. */
export function hasUnspaced(text: string): boolean {
  return UNSPACED.test(text)
}
