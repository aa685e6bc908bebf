// Letters that Unicode does not take apart into a base letter and marks; capitals follow from them.
const WHOLE_LETTERS: Record<string, string> = {
  æǣǽᴁ: 'ae',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
  ŋ: 'ng',
  ĳ: 'ij',
  ǆǳ: 'dz',
  ǉ: 'lj',
  ǌ: 'nj',
  ﬀ: 'ff',
  ﬁ: 'fi',
  ﬂ: 'fl',
  ﬃ: 'ffi',
  ﬄ: 'ffl',
  ﬅﬆ: 'st',
  ⱥ: 'a',
  ɓƀƃ: 'b',
  ƈȼ: 'c',
  đðɖɗȡƌ: 'd',
  ɇ: 'e',
  ƒ: 'f',
  ɠǥ: 'g',
  ħⱨ: 'h',
  ıɨ: 'i',
  ȷɉ: 'j',
  ƙĸⱪ: 'k',
  łƚȴɫⱡ: 'l',
  ɲƞŉȵ: 'n',
  øǿɵ: 'o',
  ƥᵽ: 'p',
  ɍɽ: 'r',
  ſẛȿ: 's',
  ŧƭʈⱦȶ: 't',
  ʉ: 'u',
  ʋⱱ: 'v',
  ⱳ: 'w',
  ƴɏ: 'y',
  ƶȥⱬɀ: 'z',
}

const BLOCKS = [
  [0xc0, 0x24f],
  [0x1e00, 0x1eff],
  [0x2c60, 0x2c7f],
  [0xa720, 0xa7ff],
] as const

const LATIN = new Map<number, string>()
for (const [letters, plain] of Object.entries(WHOLE_LETTERS)) {
  for (const letter of letters) LATIN.set(letter.codePointAt(0) as number, plain)
}
for (const [first, last] of BLOCKS) {
  for (let code = first; code <= last; code++) {
    const letter = String.fromCodePoint(code)
    const base = letter.normalize('NFD')[0] as string
    const small = LATIN.get(letter.toLowerCase().codePointAt(0) as number)
    if (/[A-Za-z]/.test(base)) LATIN.set(code, base)
    else if (!LATIN.has(code) && small !== undefined) LATIN.set(code, small.toUpperCase())
  }
}

/** The letters of `a-z` and `A-Z` for a Latin letter beyond them (é, ß, Ł); undefined for whatever has none. */
export function plainLatin(codePoint: number): string | undefined {
  return LATIN.get(codePoint)
}
