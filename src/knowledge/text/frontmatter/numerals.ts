import { isMap, isScalar, isSeq, type Scalar } from 'yaml'
import { MAX_YAML, STORED_BOUNDS } from './yaml-bounds.ts'
import { parseYamlDocument } from './yaml-read.ts'

const ENDS_IN_ZERO = /\d\.\d*0(?![\d.])/
const DECIMAL = /^[-+]?\d+\.\d*0$/

/** Whether it may have such numbers; nearly no text does. */
export function hasOwnSpelling(yaml: string): boolean {
  return ENDS_IN_ZERO.test(yaml)
}

/**
 * The YAML with numbers that stand in the other one, too, spelled as there: as values 3.10 and 3.1 are the same, but who writes
 * the one, of Python or in a price, does not mean the other.
 */
export function spelledAs(sent: string, yaml: string): string {
  const wanted = new Map<string, Scalar<number>>()
  for (const { path, number } of numbersOf(sent)) if (DECIMAL.test(number.source ?? '')) wanted.set(path, number)
  if (wanted.size === 0) return yaml
  let result = ''
  let from = 0
  for (const { path, number } of numbersOf(yaml)) {
    const as = wanted.get(path)
    if (as?.source === undefined || as.value !== number.value || !number.range) continue
    const [start, end] = number.range
    result += yaml.slice(from, start) + as.source
    from = end
  }
  result += yaml.slice(from)
  // What is kept must be readable again.
  return result.length > MAX_YAML ? yaml : result
}

interface NumberAt {
  path: string
  number: Scalar<number>
}

/** In the order of the text. */
function numbersOf(yaml: string): Generator<NumberAt> {
  return numbersIn(parseYamlDocument(yaml, STORED_BOUNDS).contents, '')
}

function* numbersIn(node: unknown, path: string): Generator<NumberAt> {
  if (isScalar(node)) {
    if (typeof node.value === 'number') yield { path, number: node as Scalar<number> }
  } else if (isMap(node)) {
    for (const { key, value } of node.items) {
      yield* numbersIn(value, `${path}/${JSON.stringify(isScalar(key) ? String(key.value) : null)}`)
    }
  } else if (isSeq(node)) {
    for (const [at, item] of node.items.entries()) yield* numbersIn(item, `${path}/${at}`)
  }
}
