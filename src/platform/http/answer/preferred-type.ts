interface Claim {
  weight: number
  /** 0 for any type, 1 for all of a kind, 2 for this one. */
  precision: number
}

const UNWANTED: Claim = { weight: 0, precision: 0 }

/**
 * Which of these media types a caller wants most by its header `Accept`. Of those it wants as much as each other the one
 * it names more precisely counts, then the earlier one here; the first one also where it takes none of them.
 */
export function preferredType<T extends string>(accepted: string | undefined, offered: readonly [T, ...T[]]): T {
  let [best] = offered
  if (accepted === undefined) return best
  const ranges = rangesOf(accepted)
  let claim = claimOf(ranges, best)
  for (const type of offered.slice(1)) {
    const other = claimOf(ranges, type)
    const isAsGood = other.weight === claim.weight && other.weight > 0
    if (other.weight > claim.weight || (isAsGood && other.precision > claim.precision)) [best, claim] = [type, other]
  }
  return best
}

/** Weights by media type or range, in lower case. */
function rangesOf(accepted: string): Map<string, number> {
  const ranges = new Map<string, number>()
  for (const piece of accepted.toLowerCase().split(',')) {
    const [range = '', ...parameters] = piece.split(';')
    ranges.set(range.trim(), weightOf(parameters))
  }
  return ranges
}

function weightOf(parameters: readonly string[]): number {
  const given = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('q='))
  const weight = given === undefined || given === 'q=' ? 1 : Number(given.slice(2))
  return weight >= 0 && weight <= 1 ? weight : 1
}

/** The most precise range decides, so that a type can be left out of those that `*` stands for. */
function claimOf(ranges: ReadonlyMap<string, number>, type: string): Claim {
  const names = ['*/*', `${type.slice(0, type.indexOf('/'))}/*`, type]
  for (let precision = 2; precision >= 0; precision--) {
    const weight = ranges.get(names[precision] as string)
    if (weight !== undefined) return { weight, precision }
  }
  return UNWANTED
}
