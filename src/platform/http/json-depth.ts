/** Deeper than any document of ours, and shallow enough for code that walks a value by calling itself. */
export const MAX_DEPTH = 100

/** More than any request of ours has: each becomes an object, however few bytes it takes. */
const MAX_VALUES = 250_000

/** Whether JSON would nest deeper, judged before it is parsed. */
export function isTooDeep(text: string): boolean {
  return findShapeProblem(text, Number.POSITIVE_INFINITY) !== undefined
}

/** Why JSON should not be parsed. A value ends in a comma or begins with a bracket; those in texts do not count. */
export function findShapeProblem(text: string, maxValues = MAX_VALUES): string | undefined {
  if (text.length <= MAX_DEPTH * 2) return undefined
  let depth = 0
  let values = 0
  let inText = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inText) {
      if (char === 0x5c) i++
      else if (char === 0x22) inText = false
    } else if (char === 0x22) inText = true
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep`
      if (++values > maxValues) return tooMany(maxValues)
    } else if (char === 0x7d || char === 0x5d) depth--
    else if (char === 0x2c && ++values > maxValues) return tooMany(maxValues)
  }
  return undefined
}

function tooMany(maxValues: number): string {
  return `has more than ${maxValues.toLocaleString('en')} values`
}
