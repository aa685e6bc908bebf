/** For texts that are the same in whatever case, and however a keyboard writes é: as one sign or as two. */
export function foldedText(text: string): string {
  return text.toLowerCase().normalize('NFC')
}
