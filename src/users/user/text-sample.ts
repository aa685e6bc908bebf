/**
 * What is common in the texts of users, judged by some of them. A search asks the index for the rarest parts of its
 * text only, and a text that very many users hold is not looked up at all but met on the way through the list.
 */
export class TextSample {
  readonly #texts: readonly string[]
  readonly #counts = new Map<string, number>()

  constructor(texts: readonly string[]) {
    this.#texts = texts
    for (const text of texts) {
      for (const trigram of trigramsOf(text)) this.#counts.set(trigram, (this.#counts.get(trigram) ?? 0) + 1)
    }
  }

  /** From 0 to 1. */
  shareOf(part: string): number {
    if (this.#texts.length === 0) return 0
    let held = 0
    for (const text of this.#texts) if (text.includes(part)) held++
    return held / this.#texts.length
  }

  rarest(trigrams: readonly string[], count: number): string[] {
    return [...trigrams].sort((a, b) => (this.#counts.get(a) ?? 0) - (this.#counts.get(b) ?? 0)).slice(0, count)
  }
}

/** Each once, by characters as the index counts them; none for a text that is too short. */
export function trigramsOf(text: string): string[] {
  const characters = [...text]
  const trigrams = new Set<string>()
  for (let start = 0; start + 3 <= characters.length; start++) {
    trigrams.add(`${characters[start]}${characters[start + 1]}${characters[start + 2]}`)
  }
  return [...trigrams]
}
