/** Signs that stand for letters which the index has, as `№`, `㎏` and `㍿`; for the inside of a character class. */
export const LETTER_SIGNS = [
  String.raw`\u20a8\u2100\u2101\u2103\u2105\u2106\u2109\u2116\u2120-\u2122\u213b\u249c-\u24e9\u2e9f\u2ef3\u2f00-\u2fd5\u3196-\u319f`,
  String.raw`\u3200-\u321e\u322a-\u3247\u3250\u3260-\u327e\u328a-\u32b0\u32c0-\u33ff\ufdfc`,
  String.raw`\u{1f110}-\u{1f12e}\u{1f130}-\u{1f14f}\u{1f16a}-\u{1f16c}\u{1f190}\u{1f200}-\u{1f202}\u{1f210}-\u{1f23b}\u{1f240}-\u{1f248}\u{1f250}\u{1f251}`,
].join('')

/** Those of them, and of numbers, whose letters are of a script without spaces but which are of no script themselves. */
export const UNSPACED_SIGNS = [
  String.raw`\u3196-\u319f\u3220-\u3247\u3280-\u32b0\u32c0-\u32cb\u32ff\u3358-\u3370\u337b-\u337f\u33e0-\u33fe`,
  String.raw`\u{1f210}-\u{1f23b}\u{1f240}-\u{1f248}\u{1f250}\u{1f251}`,
].join('')

/** Not seen, and in the middle of a word: where it may be hyphenated, must not be broken, is joined, or how it is to look. The index leaves them out. */
export const UNSEEN = String.raw`\u00ad\u200d\u2060\ufe00-\ufe0f\ufeff\u{e0100}-\u{e01ef}`

/** Halves of a flag, for the inside of a character class. */
export const FLAG_HALVES = String.raw`\u{1f1e6}-\u{1f1ff}`

/** A flag or another emoji: a word by itself. Signs that stand in plain text, as arrows, © and ™, are none. */
export const PICTURE = String.raw`(?:[${FLAG_HALVES}]{2}|(?![\0-\u22ff\u2500-\u25ff])\p{Extended_Pictographic})`
