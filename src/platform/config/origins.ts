import { stringify } from 'yaml'

export type Source = 'default' | 'file' | 'environment' | 'flag'
export type Path = readonly (string | number)[]

/** Who set a value: the file, variable or flag of that name, which addresses the settings at `path`. */
export interface Origin {
  source: Source
  name: string
  path: Path
  /** Where in a file a value is: `commonplace.yaml:12`. */
  placeOf?(path: Path): string
}

const BUILT_IN: Origin = { source: 'default', name: 'built-in default', path: [] }

/** Remembers where each value came from, to say so in messages and in `commonplace config`. */
export class Origins {
  readonly #byPath = new Map<string, Origin>()

  set(path: Path, origin: Origin): void {
    this.#byPath.set(path.join('\0'), origin)
  }

  /** What is inside a list or map came from where the list or map came from. */
  of(path: Path): Origin {
    for (let length = path.length; length > 0; length -= 1) {
      const origin = this.#byPath.get(path.slice(0, length).join('\0'))
      if (origin) return origin
    }
    return BUILT_IN
  }
}

export function placeIn(origin: Origin, path: Path): string {
  return origin.placeOf?.(path) ?? origin.name
}

/** `raw` at `path`, written the way the origin writes it: YAML, `VARIABLE=…` or `--flag …`. */
export function exampleAt(path: Path, raw: unknown, origin: Origin): string {
  const below = origin.source === 'file' ? [] : origin.path
  const value = path.slice(below.length).reduceRight<unknown>(wrap, raw)
  if (origin.source === 'environment') return `${origin.name}=${asText(value)}`
  if (origin.source === 'flag') return `${origin.name} ${asText(value)}`
  const flow = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()
  return path.length > 0 ? flow.replace(/^\{ ?| ?\}$/g, '') : flow
}

/** How an environment variable or a flag writes a value. */
export function asText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

function wrap(inner: unknown, step: string | number): unknown {
  return typeof step === 'number' ? [inner] : { [step]: inner }
}
