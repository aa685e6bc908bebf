import { normalForm } from '../../text/normal-form.ts'

/** What can be written in several forms, as `ü` by one character or by two, is compared in this one. */
export function composed(text: string): string {
  return normalForm(text, 'NFC')
}

/** The composed form first, then those in which an index of an earlier version has it: there words are as each note has them. */
export function unicodeForms(text: string): string[] {
  return [...new Set([composed(text), normalForm(text, 'NFD'), text])]
}
