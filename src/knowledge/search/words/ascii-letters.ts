export const ASCII = 128

/** By character code: as it stands in a word, in lower case; 0 when it ends one. What reads words by `indexWords` reads them so. */
export const LETTERS = new Uint8Array(ASCII)
for (let code = 0; code < ASCII; code++) {
  const letter = String.fromCharCode(code).toLowerCase()
  if (/[a-z0-9]/.test(letter)) LETTERS[code] = letter.charCodeAt(0)
}
