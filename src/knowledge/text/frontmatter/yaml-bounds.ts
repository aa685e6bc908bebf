import { Lexer } from 'yaml'
import { AppError } from '../../../platform/errors/app-error.ts'

/** Longer frontmatter is refused: reading YAML is the slowest thing done to a note. In UTF-16 units. */
export const MAX_YAML = 65_536
export const MAX_DEPTH = 32
export const MAX_KEY = 512

export interface YamlBounds {
  /** What it takes to read YAML goes by its pieces: texts, marks, blanks, line ends. A key with a short value has seven of them. */
  pieces: number
  /** With its aliases written out. */
  characters: number
}

export const BOUNDS: YamlBounds = { pieces: 32_768, characters: MAX_YAML }
/** Of what was kept before those were there. Reading the worst of it takes some tenths of a second: it was never longer than now. */
export const STORED_BOUNDS: YamlBounds = { pieces: Number.POSITIVE_INFINITY, characters: 2_000_000 }
// Too short to take long, whatever stands in it.
const SHORT = 2_048

/** Asked before a text is parsed, and before one is kept: looking at its pieces takes a quarter of the time. */
export function refuseCostlyYaml(yaml: string, bounds: YamlBounds): void {
  if (yaml.length > MAX_YAML) throw tooLong()
  if (yaml.length <= SHORT) return
  let pieces = 0
  let depth = 0
  for (const piece of new Lexer().lex(yaml)) {
    if (++pieces > bounds.pieces) throw tooManyPieces(bounds)
    if (piece === '[' || piece === '{') depth++
    else if (piece === ']' || piece === '}') depth--
    if (depth > MAX_DEPTH) throw tooDeep()
  }
}

export function badYaml(what: string): AppError {
  return new AppError('invalid_argument', `The frontmatter (the part between the --- lines) cannot be used: ${what}.`)
}

export function tooDeep(): AppError {
  return badYaml(`its values are nested more than ${MAX_DEPTH} deep`)
}

export function tooLong(): AppError {
  return badYaml(`it is longer than ${MAX_YAML} characters`)
}

function tooManyPieces({ pieces }: YamlBounds): AppError {
  return badYaml(
    `its keys, values, comments, line ends and the marks between them are more than ${pieces}; keep long lists in the body`,
  )
}

/** Refuses what could not be written back, or would not be an ordinary member of an object. */
export function checkKey(key: string): void {
  if (key === '__proto__') throw badYaml('the key __proto__ is not allowed')
  if (key.length > MAX_KEY) throw badYaml(`a key is longer than ${MAX_KEY} characters`)
}
