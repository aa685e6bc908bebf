import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { postgresUnavailable } from '../support/postgres.ts'
import { NotesApi } from './notes-api.ts'
import { RerankServer } from './rerank-server.ts'
import { search, titles, untilEmbedded } from './search-api.ts'

for (const engine of ['sqlite', 'postgres'] as const) {
  const unavailable = engine === 'postgres' ? postgresUnavailable() : null
  const title = `searches sorted again by a service (${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'})`
  describe(title, { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
    let service: RerankServer
    let notes: NotesApi
    before(async () => {
      service = await new RerankServer().listen()
      notes = await NotesApi.start({ engine, env: service.environment })
      for (const [name, content] of [
        ['Apple', 'An apple, an apple and an apple.'],
        ['Orchard', `Where the apple grows. ${'Rows of trees. '.repeat(400)} The winner of the fair.`],
        ['Basket', 'One apple, and the winner of the fair.'],
        ['Pie', 'Flour, butter, and some apple at the end of a long list of other things.'],
      ] as const) {
        await untilEmbedded(notes, await notes.create({ title: name, content }))
      }
    })
    after(async () => {
      await notes.server.stop()
      await service[Symbol.asyncDispose]()
    })

    const asked = { text: 'apple', retrieval_mode: 'hybrid', min_similarity: 1 }

    test('come in the order that the service says, the others behind them', async () => {
      service.requests.length = 0
      const { results } = await search(notes, asked)
      const [request] = service.requests
      assert.deepEqual([request?.path, request?.authorization], ['/v1/rerank', 'Bearer a-secret-key'])
      const { model, query, documents = [], top_n: top } = request?.body ?? {}
      assert.deepEqual([model, query, documents.length, top], ['judge', 'apple', 3, 3])
      for (const document of documents) assert.ok(document.length <= 2_000)
      const best = documents.findIndex((document) => document.includes('winner'))
      assert.ok(documents[best]?.startsWith(results[0]?.title as string), 'the winner is first')
      assert.equal(results.length, 4)
      const scores = results.map(({ score }) => score)
      assert.deepEqual(
        scores,
        scores.toSorted((one, other) => other - one),
      )
      const { body } = await notes.api.post(`/v2/${notes.projectId}/inspect/query`, 200, { body: asked })
      const judged = body.candidates.map(({ rerank_score: score }: { rerank_score: number | null }) => score)
      assert.deepEqual([judged[0], judged[3]], [0.9, null])
    })

    test('page without a repetition, and ask nobody for pages behind', async () => {
      const all = titles(await search(notes, asked))
      const pages = []
      for (let page = 1; page <= 4; page++) {
        if (page === 4) service.requests.length = 0
        pages.push(...titles(await search(notes, asked, { query: `?page=${page}&page_size=1` })))
      }
      assert.deepEqual(pages, all)
      assert.equal(service.requests.length, 0)
    })

    test('tell the question as it was written, without what only a search understands', async () => {
      service.requests.length = 0
      await search(notes, { ...asked, text: 'apple OR "नमस्ते 東京の Łódź" NOT (pie OR flour)' })
      assert.equal(service.requests[0]?.body.query, 'apple नमस्ते 東京の Łódź')
    })

    test('have what is as quotes say before what the service prefers', async () => {
      const { results } = await search(notes, { text: '"some apple"', retrieval_mode: 'hybrid', min_similarity: 0 })
      assert.ok(results.length > 1)
      assert.equal(results[0]?.title, 'Pie')
    })

    test('by words ask nobody', async () => {
      service.requests.length = 0
      assert.equal((await search(notes, 'apple')).results.length, 4)
      assert.equal(service.requests.length, 0)
    })

    test('are 503 while the service fails, and 502 when what it says is no answer', async () => {
      for (const [answer, status] of [
        [{ status: 500 }, 503],
        [{ status: 429 }, 503],
        [{ status: 401 }, 502],
        [{ body: '<html>' }, 502],
        [{ body: '{"results": [{"index": 7, "relevance_score": 1}]}' }, 502],
        [{ body: '{"results": [{"index": 0, "relevance_score": null}]}' }, 502],
      ] as const) {
        service.answer = answer
        const { detail } = await search(notes, asked, { status })
        assert.match(detail, /^The reranking service/)
        assert.doesNotMatch(detail, /127\.0\.0\.1|secret/)
      }
      service.answer = undefined
      assert.equal((await search(notes, asked)).results.length, 4)
    })
  })
}
