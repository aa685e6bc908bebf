/**
 * Answers at random, well-formed and slightly broken, read by ours and by Node's own client. We may be stricter: what is no
 * answer to Node is none to us, what both take means the same, and a connection is used again only where Node would.
 */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { AnswerHead } from '../../src/platform/outbound/answer-head.ts'
import { AnswerReader } from '../../src/platform/outbound/answer-reader.ts'

/** What a client makes of the bytes of a connection that then ends. */
interface Seen {
  status: number
  statusText: string
  /** Sorted lines. */
  headers: string[]
  body: string
  isComplete: boolean
  mayBeReused: boolean
  /** Why it did not take them. */
  error: string | null
}

const CLOSED = 'closed'
const SEED = 20_260_101
const WHOLE_RUNS = 400
const BROKEN_RUNS = 1_600

function nothing(): Seen {
  return { status: 0, statusText: '', headers: [], body: '', isComplete: false, mayBeReused: false, error: null }
}

function readByUs(pieces: readonly Buffer[]): Seen {
  const seen = nothing()
  let head: AnswerHead | undefined
  const reader = new AnswerReader({
    onHead: (given) => {
      head = given
      seen.status = given.status
      seen.statusText = given.statusText
      seen.headers = linesOf(
        Object.entries(given.headers).flatMap(([name, value]) =>
          [value].flat().map((one) => [name, `${one}`] as const),
        ),
      )
    },
    onData: (chunk) => {
      seen.body += chunk.toString('latin1')
    },
    onEnd: (isWhole) => {
      seen.isComplete = true
      seen.mayBeReused = isWhole && head?.keepsMs !== 0
    },
  })
  reader.begin()
  try {
    for (const piece of pieces) reader.read(Buffer.from(piece))
    if (reader.isEndedByClose) seen.isComplete = true
    else if (!seen.isComplete) seen.error = CLOSED
  } catch (error) {
    assert.equal((error as Error).name, 'NoAnswer')
    seen.error = (error as Error).message
    seen.mayBeReused = false
  }
  return seen
}

async function readByNode(pieces: readonly Buffer[]): Promise<Seen> {
  const seen = nothing()
  const wire = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })
  const asked = request({
    createConnection: () => wire as never,
    method: 'POST',
    headers: { connection: 'keep-alive' },
    maxHeaderSize: 64 * 1024,
  })
  asked.on('upgrade', (_answer, socket) => {
    seen.error ??= 'upgrade'
    socket.destroy()
  })
  asked.on('error', (error) => {
    seen.error ??= error.message
  })
  asked.on('response', (answer) => {
    seen.status = answer.statusCode ?? 0
    seen.statusText = answer.statusMessage ?? ''
    const { rawHeaders } = answer
    seen.headers = linesOf(
      rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] as string] as const] : [])),
    )
    answer.setEncoding('latin1')
    answer.on('data', (text: string) => {
      seen.body += text
    })
    answer.on('end', () => {
      seen.isComplete = answer.complete
      seen.mayBeReused = answer.complete && asked.shouldKeepAlive
    })
    answer.on('error', (error) => {
      seen.error ??= error.message
    })
  })
  asked.end()
  await setImmediate()
  for (const piece of pieces) if (!wire.destroyed) wire.push(piece)
  await setImmediate()
  if (!wire.destroyed) wire.push(null)
  await setImmediate()
  await setImmediate()
  asked.destroy()
  wire.destroy()
  return seen
}

function linesOf(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  // Where a line was continued there is a blank, or nothing: nobody reads what depends on it.
  return pairs.map(([name, value]) => `${name.toLowerCase()}: ${value.replace(/[ \t]+/g, '')}`).sort()
}

const token = fc.stringMatching(/^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,12}$/)
const value = fc.stringMatching(/^[!-~\x80-\xff]([ \t!-~\x80-\xff]{0,20}[!-~\x80-\xff])?$/)
const header = fc.tuple(fc.constant('x-'), token, fc.constantFrom(':', ': ', ':\t '), fc.option(value, { nil: '' }))
const headerLine = header.map((parts) => parts.join(''))
const hopLine = fc.constantFrom(
  'Connection: close',
  'connection: Keep-Alive',
  'connection: x-a, close',
  'Keep-Alive: timeout=5, max=10',
  'keep-alive: timeout=1',
  'retry-after: 7',
  'content-type: application/json; charset=utf-8',
)
const interim = fc.constantFrom('HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')
const bytes = fc.uint8Array({ maxLength: 60 }).map((given) => Buffer.from(given).toString('latin1'))

function chunked(parts: readonly string[], extension: string, trailer: readonly string[]): string {
  const chunks = parts.filter((part) => part !== '')
  const body = chunks.map((part) => `${part.length.toString(16)}${extension}\r\n${part}\r\n`)
  return `${body.join('')}0${extension}\r\n${trailer.map((line) => `${line}\r\n`).join('')}\r\n`
}

/** The lines that say how long it is, and the body. */
const framed = fc.oneof(
  bytes.map((body) => ({ lines: [`Content-Length: ${body.length}`], body })),
  bytes.map((body) => ({ lines: [] as string[], body })),
  fc
    .tuple(
      fc.array(bytes, { maxLength: 4 }),
      fc.constantFrom('', ';a=b', ';name="v"'),
      fc.array(headerLine, { maxLength: 2 }),
      fc.constantFrom('chunked', 'Chunked', 'gzip, chunked'),
    )
    .map(([parts, extension, trailer, coding]) => ({
      lines: [`Transfer-Encoding: ${coding}`],
      body: chunked(parts, extension, trailer),
    })),
)

const wholeAnswer = fc
  .record({
    interims: fc.array(interim, { maxLength: 2 }),
    version: fc.constantFrom('1.1', '1.1', '1.1', '1.0'),
    status: fc.constantFrom(200, 201, 204, 299, 304, 404, 410, 429, 500, 503, 599),
    reason: fc.constantFrom(' OK', ' Not so', ' ', ' Gr\xfc\xdfe'),
    lines: fc.array(fc.oneof(headerLine, hopLine), { maxLength: 5 }),
    framing: framed,
  })
  .map(({ interims, version, status, reason, lines, framing }) => {
    const isBare = status === 204 || status === 304
    const head = [`HTTP/${version} ${status}${reason}`, ...lines, ...(isBare ? [] : framing.lines)].join('\r\n')
    return `${interims.join('')}${head}\r\n\r\n${isBare ? '' : framing.body}`
  })

const ODD = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\n\n',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '-',
  '+',
  '0',
  '1',
  'f',
  '\x0b',
  '\x0c',
]
const ODD_LINES = [
  'content-length: 3',
  'content-length: 0',
  'content-length: +3',
  'content-length: 3, 3',
  'content-length: -1',
  'content-length: 18446744073709551617',
  'Content-Length:\x0b3',
  'content-length: 3\xa0',
  'Content-Length : 3',
  'transfer-encoding: chunked',
  'transfer-encoding: chunked, gzip',
  'transfer-encoding:\x0bchunked',
  'transfer-encoding: identity',
  'Transfer-Encoding:\r\n chunked',
  ' continued',
  '\tcontinued',
  'upgrade: x',
  'connection: upgrade',
  'trailer: x-a',
  'no header',
  ': nothing',
]
const harm = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ at: fc.nat(400), cut: fc.nat(2), put: fc.constantFrom('', ...ODD, '\x85', '\xa0') }),
  },
  { weight: 3, arbitrary: fc.record({ line: fc.nat(6), text: fc.constantFrom(...ODD_LINES) }) },
  { weight: 1, arbitrary: fc.record({ upTo: fc.nat(400) }) },
  {
    weight: 1,
    arbitrary: fc.record({ more: fc.constantFrom('x', '\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n') }),
  },
)
type Harm = typeof harm extends fc.Arbitrary<infer T> ? T : never

function harmed(answer: string, done: Harm): string {
  if ('upTo' in done) return answer.slice(0, done.upTo)
  if ('more' in done) return answer + done.more
  if ('text' in done) {
    const lines = answer.split('\r\n')
    lines.splice(Math.min(done.line + 1, lines.length), 0, done.text)
    return lines.join('\r\n')
  }
  const at = done.at % (answer.length + 1)
  return answer.slice(0, at) + done.put + answer.slice(at + done.cut)
}

// Where Node takes what HTTP/1.1 does not know, and we do not: control characters in the status line, empty lines before it, a
// coding that is no name, lengths and sizes beyond all bodies.
const STRICTER =
  /control characters|begin with a status line|how it is transferred|its length is no number|how long it is$/

// Where HTTP/1.1 asks clients for patience that Node does not have: a header may go on in the next line, unless it says how long
// the body is, and blanks may follow the size of a chunk, what else stands in its line being nobody's matter; old servers
// send interim answers, too. Another protocol that nobody asked for is an answer to us.
const LENIENT = [
  /\r\n(?!content-length|transfer-encoding)[^\r\n:]+:.*\r\n[ \t]/i,
  /\r\n[0-9a-f]+[ \t]+(?:;|\r\n)/i,
  /\r\n[0-9a-f]+;(?!(?:a=b|name="v")\r\n)/i,
  /HTTP\/1\.0 1/,
  /HTTP\/1\.1 101/,
]

const cuts = fc.array(fc.nat(300), { maxLength: 6 })

function piecesOf(answer: string, at: readonly number[]): Buffer[] {
  const whole = Buffer.from(answer, 'latin1')
  const places = [...new Set(at.filter((place) => place > 0 && place < whole.length))].sort((a, b) => a - b)
  return [0, ...places].map((from, index) => whole.subarray(from, places[index] ?? whole.length))
}

test('well-formed answers mean to us what they mean to Node, in whatever pieces they come', async () => {
  await fc.assert(
    fc.asyncProperty(wholeAnswer, cuts, async (answer, at) => {
      const pieces = piecesOf(answer, at)
      const ours = readByUs(pieces)
      const theirs = await readByNode(pieces)
      assert.deepEqual([ours.error, theirs.error], [null, null])
      const { mayBeReused } = ours
      assert.deepEqual({ ...ours, mayBeReused: null }, { ...theirs, mayBeReused: null })
      // Stricter: one `close` counts whatever else is said, and old servers do not know chunks.
      if (mayBeReused || !/close|HTTP\/1\.0/i.test(answer)) assert.equal(mayBeReused, theirs.mayBeReused)
    }),
    { seed: SEED, numRuns: WHOLE_RUNS },
  )
})

test('nothing is an answer to us that is none to Node, and nothing is read in another way', async () => {
  await fc.assert(
    fc.asyncProperty(wholeAnswer, fc.array(harm, { minLength: 1, maxLength: 3 }), cuts, async (answer, harms, at) => {
      const broken = harms.reduce(harmed, answer)
      const pieces = piecesOf(broken, at)
      const ours = readByUs(pieces)
      // In one piece or in many.
      assert.deepEqual(readByUs(piecesOf(broken, [])).isComplete, ours.isComplete)
      if (ours.isComplete && LENIENT.some((allowed) => allowed.test(broken))) return
      const theirs = await readByNode(pieces)
      if (ours.isComplete) {
        assert.deepEqual(
          [theirs.status, theirs.statusText, theirs.headers],
          [ours.status, ours.statusText, ours.headers],
        )
        assert.equal(theirs.body, ours.body)
        assert.equal(theirs.isComplete, true)
      }
      if (theirs.isComplete && !ours.isComplete) assert.match(`${ours.error}`, STRICTER)
      if (ours.mayBeReused) assert.deepEqual([theirs.mayBeReused, theirs.error], [true, null])
    }),
    { seed: SEED, numRuns: BROKEN_RUNS },
  )
})
