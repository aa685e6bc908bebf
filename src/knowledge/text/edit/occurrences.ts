// Up to here the built-in search is quick even on the worst text; beyond, its worst case would hold the server up.
const MOST_COMPARISONS = 20_000_000

/** Where `wanted` stands in the text, without overlaps, from left to right; in linear time whatever the two are. */
export function occurrencesOf(text: string, wanted: string): number[] {
  if (wanted === '' || wanted.length > text.length) return []
  return text.length * wanted.length <= MOST_COMPARISONS ? searchBuiltIn(text, wanted) : searchLinear(text, wanted)
}

function searchBuiltIn(text: string, wanted: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) found.push(at)
  return found
}

/** Knuth, Morris and Pratt: no character of the text is read twice. */
function searchLinear(text: string, wanted: string): number[] {
  const found: number[] = []
  const borders = bordersOf(wanted)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    while (matched > 0 && wanted.charCodeAt(matched) !== code) matched = borders[matched - 1] as number
    if (wanted.charCodeAt(matched) === code) matched++
    if (matched === wanted.length) {
      found.push(at - matched + 1)
      matched = 0
    }
  }
  return found
}

/** For each beginning of the text: the length of the longest shorter one that it ends with. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length)
  let border = 0
  for (let at = 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    while (border > 0 && text.charCodeAt(border) !== code) border = borders[border - 1] as number
    if (text.charCodeAt(border) === code) border++
    borders[at] = border
  }
  return borders
}
