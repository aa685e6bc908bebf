/** One thing an operator has to change before the server starts. */
export interface Problem {
  /** The setting, or the file or variable when no setting can be named. */
  path: string
  /** One sentence that goes on after the path. */
  message: string
  /** Something valid to write instead. */
  example: string
}

/** Every problem of the settings at once; `message` is ready to be shown to the operator. */
export class SettingsError extends Error {
  readonly problems: Problem[]
  /** How many there are beside those. */
  readonly more: number

  constructor(problems: Problem[], more = 0) {
    super(formatProblems(problems, more))
    this.name = 'SettingsError'
    this.problems = problems
    this.more = more
  }
}

function formatProblems(problems: Problem[], more: number): string {
  const count = problems.length + more
  const heading = count === 1 ? 'The settings have a problem:' : `The settings have ${count} problems:`
  const lines = problems.map(({ path, message, example }) => `  ${path} ${message}\n    for example: ${example}`)
  const rest = more === 0 ? [] : [`  … and ${more} more that are not shown; correct these first.`]
  return [heading, ...lines, ...rest].join('\n')
}
