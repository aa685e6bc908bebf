/** Deeper than any document of ours, and shallow enough for code that walks a value by calling itself. */
export const MAX_DEPTH = 100

export interface ShapeLimits {
  maxDepth?: number
  maxValues?: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

/**
 * What is wrong with the shape of JSON, judged before it is parsed: each value becomes an object, however few bytes it takes. A value
 * ends in a comma or begins with a bracket; those in texts do not count.
 */
export function shapeProblem(
  json: Uint8Array,
  { maxDepth = MAX_DEPTH, maxValues = Number.POSITIVE_INFINITY }: ShapeLimits = {},
): 'too deep' | 'too many values' | undefined {
  // What was opened has to be closed.
  if (json.length <= Math.min(maxDepth * 2, maxValues)) return undefined
  let depth = 0
  let values = 0
  let inText = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (inText) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) inText = false
    } else if (byte === QUOTE) inText = true
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > maxDepth) return 'too deep'
      if (++values > maxValues) return 'too many values'
    } else if (byte === 0x7d || byte === 0x5d) depth--
    else if (byte === COMMA && ++values > maxValues) return 'too many values'
  }
  return undefined
}
