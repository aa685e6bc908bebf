import { MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import { PreparedBody } from './prepared-body.ts'

interface Kept {
  source: object
  body: PreparedBody
}

// Every endpoint has one or two; only past terms have one each.
const MAX_BODIES = 200

export const HTML_TYPE = 'text/html; charset=utf-8'

/** The bodies of answers by name. One whose source was read again but says the same stays, with its compressed forms. */
export class BodyKeeper {
  readonly #kept = new Map<string, Kept>()

  body(name: string, source: object, make: () => { document: unknown; changedAt?: Micros }): PreparedBody {
    return this.#keep(name, source, () => {
      const { document, changedAt } = make()
      const changedAtMs = changedAt === undefined ? null : Math.floor(changedAt / MICROS_PER_MS)
      return new PreparedBody(Buffer.from(JSON.stringify(document)), changedAtMs)
    })
  }

  page(name: string, source: object, make: () => string): PreparedBody {
    return this.#keep(name, source, () => new PreparedBody(Buffer.from(make()), null, HTML_TYPE))
  }

  #keep(name: string, source: object, make: () => PreparedBody): PreparedBody {
    const kept = this.#kept.get(name)
    if (kept?.source === source) return kept.body
    const made = make()
    const isSame = kept?.body.etag === made.etag && kept.body.lastModified === made.lastModified
    const body = isSame ? kept.body : made
    this.#kept.delete(name)
    this.#kept.set(name, { source, body })
    if (this.#kept.size > MAX_BODIES) this.#kept.delete(this.#kept.keys().next().value as string)
    return body
  }
}
