/** A text read as the name of a note and a place in it. */
export interface Division {
  text: string
  anchor: string | null
}

/** At the first "#"; undivided where nothing stands behind it. */
export function divideAtFirst(name: string): Division {
  return divideAt(name, name.indexOf('#')) ?? { text: name, anchor: null }
}

/**
 * The ways to read a text that has an anchor as the name of a note that has a "#" in it, first those that leave less to
 * the anchor: "F# intro#part" may be all name, or a part of "F# intro".
 */
export function literalDivisions(name: string): Division[] {
  const whole = { text: name, anchor: null }
  const last = name.lastIndexOf('#')
  const atLast = last === name.indexOf('#') ? null : divideAt(name, last)
  return atLast === null ? [whole] : [whole, atLast]
}

function divideAt(name: string, hash: number): Division | null {
  const anchor = hash === -1 ? '' : name.slice(hash + 1).trim()
  return anchor === '' ? null : { text: name.slice(0, hash).trimEnd(), anchor }
}
