/** Says that nobody wants a request any more. An AbortSignal is one. */
export interface GiveUpSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** For one request: an AbortController, with which any number may be given up, takes some microseconds for each. */
export class GiveUp implements GiveUpSignal {
  aborted = false
  reason: unknown
  #listener: (() => void) | null = null

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#listener !== null) throw new Error('This gives up one request')
    this.#listener = listener
  }

  removeEventListener(): void {
    this.#listener = null
  }

  abort(reason: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#listener?.()
  }
}
