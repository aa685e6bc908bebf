import type { Static, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { Settings } from 'typebox/system'
import { InvalidRequest, type Problem } from './problem.ts'
import { type JsonSchema, problemTexts, wholeUnions } from './problem-texts.ts'

const MAX_PROBLEMS = 100
// Finding every problem walks the whole value, so a long list of wrong items is only looked at from the front.
const MAX_NODES = 10_000

// Of alternatives the problems of each are found, and of all these one or two are told.
const MAX_ERRORS = 10 * MAX_PROBLEMS

Settings.Set({ maxErrors: MAX_ERRORS })

/** Compiled when first used: a server with hundreds of operations starts before anybody needs them all. */
export class SchemaCheck<Schema extends TSchema = TSchema> {
  readonly #schema: Schema
  readonly #part: Problem['part']
  #validator: Validator | undefined

  constructor(schema: Schema, part: Problem['part']) {
    this.#schema = schema
    this.#part = part
  }

  passes(value: unknown): value is Static<Schema> {
    this.#validator ??= Compile(this.#schema as object)
    return this.#validator.Check(value)
  }

  /** Every problem at once, up to a hundred. To be asked only after `passes` said no. */
  explain(value: unknown): InvalidRequest {
    if (value === undefined || value === null) return new InvalidRequest([this.#problem([], 'is required', 'required')])
    const validator = this.#validator as Validator
    const [, errors] = validator.Errors(shortened(value, { left: MAX_NODES }))
    const whole = errors.length < MAX_ERRORS ? errors : wholeUnions(errors)
    const problems = problemTexts(this.#schema as TSchema as JsonSchema, whole)
      .slice(0, MAX_PROBLEMS)
      .map((place): Problem => ({ ...place, part: this.#part }))
    if (problems.length === 0) problems.push(this.#problem([], 'does not have the right form', 'schema'))
    return new InvalidRequest(problems)
  }

  #problem(at: Problem['at'], text: string, kind: string): Problem {
    return { part: this.#part, at, text, kind }
  }
}

/** A copy with the ends of long lists cut off. Members stay, so that none looks missing. */
function shortened(value: unknown, budget: { left: number }): unknown {
  budget.left--
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    for (const item of value) {
      if (budget.left <= 0) break
      copy.push(shortened(item, budget))
    }
    return copy
  }
  const copy: Record<string, unknown> = {}
  let members = 0
  for (const name in value) {
    if (++members > MAX_NODES) break
    copy[name] = shortened((value as Record<string, unknown>)[name], budget)
  }
  return copy
}
