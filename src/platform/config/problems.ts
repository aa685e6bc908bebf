import { type Problem, SettingsError } from './settings-error.ts'

// A file of nonsense must not fill the terminal, or memory, with what is wrong with it.
const MOST_PROBLEMS = 50

export class Problems {
  readonly #found: Problem[] = []
  #count = 0

  /** `explain` runs only for a problem that will be shown: explaining is what costs time. */
  add(explain: () => Problem): void {
    this.#count += 1
    if (this.#found.length < MOST_PROBLEMS) this.#found.push(printable(explain()))
  }

  throwIfAny(): void {
    if (this.#count > 0) throw new SettingsError(this.#found, this.#count - this.#found.length)
  }
}

/** A value as a reader may see it: short and on one line. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a map'
  const shown = typeof value === 'string' ? JSON.stringify(withoutCredentials(value).slice(0, 61)) : String(value)
  return shown.length > 64 ? `${shown.slice(0, 60)}…` : shown
}

// Nothing that a hostile name or file says may move the cursor of whoever reads about it.
function printable({ path, message, example }: Problem): Problem {
  const clean = (text: string) => text.replace(/\p{Cc}/gu, '?')
  return { path: clean(path), message: clean(message), example: clean(example) }
}

function withoutCredentials(text: string): string {
  return text.slice(0, 1000).replace(/:\/\/[^@/]*@/g, '://***@')
}

/** `callbacks.namespaces["a b"].retention`, `server.trusted_proxies[0]`. */
export function showPath(path: readonly (string | number)[]): string {
  const shown = path.map((step, index) => {
    if (typeof step === 'number') return `[${step}]`
    if (!/^[A-Za-z_][\w-]{0,79}$/.test(step)) return `[${show(step)}]`
    return index === 0 ? step : `.${step}`
  })
  return shown.join('')
}
