import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

// Some 4 KB each.
const MOST_WAITING = 20_000

/**
 * Callers may send requests before they have read the answers to earlier ones. Each waits until the connection is there for its
 * answer: hundreds that arrive in one piece would else all be answered in memory, however slowly somebody reads. Node reads no more
 * from a connection that is full, yet a thousand short requests come with one piece: where very many wait on all connections
 * together, one that brings more of them is cut off.
 */
export class PipelinedRequests {
  readonly #most: number
  readonly #waitingOn = new WeakMap<Socket, number>()
  /** Behind how many more answers a connection ends. */
  readonly #leftOn = new WeakMap<Socket, number>()
  #waiting = 0

  constructor(most = MOST_WAITING) {
    this.#most = most
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * To be asked for each answer on a connection that is to end: whether one waits behind it that had arrived by the first of them.
   * Whoever sends another request for each answer would keep it open for ever.
   */
  isFollowed(socket: Socket): boolean {
    const left = this.#leftOn.get(socket) ?? this.#waitingOn.get(socket) ?? 0
    this.#leftOn.set(socket, left - 1)
    return left > 0
  }

  /** Answers at once where nothing is before it. */
  inTurn(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
    if (response.socket !== null) answer()
    else if (this.#waiting >= this.#most) request.socket.destroy()
    else this.#wait(request, response, answer)
  }

  #wait(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
    const { socket } = request
    const leave = () => this.#count(socket, -1)
    this.#count(socket, 1)
    // The connection ended.
    request.once('close', leave)
    response.once('socket', () => {
      request.off('close', leave)
      leave()
      answer()
    })
  }

  #count(socket: Socket, one: 1 | -1): void {
    this.#waiting += one
    this.#waitingOn.set(socket, (this.#waitingOn.get(socket) ?? 0) + one)
  }
}
