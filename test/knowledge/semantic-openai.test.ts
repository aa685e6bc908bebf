import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { type OpenAiOptions, openOpenAiProvider } from '../../src/knowledge/semantic/openai-provider.ts'
import type { EmbeddingProvider } from '../../src/knowledge/semantic/provider.ts'
import { type Clock, SystemClock } from '../../src/platform/clock/clock.ts'
import { isAppError } from '../../src/platform/errors/app-error.ts'
import { OutboundClient } from '../../src/platform/outbound/outbound-client.ts'
import { EMBEDDED_DIMENSIONS, EmbeddingServer, vectorsOf } from '../support/embedding-server.ts'
import { HastyClock } from '../support/hasty-clock.ts'

const KEY = 'sk-a-key-that-nobody-may-see'
const outbound = new OutboundClient({ clock: new SystemClock() })
const server = await new EmbeddingServer().listen()
after(async () => {
  await outbound.close()
  await server[Symbol.asyncDispose]()
})
beforeEach(() => {
  server.requests.length = 0
  server.answer = () => undefined
})

interface Wanted {
  clock?: Clock
  url?: string
  dimensions?: number | null
  timeoutMs?: number
  prompts?: OpenAiOptions['prompts']
  inputTypes?: OpenAiOptions['inputTypes']
}

function open({
  clock = new HastyClock(),
  url = server.url,
  dimensions = EMBEDDED_DIMENSIONS,
  timeoutMs,
  prompts = { query: '', document: '' },
  inputTypes = { query: null, document: null },
}: Wanted = {}) {
  const options = { outbound, clock, url, apiKey: KEY, model: 'small', batchSize: 3, timeoutMs: timeoutMs ?? 10_000 }
  return openOpenAiProvider({ ...options, dimensions, prompts, inputTypes })
}

async function failure(provider: EmbeddingProvider, kind: 'query' | 'document' = 'document'): Promise<string> {
  const error = await provider.embed(['a', 'b'], kind).then(
    () => assert.fail('there were vectors'),
    (error: unknown) => error,
  )
  assert.ok(isAppError(error, 'unavailable'), String(error))
  assert.ok(!JSON.stringify([error.message, error.problems, String(error.cause)]).includes(KEY))
  return error.message
}

test('texts are sent in batches with the key, and their vectors come back in order at length one', async () => {
  await using provider = await open()
  server.answer = ({ input, dimensions }) => ({ body: { data: vectorsOf(input, dimensions).reverse() } })
  const texts = ['one', 'two', 'three', 'four', 'five', 'six', 'seven']
  const vectors = await provider.embed(texts, 'document')
  assert.equal(vectors.length, texts.length)
  assert.deepEqual(server.requests.map(({ input }) => input.length).sort(), [1, 3, 3])
  for (const [at, one] of texts.entries()) {
    const vector = vectors[at] as Float32Array
    assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-5)
    const [alone] = await provider.embed([one], 'query')
    assert.deepEqual(vector, alone)
  }
  const [request] = server.requests
  assert.deepEqual(
    { ...request, input: undefined },
    {
      ...{ path: '/v1/embeddings', authorization: `Bearer ${KEY}`, model: 'small', input: undefined },
      ...{ dimensions: EMBEDDED_DIMENSIONS, input_type: undefined },
    },
  )
})

test('questions and texts are sent with the prefix and the input type that each has', async () => {
  const inputTypes = { query: 'search_query', document: 'search_document' }
  await using provider = await open({
    dimensions: null,
    prompts: { query: 'query: ', document: 'passage: ' },
    inputTypes,
  })
  await provider.embed(['one', 'two'], 'document')
  await provider.embed(['three'], 'query')
  assert.deepEqual(
    server.requests.map(({ input, input_type }) => [input, input_type]),
    [
      [['passage: dimensions'], 'search_document'],
      [['passage: one', 'passage: two'], 'search_document'],
      [['query: three'], 'search_query'],
    ],
  )
})

test('a prefix counts for the size of a call', async () => {
  await using provider = await open({ prompts: { query: '', document: 'x'.repeat(90_000) } })
  await provider.embed(['one', 'two', 'three'], 'document')
  assert.deepEqual(server.requests.map(({ input }) => input.length).sort(), [1, 2])
})

test('what is put before texts makes another version of the model, what is put before questions does not', async () => {
  const versionOf = async (wanted: Wanted) => {
    await using provider = await open(wanted)
    return provider.model.version
  }
  const plain = await versionOf({})
  assert.equal(await versionOf({ prompts: { query: 'query: ', document: '' } }), plain)
  assert.equal(await versionOf({ inputTypes: { query: 'search_query', document: null } }), plain)
  const others = [
    await versionOf({ prompts: { query: '', document: 'passage: ' } }),
    await versionOf({ prompts: { query: '', document: 'passage:' } }),
    await versionOf({ inputTypes: { query: null, document: 'passage: ' } }),
    await versionOf({ inputTypes: { query: null, document: '' } }),
  ]
  assert.equal(new Set([plain, ...others]).size, 5)
  assert.equal(await versionOf({ prompts: { query: 'query: ', document: 'passage: ' } }), others[0])
})

test('what the model gives is asked once where nobody says it, and not asked for', async () => {
  await using provider = await open({ dimensions: null, url: `${server.url}/embeddings` })
  assert.equal(provider.model.dimensions, EMBEDDED_DIMENSIONS)
  assert.equal(server.requests.length, 1)
  assert.equal(server.requests[0]?.dimensions, undefined)
  assert.equal(server.requests[0]?.path, '/v1/embeddings')
})

test('vectors as base64 are read as well', async () => {
  await using provider = await open()
  server.answer = ({ input }) => ({
    body: {
      data: vectorsOf(input).map(({ index, embedding }) => ({
        index,
        embedding: Buffer.from(new Float32Array(embedding).buffer).toString('base64'),
      })),
    },
  })
  const [vector] = await provider.embed(['one'], 'document')
  server.answer = () => undefined
  assert.deepEqual([vector], await provider.embed(['one'], 'query'))
})

test('a service that is busy is asked again when it says so', async () => {
  const clock = new HastyClock()
  await using provider = await open({ clock })
  const answers = [
    { status: 429, headers: { 'retry-after': '7' }, body: {} },
    { status: 429, headers: { 'retry-after': new Date(clock.now() / 1_000 + 20_000).toUTCString() }, body: {} },
    { status: 503, body: 'down for a moment' },
  ]
  server.answer = () => answers.shift()
  assert.equal((await provider.embed(['one'], 'document')).length, 1)
  assert.equal(server.requests.length, 4)
  const [seconds = 0, date = 0, backoff = 0] = clock.waits
  assert.equal(seconds, 7_000)
  assert.ok(date > 15_000 && date <= 20_000, String(date))
  assert.ok(backoff >= 1_000 && backoff <= 2_000, String(backoff))
})

test('a service that stays busy, or asks for hours of patience, is given up', async () => {
  await using provider = await open()
  server.answer = () => ({ status: 500, body: { error: { message: `out of order, ${KEY}` } } })
  assert.match(await failure(provider), /^The embedding service 127\.0\.0\.1:\d+ answered 500 \(out of order, …\)$/)
  assert.equal(server.requests.length, 4)
  server.answer = () => ({ status: 429, headers: { 'retry-after': '7200' }, body: {} })
  await failure(provider)
  assert.equal(server.requests.length, 5)
})

test('a service that is not there, or does not answer in time, is unavailable', async () => {
  const gone = await new EmbeddingServer().listen()
  const { url } = gone
  await gone[Symbol.asyncDispose]()
  await using nowhere = await open({ url })
  assert.match(await failure(nowhere), /could not be asked/)
  await using slow = await open({ timeoutMs: 50 })
  server.answer = () => 'nothing'
  assert.match(await failure(slow), /could not be asked/)
})

test('a question is asked once; after a failure the next ones are not asked at all for a while', async () => {
  await using provider = await open()
  server.answer = () => ({ status: 503, body: {} })
  await failure(provider, 'query')
  await failure(provider, 'query')
  assert.equal(server.requests.length, 1)
  server.answer = () => undefined
  assert.equal((await provider.embed(['text'], 'document')).length, 1)
})

test('a service that asked for an hour of patience is asked questions again as soon as it embeds notes', async () => {
  await using provider = await open()
  server.answer = () => ({ status: 429, headers: { 'retry-after': '3600' }, body: {} })
  await failure(provider, 'query')
  server.answer = () => undefined
  await failure(provider, 'query')
  await provider.embed(['text'], 'document')
  assert.equal((await provider.embed(['text'], 'query')).length, 1)
})

test('a key that is refused is not tried again, and the message says which setting to correct', async () => {
  await using provider = await open()
  server.answer = () => ({ status: 401, body: { error: { message: `wrong key ${KEY}` } } })
  assert.match(await failure(provider), /answered 401: correct knowledge\.embedding_api_key$/)
  assert.equal(server.requests.length, 1)
})

test('a key that the service quotes is in no message, not even in part where the quotation is cut', async () => {
  await using provider = await open()
  for (let before = 180; before < 200; before++) {
    server.answer = () => ({ status: 404, body: { error: { message: `${'x'.repeat(before)}${KEY}` } } })
    assert.match(await failure(provider), /answered 404 \(x+…?\): correct/)
  }
})

const numbers = (value: unknown) => (_: unknown, at: number) => (at === 3 ? value : 0.5)
const answered = (embedding: unknown, count = 2) => ({
  body: { data: Array.from({ length: count }, (_, index) => ({ index, embedding })) },
})
const list = (value: unknown) => Array.from({ length: EMBEDDED_DIMENSIONS }, numbers(value))
const WRONG = {
  'a null among the numbers': [answered(list(null)), /gave a vector with null$/],
  'a text among the numbers': [answered(list('NaN')), /gave a vector with NaN$/],
  'a number without end': [{ body: `{"data":[{"embedding":[1e999]},{"embedding":[1]}]}` }, /with Infinity$/],
  'nothing but zeros': [answered(new Array(EMBEDDED_DIMENSIONS).fill(0)), /gave a vector of zeros$/],
  'too few dimensions': [
    answered([1, 2, 3]),
    /gave 3 dimensions instead of 16: correct knowledge\.embedding_dimensions or knowledge\.embedding_model$/,
  ],
  'an empty vector': [answered([]), /gave something that is no vector$/],
  'a vector too few': [answered(list(1), 1), /gave 1 vectors for 2 texts$/],
  'the same text twice': [
    { body: { data: [0, 0].map((index) => ({ index, embedding: list(1) })) } },
    /gave two vectors for one text$/,
  ],
  'a text that there is not': [
    { body: { data: [0, 9].map((index) => ({ index, embedding: list(1) })) } },
    /for a text that it was not asked about$/,
  ],
  'no list': [{ body: { data: null } }, /answered without a list of vectors$/],
  'no JSON': [{ body: '<html>' }, /did not answer with JSON$/],
  'a redirect': [{ status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: {} }, /answered 302: correct/],
} as const

for (const [what, [answer, message]] of Object.entries(WRONG)) {
  test(`${what} is refused with a message that says so`, async () => {
    await using provider = await open()
    server.answer = () => answer
    assert.match(await failure(provider), message)
    assert.equal(server.requests.length, 1)
  })
}

test('an answer without an end is refused, and the message says what it was allowed in whole KiB', async () => {
  await using provider = await open()
  server.answer = () => ({ body: ' '.repeat(1_500_000) })
  assert.match(await failure(provider), /was not understood: the answer is larger than 1406 KiB$/)
})

test('who aborts does not wait', async () => {
  await using provider = await open()
  const aborting = new AbortController()
  server.answer = () => 'nothing'
  const asked = provider.embed(['one'], 'document', aborting.signal)
  await server.received(1)
  aborting.abort(new Error('enough'))
  await assert.rejects(asked, /enough/)
})
