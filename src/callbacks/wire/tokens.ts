import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Micros } from '../../platform/clock/clock.ts'
import { invalid } from './invalid.ts'

/** One run, as the caller of an operation names it. */
export interface RunName {
  namespace: string
  callbackId: string
  runId: string
}

/** One list: the token of a page goes on only where it came from. */
export interface ListName {
  namespace: string
  query: string
}

/** The sort key of the last row of a page. */
export interface ListPosition {
  sortAt: number
  createdAt: Micros
  runId: string
}

const LONG_POLL = 1
const LIST_PAGE = 2
const ATTEMPT_PAGE = 3

// Together with the rest a multiple of three: the base64 form needs no padding.
const SEAL_BYTES = 18
const UUID_BYTES = 16

/**
 * What callers give back to go on where they were: a position, and a seal that only this server can make over the
 * position and the place it belongs to. The place itself is not in the token, so that it is short.
 */
export class Tokens {
  // Making a key of bytes takes four times as long as a seal.
  readonly #key: KeyObject

  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key)
  }

  longPollToken(run: RunName, transitionCount: number): Uint8Array {
    return this.#seal(LONG_POLL, placeOf(run), numbers(transitionCount))
  }

  /** The transition count of the record that the caller has seen. */
  readLongPollToken(token: Uint8Array, run: RunName): number {
    const position = this.#open(LONG_POLL, placeOf(run), token, 8)
    if (position === undefined)
      throw invalid('long_poll_token is not one of this execution: take it from its last answer')
    return numberAt(position, 0)
  }

  listToken({ namespace, query }: ListName, { sortAt, createdAt, runId }: ListPosition): Uint8Array {
    const id = Buffer.from(runId.replaceAll('-', ''), 'hex')
    return this.#seal(LIST_PAGE, [namespace, query], Buffer.concat([numbers(sortAt, createdAt), id]))
  }

  /** Null for the first page. */
  readListToken(token: Uint8Array, { namespace, query }: ListName): ListPosition | null {
    if (token.length === 0) return null
    const position = this.#open(LIST_PAGE, [namespace, query], token, 16 + UUID_BYTES)
    if (position === undefined) throw badPageToken()
    return { sortAt: numberAt(position, 0), createdAt: numberAt(position, 8), runId: uuidAt(position, 16) }
  }

  attemptToken(run: RunName, attempt: number): Uint8Array {
    return this.#seal(ATTEMPT_PAGE, placeOf(run), numbers(attempt))
  }

  /** The last attempt of the page before, null for the first page. */
  readAttemptToken(token: Uint8Array, run: RunName): number | null {
    if (token.length === 0) return null
    const position = this.#open(ATTEMPT_PAGE, placeOf(run), token, 8)
    if (position === undefined) throw badPageToken()
    return numberAt(position, 0)
  }

  #seal(kind: number, place: readonly string[], position: Uint8Array): Uint8Array {
    const body = Buffer.concat([Uint8Array.of(kind), position])
    return new Uint8Array(Buffer.concat([body, this.#sealOf(body, place)]))
  }

  #open(kind: number, place: readonly string[], token: Uint8Array, positionBytes: number): Buffer | undefined {
    if (token.length !== 1 + positionBytes + SEAL_BYTES || token[0] !== kind) return undefined
    const body = Buffer.from(token.subarray(0, 1 + positionBytes))
    if (!timingSafeEqual(this.#sealOf(body, place), token.subarray(1 + positionBytes))) return undefined
    return body.subarray(1)
  }

  #sealOf(body: Uint8Array, place: readonly string[]): Buffer {
    // As JSON, so that no two places have the same text.
    const hmac = createHmac('sha256', this.#key).update(JSON.stringify(place)).update('\0').update(body)
    return hmac.digest().subarray(0, SEAL_BYTES)
  }
}

/**
 * Whether a run has changed since the caller saw it. A count from the future belongs to a database that was restored
 * from a backup: what the caller saw is gone, and that is a change.
 */
export function hasChangedSince(seenCount: number, transitionCount: number): boolean {
  return seenCount !== transitionCount
}

function placeOf({ namespace, callbackId, runId }: RunName): string[] {
  return [namespace, callbackId, runId]
}

function badPageToken() {
  return invalid('next_page_token is not one of this list: take it from the page before, and change nothing else')
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length)
  values.forEach((value, index) => {
    bytes.writeBigInt64BE(BigInt(value), 8 * index)
  })
  return bytes
}

function numberAt(bytes: Buffer, offset: number): number {
  return Number(bytes.readBigInt64BE(offset))
}

function uuidAt(bytes: Buffer, offset: number): string {
  const hex = bytes.toString('hex', offset, offset + UUID_BYTES)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
