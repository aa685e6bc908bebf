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

  constructor(problems: Problem[]) {
    super(formatProblems(problems))
    this.name = 'SettingsError'
    this.problems = problems
  }
}

function formatProblems(problems: Problem[]): string {
  const heading =
    problems.length === 1 ? 'The settings have a problem:' : `The settings have ${problems.length} problems:`
  const lines = problems.map(({ path, message, example }) => `  ${path} ${message}\n    for example: ${example}`)
  return [heading, ...lines].join('\n')
}
