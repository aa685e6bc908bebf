/** JSON Schema errors in sentences for people: `must be an integer from 1 to 100` instead of `must be <= 100`. */
import type { TLocalizedValidationError } from 'typebox/error'
import type { Problem } from './problem.ts'

export interface JsonSchema {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: JsonSchema[]
  minimum?: number
  maximum?: number
  description?: string
  [keyword: string]: unknown
}

type Place = Pick<Problem, 'at' | 'text' | 'kind'>

const FORMATS: Record<string, string> = {
  email: 'is not a valid email address',
  uuid: 'is not a valid UUID',
  'date-time': 'is not a valid RFC 3339 time',
  date: 'is not a valid date (YYYY-MM-DD)',
  uri: 'is not a valid URL',
  url: 'is not a valid URL',
}
const MAX_NAME = 100

/** The problems of one part of a request, each said once. Alternatives count as one problem. */
export function problemTexts(root: JsonSchema, errors: TLocalizedValidationError[]): Place[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  const problems: Place[] = []
  const said = new Set<string>()
  const meant = new Map(unions.map((union) => [union, new Set(meantBranch(union, errors))]))
  for (const error of errors) {
    if (unions.some((union) => isBranchOf(union, error) && !meant.get(union)?.has(error))) continue
    if ((meant.get(error)?.size ?? 0) > 0) continue
    for (const problem of toProblems(root, error)) {
      const key = `${problem.at.join('/')} ${problem.text}`
      if (!said.has(key)) problems.push(problem)
      said.add(key)
    }
  }
  return problems
}

function isBranchOf(union: TLocalizedValidationError, error: TLocalizedValidationError): boolean {
  return union !== error && error.schemaPath.startsWith(`${union.schemaPath}/${union.keyword}/`)
}

/**
 * Of alternatives of different types, such as a list or null, the one with the type of the value is what was meant. Of values that are
 * allowed themselves, all are told instead.
 */
function meantBranch(
  union: TLocalizedValidationError,
  errors: readonly TLocalizedValidationError[],
): TLocalizedValidationError[] {
  const branches = Map.groupBy(
    errors.filter((error) => isBranchOf(union, error)),
    ({ schemaPath }) => schemaPath.slice(`${union.schemaPath}/${union.keyword}/`.length).split('/')[0],
  )
  const fitting = [...branches.values()].filter((branch) =>
    branch.every(({ keyword, instancePath }) => keyword !== 'type' || instancePath !== union.instancePath),
  )
  const [only] = fitting
  const isKindOfValue = only?.every(
    ({ keyword, instancePath }) => (keyword !== 'const' && keyword !== 'enum') || instancePath !== union.instancePath,
  )
  return fitting.length === 1 && only !== undefined && isKindOfValue ? only : []
}

function toProblems(root: JsonSchema, error: TLocalizedValidationError): Place[] {
  const at = error.instancePath === '' ? [] : error.instancePath.slice(1).split('/').map(toStep)
  const kind = error.keyword === '~refine' ? 'value' : error.keyword
  const problem = (text: string): Place[] => [{ at, text, kind }]
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((name) => ({
        at: [...at, cut(name)],
        text: 'is required',
        kind: 'required',
      }))
    case 'additionalProperties':
      return error.params.additionalProperties
        .slice(0, MAX_NAME)
        .map((name) => ({ at: [...at, cut(name)], text: 'is not a known member', kind: 'unknown' }))
    case 'boolean':
      return []
    // A check in code (`Type.Refine`) says in its own words what it wants.
    case '~refine':
      return problem(error.message)
    case 'minLength':
      return problem(
        error.params.limit === 1 ? 'must not be empty' : `must have at least ${error.params.limit} characters`,
      )
    case 'maxLength':
      return problem(`must have at most ${error.params.limit} characters`)
    case 'minItems':
      return problem(error.params.limit === 1 ? 'must not be empty' : `must have at least ${error.params.limit} items`)
    case 'maxItems':
      return problem(`must have at most ${error.params.limit} items`)
    case 'uniqueItems':
      return problem('must not hold an item twice')
    case 'format':
      return problem(FORMATS[error.params.format] ?? `is not a valid ${error.params.format}`)
    case 'pattern':
      return problem('does not have the right form')
    default:
      return problem(expectation(schemaAt(root, error.schemaPath)) ?? error.message)
  }
}

/** What the schema wants, as far as one sentence can say it. */
function expectation(schema: JsonSchema | undefined): string | undefined {
  const wanted = schema && phrase(schema)
  return wanted && `must be ${wanted}`
}

function phrase(schema: JsonSchema): string | undefined {
  if ('const' in schema) return JSON.stringify(schema.const)
  const values = schema.enum ?? literals(schema)
  if (values !== undefined) return `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
  const branches = schema.anyOf?.map(phrase)
  if (branches?.every((branch) => branch !== undefined)) return branches.join(' or ')
  switch (schema.type) {
    case 'integer':
      return `an integer${range(schema)}`
    case 'number':
      return `a number${range(schema)}`
    case 'boolean':
      return 'true or false'
    case 'string':
      return 'a string'
    case 'array':
      return 'an array'
    case 'object':
      return 'an object'
    case 'null':
      return 'null'
  }
  return undefined
}

function range({ minimum, maximum }: JsonSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? '' : ` of at most ${maximum}`
}

function literals({ anyOf }: JsonSchema): unknown[] | undefined {
  return anyOf?.every((branch) => 'const' in branch) ? anyOf.map((branch) => branch.const) : undefined
}

function schemaAt(root: JsonSchema, pointer: string): JsonSchema | undefined {
  let schema: unknown = root
  for (const step of pointer.split('/').slice(1)) {
    schema = (schema as Record<string, unknown> | undefined)?.[unescaped(step)]
  }
  return schema as JsonSchema | undefined
}

function toStep(text: string): string | number {
  return /^\d{1,7}$/.test(text) ? Number(text) : cut(unescaped(text))
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

function cut(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
}
