// No letter has so many marks in any language; putting them in order takes time by the square of their number.
const MANY_MARKS = /\p{M}{64}/u
const PIECE = /\P{M}*\p{M}{0,64}/gu

/** The same as `text.normalize(form)`, except that of endless marks not all are put in order together. */
export function normalForm(text: string, form: 'NFC' | 'NFD' | 'NFKD'): string {
  return text.length >= 64 && MANY_MARKS.test(text)
    ? text.replace(PIECE, (piece) => piece.normalize(form))
    : text.normalize(form)
}
