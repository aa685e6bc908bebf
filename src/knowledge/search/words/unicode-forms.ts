/** What can be written in several forms, as `ü` by one character or by two, is compared in this one. */
export function composed(text: string): string {
  return text.normalize('NFC')
}

/** The composed form first, then those in which an index of an earlier version has it: there words are as each note has them. */
export function unicodeForms(text: string): string[] {
  return [...new Set([composed(text), text.normalize('NFD'), text])]
}
