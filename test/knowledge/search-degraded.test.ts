import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EmbeddingEndpoint, type EndpointMood } from './embedding-endpoint.ts'
import { NotesApi } from './notes-api.ts'
import { search, titles, untilEmbedded } from './search-api.ts'

const MOODS: EndpointMood[] = ['fails', 'is silent', 'has other dimensions', 'has no numbers', 'talks nonsense']

for (const mood of MOODS) {
  test(`a search is by words and says so while the provider ${mood}`, async () => {
    await using endpoint = await EmbeddingEndpoint.start()
    await using notes = await NotesApi.start({ env: endpoint.environment })
    const note = await notes.create({ title: 'Whale', content: 'A mammal of the sea.' })
    await untilEmbedded(notes, note)
    const healthy = await search(notes, { text: 'mammal', retrieval_mode: 'hybrid' })
    assert.deepEqual([titles(healthy), healthy.degraded, healthy.total_is_exact], [['Whale'], undefined, false])

    endpoint.mood = mood
    await notes.create({ title: 'Dolphin', content: 'Another mammal of the sea.' })
    for (const mode of ['vector', 'hybrid']) {
      const {
        results,
        total,
        total_is_exact: isExact,
        degraded,
      } = await search(notes, {
        text: 'mammal sea',
        retrieval_mode: mode,
      })
      assert.deepEqual(results.map(({ title }) => title).toSorted(), ['Dolphin', 'Whale'], mode)
      assert.deepEqual([total, isExact, degraded], [2, true, true])
    }
    const { degraded } = await search(notes, { text: 'mammal', retrieval_mode: 'fts' })
    assert.equal(degraded, undefined)
    const { body } = await notes.api.post(`/v2/${notes.projectId}/inspect/query`, 200, {
      body: { text: 'sea mammal', retrieval_mode: 'hybrid' },
    })
    assert.deepEqual([body.degraded, body.retrieval_mode], [true, 'fts'])
  })
}

test('a server whose provider never worked starts, and searches by words', async () => {
  const endpoint = await EmbeddingEndpoint.start()
  const { environment } = endpoint
  await endpoint[Symbol.asyncDispose]()
  await using notes = await NotesApi.start({ env: environment })
  await notes.create({ title: 'Whale', content: 'A mammal of the sea.' })
  const answer = await search(notes, { text: 'mammal', retrieval_mode: 'hybrid' })
  assert.deepEqual([titles(answer), answer.degraded], [['Whale'], true])
})

test('notes wait, and are shown to wait, while the provider was never reached', async () => {
  const endpoint = await EmbeddingEndpoint.start()
  const { environment } = endpoint
  await endpoint[Symbol.asyncDispose]()
  const { COMMONPLACE_KNOWLEDGE__EMBEDDING_DIMENSIONS: _, ...env } = environment
  await using notes = await NotesApi.start({ env })
  for (let number = 0; number < 10; number++) await notes.create({ title: `Whale ${number}`, content: 'A mammal.' })
  const { body: info } = await notes.api.get(`/v2/projects/${notes.projectId}/info`, 200)
  const { status, embedding_provider, embedding_model, embedding_dimensions, pending_entities, problem } =
    info.embedding_status
  assert.deepEqual(
    { status, embedding_provider, embedding_model, embedding_dimensions, pending_entities },
    {
      status: 'unavailable',
      embedding_provider: 'openai',
      embedding_model: 'text-embedding-3-small',
      embedding_dimensions: null,
      pending_entities: 10,
    },
  )
  assert.match(problem, /could not be asked/)
  const { body } = await notes.api.post(`/v2/${notes.projectId}/inspect/chunks`, 200, {
    body: { identifier: 'Whale 3' },
  })
  assert.deepEqual(
    [body.embedding_provider, body.embedding_model, body.embedding_dimensions, body.is_waiting],
    ['openai', 'text-embedding-3-small', null, true],
  )
  assert.deepEqual(
    body.chunks.map(({ status, text }: { status: string; text: string }) => [status, text.includes('A mammal.')]),
    [['pending', true]],
  )
})

for (const [name, value] of [
  ['EMBEDDING_PROVIDER', 'none'],
  ['SEMANTIC_SEARCH_ENABLED', 'false'],
] as const) {
  test(`a search by meaning is 400 with ${name.toLowerCase()} ${value}, and words are found`, async () => {
    await using notes = await NotesApi.start({ env: { [`COMMONPLACE_KNOWLEDGE__${name}`]: value } })
    await notes.create({ title: 'Whale', content: 'A mammal of the sea.' })
    for (const mode of ['vector', 'hybrid']) {
      for (const body of [{ text: 'mammal' }, {}, { title: 'whale' }]) {
        const { detail } = await search(notes, { ...body, retrieval_mode: mode }, { status: 400 })
        assert.match(detail, /^Semantic search is disabled/)
      }
    }
    await notes.api.post(`/v2/${notes.projectId}/inspect/chunks`, 400, { body: { identifier: 'Whale' } })
    assert.deepEqual(titles(await search(notes, 'mammal')), ['Whale'])
    await notes.api.post(`/v2/${notes.projectId}/search/reindex`, 200)
  })
}

test('the operator may make another way the default, which holds for text only', async () => {
  await using notes = await NotesApi.start({
    env: { COMMONPLACE_KNOWLEDGE__DEFAULT_SEARCH_TYPE: 'hybrid', COMMONPLACE_KNOWLEDGE__INDEX_DELAY_MS: '0' },
  })
  const note = await notes.create({ title: 'Whale', content: 'A mammal of the sea.' })
  await untilEmbedded(notes, note)
  assert.equal((await search(notes, 'mammal')).total_is_exact, false)
  assert.equal((await search(notes, { text: 'mammal', retrieval_mode: 'fts' })).total, 1)
  for (const body of [{ title: 'whale' }, { permalink: note.permalink }, { entity_types: ['entity'] }]) {
    assert.equal((await search(notes, body)).total, 1)
  }
})

test('the operator may have hybrid put in order by places alone', async () => {
  await using notes = await NotesApi.start({
    env: { COMMONPLACE_KNOWLEDGE__HYBRID_FUSION: 'rrf', COMMONPLACE_KNOWLEDGE__INDEX_DELAY_MS: '0' },
  })
  for (const [title, content] of [
    ['Whale', 'A mammal of the sea.'],
    ['Spanner', 'A tool for nuts and bolts.'],
  ] as const) {
    await untilEmbedded(notes, await notes.create({ title, content }))
  }
  const { results } = await search(notes, { text: 'mammal', retrieval_mode: 'hybrid', min_similarity: 0 })
  assert.deepEqual(
    results.map(({ title, score }) => [title, score]),
    [
      ['Whale', 1 / 61 + 1 / 61],
      ['Spanner', 1 / 62],
    ],
  )
})
