const LONGEST_SHOWN = 100

/** As an error may repeat it: a caller can send an id of any length. */
export function shownId(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}
