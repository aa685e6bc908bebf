import { ignoreFailure } from '../errors/ignore-failure.ts'
import type { HeldMemory, SharedMemory } from './shared-memory.ts'

/** Smaller bodies wait for nothing: how many connections and calls there may be bounds them. */
export const LARGE_BODY_BYTES = 64 * 1024
/** As they are sent; what is made of one takes several times as much. */
export const BODY_MEMORY_BYTES = 64 * 1024 * 1024

/** Memory for one body, until its request has an answer. Most bodies need none, and cost nothing here. */
export class BodyRoom {
  readonly #memory: SharedMemory<string>
  readonly #owner: string
  #isLeft = false
  #leaving: AbortController | undefined
  #taking: Promise<HeldMemory> | undefined

  constructor(memory: SharedMemory<string>, owner: string) {
    this.#memory = memory
    this.#owner = owner
  }

  /** Waits for so much; rejects with the reason when it is left before. Asked for once. */
  async enter(bytes: number): Promise<void> {
    // Nobody would give it back.
    if (this.#isLeft) throw new Error('The request is over')
    this.#leaving = new AbortController()
    this.#taking = this.#memory.take(this.#owner, bytes, this.#leaving.signal)
    await this.#taking
  }

  leave(reason?: Error): void {
    this.#isLeft = true
    this.#leaving?.abort(reason)
    ignoreFailure(
      this.#taking?.then((held) => held.giveBack()),
      'who did not get it has nothing to give back',
    )
  }
}
