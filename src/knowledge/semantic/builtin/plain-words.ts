// Only this: no cleaning, no accents, no other script. Most text is.
const OTHER_THAN_PLAIN = /[^\t\n\r\x20-\x7e]/

// Marks go before the decomposition, too: sorting a long run of them takes time that grows with its square.
const MARKS = /\p{Mn}/gu
const DROPPED = /[\0\ufffd]|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}]/gu
const SPACES = /\p{White_Space}/gu
// These scripts write words without spaces: each character is a word. The ranges are the reference tokenizer's.
const ALONE =
  /[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]|\p{P}/gu

/**
 * The text as the tokenizer's vocabulary spells words: lower case, no accents, no control characters, and a space on
 * both sides of whatever stands alone beyond ASCII.
 */
export function plainWords(text: string): string {
  if (!OTHER_THAN_PLAIN.test(text)) return text.toLowerCase()
  return (
    text
      .toWellFormed()
      .replace(DROPPED, '')
      .replace(SPACES, ' ')
      .replace(MARKS, '')
      .normalize('NFD')
      .replace(MARKS, '')
      // A word's last sigma is a letter of its own in JavaScript, and none in the vocabulary.
      .replaceAll('Σ', 'σ')
      .toLowerCase()
      .replace(ALONE, ' $& ')
  )
}
