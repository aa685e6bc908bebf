import { type AnswerHead, checkTrailer, NoAnswer, readHead, SWITCHING_PROTOCOLS } from './answer-head.ts'

/** Told what is read. Interim answers are none. */
export interface AnswerListener {
  onHead(head: AnswerHead): void
  onData(chunk: Buffer): void
  /** `isWhole`: false when the receiver said more than its answer. */
  onEnd(isWhole: boolean): void
}

type State = 'idle' | 'head' | 'body' | 'chunk size' | 'chunk' | 'chunk end' | 'trailer' | 'over'

const MAX_HEAD_BYTES = 16 * 1024
const MAX_CHUNK_LINE_BYTES = 1024
const EMPTY = Buffer.alloc(0)
const CHUNK_LINE = /^([0-9a-fA-F]{1,12})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/

/** Reads the answers of one HTTP/1.1 connection, one at a time, out of whatever pieces they come in. */
export class AnswerReader {
  readonly #listener: AnswerListener
  #state: State = 'idle'
  /** The beginning of a line or a head whose end has not come yet. */
  #held: Buffer = EMPTY
  /** Of the body, or of this chunk. */
  #bytesLeft = 0
  #trailerBytes = 0
  #interimBytes = 0

  constructor(listener: AnswerListener) {
    this.#listener = listener
  }

  /** A request was sent: what comes now is its answer. */
  begin(): void {
    this.#state = 'head'
    this.#interimBytes = 0
  }

  /** Throws what is wrong with it. */
  read(chunk: Buffer): void {
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = EMPTY
    while (rest.length > 0) {
      const read = this.#step(rest)
      if (read === 0) {
        // A copy: who gave it may use its memory again.
        this.#held = Buffer.from(rest)
        return
      }
      rest = rest.subarray(read)
    }
  }

  /** The receiver closed the connection. Whether that is how its answer ends. */
  get isEndedByClose(): boolean {
    return this.#state === 'body' && this.#bytesLeft === Number.POSITIVE_INFINITY
  }

  /** Answers how many bytes it took; 0 when there are too few. */
  #step(bytes: Buffer): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes)
      case 'body':
      case 'chunk':
        return this.#readBody(bytes)
      case 'chunk size':
        return this.#readLine(bytes, (line) => this.#beginChunk(line))
      case 'chunk end':
        return this.#readLine(bytes, (line) => this.#endChunk(line))
      case 'trailer':
        return this.#readLine(bytes, (line) => this.#readTrailer(line, bytes))
      default:
        throw new NoAnswer('something came that nobody asked for')
    }
  }

  #readHead(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0 ? bytes.length > MAX_HEAD_BYTES : end > MAX_HEAD_BYTES) throw new NoAnswer('its head is too large')
    if (end < 0) {
      checkBeginning(bytes)
      return 0
    }
    const head = readHead(bytes.toString('latin1', 0, end))
    const isSwitch = head.status === SWITCHING_PROTOCOLS
    if (head.status < 200 && !isSwitch) return this.#skip(end + 4)
    // What follows a switch that nobody asked for is of another protocol.
    const isWhole = !isSwitch && (head.body !== 0 || bytes.length === end + 4)
    this.#state = head.body === 'chunks' ? 'chunk size' : head.body === 0 ? 'over' : 'body'
    this.#bytesLeft = typeof head.body === 'number' ? head.body : Number.POSITIVE_INFINITY
    this.#listener.onHead(head)
    if (head.body !== 0) return end + 4
    this.#end(isWhole)
    return bytes.length
  }

  /** Interim answers cost time to read, and there may be any number of them. */
  #skip(length: number): number {
    this.#interimBytes += length
    if (this.#interimBytes > MAX_HEAD_BYTES) throw new NoAnswer('it has too many interim answers')
    return length
  }

  #readBody(bytes: Buffer): number {
    const length = Math.min(bytes.length, this.#bytesLeft)
    this.#bytesLeft -= length
    const isLast = this.#bytesLeft === 0
    const isChunk = this.#state === 'chunk'
    if (isLast) this.#state = isChunk ? 'chunk end' : 'over'
    this.#listener.onData(length === bytes.length ? bytes : bytes.subarray(0, length))
    if (!isLast || isChunk) return length
    this.#end(length === bytes.length)
    return bytes.length
  }

  #readLine(bytes: Buffer, take: (line: string) => boolean | undefined): number {
    const end = bytes.indexOf('\r\n')
    if ((end < 0 ? bytes.length : end) > MAX_CHUNK_LINE_BYTES) throw new NoAnswer('a line of its chunks is too long')
    if (end < 0) return 0
    // True when it was the last one, and what follows belongs to nobody.
    return take(bytes.toString('latin1', 0, end)) === true ? bytes.length : end + 2
  }

  #beginChunk(line: string): undefined {
    const size = CHUNK_LINE.exec(line)?.[1]
    if (size === undefined) throw new NoAnswer('a chunk does not say how long it is')
    this.#bytesLeft = Number.parseInt(size, 16)
    this.#state = this.#bytesLeft === 0 ? 'trailer' : 'chunk'
  }

  #endChunk(line: string): undefined {
    if (line !== '') throw new NoAnswer('a chunk is longer than it says')
    this.#state = 'chunk size'
  }

  #readTrailer(line: string, bytes: Buffer): boolean {
    this.#trailerBytes += line.length
    if (this.#trailerBytes > MAX_HEAD_BYTES) throw new NoAnswer('its trailer is too large')
    if (line !== '') {
      checkTrailer(line)
      return false
    }
    this.#trailerBytes = 0
    this.#end(bytes.length === 2)
    return true
  }

  #end(isWhole: boolean): void {
    this.#state = 'idle'
    this.#listener.onEnd(isWhole)
  }
}

const CR = 0x0d
const BEGINNING = Buffer.from('HTTP/1.')

/** Garbage need not be waited for until it ends. */
function checkBeginning(bytes: Buffer): void {
  const length = Math.min(bytes.length, BEGINNING.length)
  const lineEnd = bytes.indexOf('\n')
  if (bytes.compare(BEGINNING, 0, length, 0, length) !== 0 || (lineEnd >= 0 && bytes[lineEnd - 1] !== CR)) {
    throw new NoAnswer('it does not begin with a status line')
  }
}
