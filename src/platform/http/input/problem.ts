import { AppError } from '../../errors/app-error.ts'
import type { Surface } from '../surface.ts'

/** One thing wrong with a request, and where. */
export interface Problem {
  part: 'body' | 'query' | 'path'
  /** Member names and array indexes from the top; empty for the whole part. */
  at: readonly (string | number)[]
  /** Completes a sentence that begins with the place: `is required`. */
  text: string
  /** Machine-readable kind, such as `required`. */
  kind: string
}

const PART_NAMES = { body: 'Request body', query: 'Query string', path: 'Path' }

export function sentence({ part, at, text }: Problem): string {
  return `${at.length === 0 ? PART_NAMES[part] : placeOf(at)} ${text}`
}

/** `data.relationships.roles.data[0].id` */
function placeOf(at: Problem['at']): string {
  let place = ''
  for (const step of at) {
    if (typeof step === 'number') place += `[${step}]`
    else place += place === '' ? step : `.${step}`
  }
  return place
}

/** Thrown before anybody knows which surface answers; the error handler does. */
export class InvalidRequest extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(sentence).join('; '))
    this.name = 'InvalidRequest'
    this.problems = problems
  }

  /** A malformed request is 400 on two surfaces, 422 on the others, which also list the places. */
  toAppError(surface: Surface): AppError {
    const problems = this.problems.map(sentence)
    if (surface === 'knowledge') {
      const errors = this.problems.map((problem) => ({
        loc: [problem.part, ...problem.at],
        msg: sentence(problem),
        type: problem.kind,
      }))
      return new AppError('unprocessable', problems.join('; '), { details: [{ errors }] })
    }
    // What cannot be read at all is 400 there; 422 is for values that can be named.
    if (surface === 'instance' && this.problems[0]?.kind !== 'json') {
      return new AppError('unprocessable', `Validation failed: ${problems.join(', ')}`, {
        details: [{ details: byMember(this.problems) }],
      })
    }
    return new AppError('invalid_argument', problems.length === 1 ? (problems[0] as string) : 'Invalid request', {
      problems,
    })
  }
}

function byMember(problems: readonly Problem[]): Record<string, { error: string; description: string }[]> {
  const members = new Map<string, { error: string; description: string }[]>()
  for (const problem of problems) {
    const place = placeOf(problem.at) || 'base'
    const list = members.get(place) ?? []
    list.push({ error: `ERR_${problem.kind.toUpperCase()}`, description: problem.text })
    members.set(place, list)
  }
  return Object.fromEntries(members)
}
