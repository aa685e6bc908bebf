/** A block of a stream of server-sent events, as it stands there. */
export interface EventBlock {
  /** Null: the block has no data, so it is no event; its id counts all the same. */
  event: { type: string; data: string } | null
  id: string | null
  comments: string[]
}

export interface ListenOptions {
  headers?: Record<string, string>
  lastEventId?: string
}

/** Reads server-sent events from a server as a browser does, but in the hands of a test. */
export class EventReader implements AsyncDisposable {
  readonly response: Response
  /** What a browser would send as `Last-Event-ID`. */
  lastEventId = ''
  readonly #abort: AbortController
  readonly #pieces: ReadableStreamDefaultReader<string>
  #text = ''

  /** The answer to the request, whatever its status. */
  static async open(url: URL | string, { headers = {}, lastEventId }: ListenOptions = {}): Promise<EventReader> {
    const abort = new AbortController()
    const response = await fetch(url, {
      signal: abort.signal,
      headers: {
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        ...headers,
      },
    })
    return new EventReader(response, abort)
  }

  private constructor(response: Response, abort: AbortController) {
    this.response = response
    this.#abort = abort
    this.#pieces = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>)
      .pipeThrough(new TextDecoderStream())
      .getReader()
  }

  /** Waits for the next block; null when the stream ended as it should. A broken connection rejects. */
  async block(): Promise<EventBlock | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = blockOf(this.#text.slice(0, end))
        this.#text = this.#text.slice(end + 2)
        if (block.id !== null) this.lastEventId = block.id
        return block
      }
      const { value, done } = await this.#pieces.read()
      if (done) return null
      this.#text += value
    }
  }

  /** The next event; null at the end. */
  async event<Data = Record<string, unknown>>(): Promise<{ type: string; id: string | null; data: Data } | null> {
    for (;;) {
      const block = await this.block()
      if (block === null) return null
      const { event, id } = block
      if (event !== null) return { type: event.type, id, data: JSON.parse(event.data) }
    }
  }

  /** What is still to come until the server ends the stream. */
  async end(): Promise<void> {
    while ((await this.block()) !== null);
  }

  /** As a browser that leaves the page. */
  async close(): Promise<void> {
    this.#abort.abort()
    await this.#pieces.cancel().catch(() => {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

function blockOf(text: string): EventBlock {
  const block: EventBlock = { event: null, id: null, comments: [] }
  let type = 'message'
  const data: string[] = []
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':')
    const [name, value] = colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
    if (name === '') block.comments.push(value)
    else if (name === 'event') type = value
    else if (name === 'data') data.push(value)
    else if (name === 'id') block.id = value
  }
  if (data.length > 0) block.event = { type, data: data.join('\n') }
  return block
}
