/** JSON Schema errors in sentences for people: `must be an integer from 1 to 100` instead of `must be <= 100`. */
import type { TLocalizedValidationError } from 'typebox/error'
import { shortened } from '../../text/shortened.ts'
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
  const unions = errors.filter(isUnion)
  const problems: Place[] = []
  const said = new Set<string>()
  const judged = new Map(unions.map((union) => [union, judge(root, union, errors)]))
  for (const error of errors) {
    if (unions.some((union) => isBranchOf(union, error) && !judged.get(union)?.meant.has(error))) continue
    const { meant, tag } = judged.get(error) ?? {}
    if (meant !== undefined && meant.size > 0) continue
    for (const problem of tag ?? toProblems(root, error)) {
      const key = `${problem.at.join('/')} ${problem.text}`
      if (!said.has(key)) problems.push(problem)
      said.add(key)
    }
  }
  return problems
}

/** Without the last alternatives of a list that was cut off: what of them is missing could be what was meant. */
export function wholeUnions(errors: readonly TLocalizedValidationError[]): TLocalizedValidationError[] {
  const [union] = /^.*?\/(?:anyOf|oneOf)\//.exec(errors.at(-1)?.schemaPath ?? '') ?? []
  if (union === undefined) return [...errors]
  return errors.slice(0, errors.findLastIndex(({ schemaPath }) => !schemaPath.startsWith(union)) + 1)
}

function isUnion({ keyword }: TLocalizedValidationError): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf'
}

function isBranchOf(union: TLocalizedValidationError, error: TLocalizedValidationError): boolean {
  if (union === error || !error.schemaPath.startsWith(branchesOf(union))) return false
  // Of the items of a list, all have one schema.
  return error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`)
}

function branchesOf({ schemaPath, keyword }: TLocalizedValidationError): string {
  return `${schemaPath}/${keyword}/`
}

interface Judged {
  /** The problems of the alternative that was meant; empty when that is not known. */
  meant: ReadonlySet<TLocalizedValidationError>
  /** Of objects that are told apart by a member: what is wrong with that one. */
  tag?: Place[]
}

/**
 * Of alternatives of different types, such as a list or null, the one with the type of the value is what was meant; of objects that are
 * told apart by a member with one value in each, the one with this value. Of values that are allowed themselves, all are told instead.
 */
function judge(
  root: JsonSchema,
  union: TLocalizedValidationError,
  errors: readonly TLocalizedValidationError[],
): Judged {
  const branches = Map.groupBy(
    errors.filter((error) => isBranchOf(union, error)),
    ({ schemaPath }) => schemaPath.slice(branchesOf(union).length).split('/')[0] as string,
  )
  const fitting = [...branches].filter(([, branch]) =>
    branch.every(({ keyword, instancePath }) => keyword !== 'type' || instancePath !== union.instancePath),
  )
  const tag = fitting.length > 1 ? tagOf(schemaAt(root, union.schemaPath)) : undefined
  if (tag !== undefined) {
    const isOther = ([at, branch]: (typeof fitting)[number]) =>
      branch.some(({ schemaPath }) => schemaPath === `${branchesOf(union)}${at}/properties/${tag.name}`)
    const same = fitting.filter((each) => !isOther(each))
    if (same.length === 1) return { meant: new Set(same[0]?.[1]) }
    const at = [...stepsOf(union), tag.name]
    return { meant: new Set(), tag: [{ at, text: `must be one of ${listed(tag.values)}`, kind: union.keyword }] }
  }
  const [only] = fitting.map(([, branch]) => branch)
  const isKindOfValue = only?.every(
    ({ keyword, instancePath }) => (keyword !== 'const' && keyword !== 'enum') || instancePath !== union.instancePath,
  )
  return { meant: new Set(fitting.length === 1 && isKindOfValue ? only : []) }
}

/** The member that is required with another value in each of the alternatives. */
function tagOf(schema: JsonSchema | undefined): { name: string; values: unknown[] } | undefined {
  const branches = (schema?.anyOf ?? schema?.oneOf ?? []) as ObjectSchema[]
  for (const name of Object.keys(branches[0]?.properties ?? {})) {
    const members = branches.map(({ required, properties }) => required?.includes(name) && properties?.[name])
    const values = members.flatMap((member) => (member && 'const' in member ? [member.const] : []))
    if (new Set(values).size === branches.length) return { name, values }
  }
  return undefined
}

interface ObjectSchema extends JsonSchema {
  required?: string[]
  properties?: Record<string, JsonSchema>
}

function toProblems(root: JsonSchema, error: TLocalizedValidationError): Place[] {
  const at = stepsOf(error)
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
  if (values !== undefined) return `one of ${listed(values)}`
  const branches = schema.anyOf?.map(phrase)
  if (branches?.every((branch) => branch !== undefined)) return [...new Set(branches)].join(' or ')
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

function listed(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ')
}

function stepsOf({ instancePath }: TLocalizedValidationError): Place['at'] {
  return instancePath === '' ? [] : instancePath.slice(1).split('/').map(toStep)
}

function toStep(text: string): string | number {
  return /^\d{1,7}$/.test(text) ? Number(text) : cut(unescaped(text))
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

function cut(name: string): string {
  return shortened(name, MAX_NAME)
}
