import { setImmediate as nextTurn } from 'node:timers/promises'
import { MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import { PreparedBody } from './prepared-body.ts'

interface Kept {
  source: object
  body: PreparedBody
}

// Every endpoint has one or two; only past terms have one each.
const MAX_BODIES = 200
// Some milliseconds of work.
const ITEMS_AT_ONCE = 1_000

export const HTML_TYPE = 'text/html; charset=utf-8'

/** The bodies of answers by name. One whose source was read again but says the same stays, with its compressed forms. */
export class BodyKeeper {
  readonly #kept = new Map<string, Kept>()
  readonly #writing = new Map<string, { source: object; body: Promise<PreparedBody> }>()

  body(name: string, source: object, make: () => { document: unknown; changedAt?: Micros }): PreparedBody {
    return this.#keep(name, source, () => {
      const { document, changedAt } = make()
      const changedAtMs = changedAt === undefined ? null : Math.floor(changedAt / MICROS_PER_MS)
      return new PreparedBody(Buffer.from(JSON.stringify(document)), changedAtMs)
    })
  }

  /** The same of a list that may be very long: a promise while it is written, in turns with what others want. */
  list<Item>(
    name: string,
    source: object,
    items: readonly Item[],
    document: (item: Item) => unknown,
  ): PreparedBody | Promise<PreparedBody> {
    const isKept = this.#kept.get(name)?.source === source
    if (isKept || items.length <= ITEMS_AT_ONCE)
      return this.body(name, source, () => ({ document: items.map((item) => document(item)) }))
    const writing = this.#writing.get(name)
    if (writing?.source === source) return writing.body
    const body = listText(items, document)
      .then((text) => this.#keep(name, source, () => new PreparedBody(Buffer.from(text))))
      .finally(() => {
        if (this.#writing.get(name)?.body === body) this.#writing.delete(name)
      })
    this.#writing.set(name, { source, body })
    return body
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

async function listText<Item>(items: readonly Item[], document: (item: Item) => unknown): Promise<string> {
  const parts: string[] = []
  for (let at = 0; at < items.length; at += ITEMS_AT_ONCE) {
    const part = items.slice(at, at + ITEMS_AT_ONCE).map((item) => document(item))
    parts.push(JSON.stringify(part).slice(1, -1))
    await nextTurn()
  }
  return `[${parts.join(',')}]`
}
