/**
 * Letters and digits that the index has as others, beside those that lose an accent: most people type only one of the two, or their
 * keyboard has only one of them.
 */
const LETTERS_AS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
  // Of Arabic, Persian, Urdu and Kurdish, by their code points, since many of them look alike.
  '\u0629': '\u0647', // teh marbuta: heh
  '\u0649': '\u064a', // alef maksura: yeh
  '\u0671': '\u0627', // alef wasla: alef
  '\u06a9': '\u0643', // keheh: kaf
  '\u06c1': '\u0647', // heh goal: heh
  '\u06c3': '\u0647', // teh marbuta goal: heh
  '\u06cc': '\u064a', // Persian yeh: yeh
  '\u06d2': '\u064a', // yeh barree: yeh
  '\u06d5': '\u0647', // ae: heh
}
// The zeros of Arabic, Persian and Indic scripts and of Tibetan, each before its other nine digits. Digits of scripts that are cut into
// pairs stay what they are.
const ZEROS = '٠۰०০੦૦୦௦౦೦൦༠'
for (const zero of ZEROS) {
  const code = zero.charCodeAt(0)
  for (let digit = 0; digit <= 9; digit++) LETTERS_AS[String.fromCharCode(code + digit)] = String(digit)
}

const VARIANT = new RegExp(`[${Object.keys(LETTERS_AS).join('')}]`, 'g')

/** Of a text in lower case, composed and without accents. */
export function withoutVariants(text: string): string {
  return text.replace(VARIANT, (letter) => LETTERS_AS[letter] as string)
}
