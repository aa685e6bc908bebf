import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { SEARCH_FILE } from '../../src/platform/storage/open.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { NotesApi, type WireNote } from './notes-api.ts'
import { marked, search, titles, untilEmbedded, type WireAnswer } from './search-api.ts'

const AT_ONCE = { COMMONPLACE_KNOWLEDGE__INDEX_DELAY_MS: '0' }
const FILLER = 'The committee met again and talked about the budget of the coming year at length. '

for (const engine of ['sqlite', 'postgres'] as const) {
  const unavailable = engine === 'postgres' ? postgresUnavailable() : null
  const title = `search by meaning (${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'})`
  describe(title, { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
    let notes: NotesApi
    let dog: WireNote
    before(async () => {
      notes = await NotesApi.start({ engine, env: AT_ONCE })
      dog = await notes.create({
        title: 'Puppy training',
        content:
          'Teach a young dog to sit with small treats.\n\n- [tip] reward the puppy at once #pets\n- see [[Kennel]]\n',
        entity_metadata: { tags: ['pets'] },
      })
      await notes.create({
        title: 'Tax return',
        content: 'Deductions for the office and what the revenue service wants.',
      })
      await notes.create({
        title: 'Minutes',
        content: `${`# Budget\n\n${FILLER.repeat(20)}\n\n`.repeat(3)}# Kitchen\n\nThe oven bakes bread and cakes unevenly.\n`,
      })
      const other = await notes.project('Elsewhere')
      const secret = await other.create({
        title: 'Hidden hound',
        content: 'A dog that nobody here may see, with treats.',
      })
      await untilEmbedded(other, secret)
      for (const { external_id: id } of (await search(notes, { entity_types: ['entity'] })).results) {
        await untilEmbedded(notes, { external_id: id })
      }
    })
    after(() => notes.server.stop())

    const ask = (body: Record<string, unknown>, query = ''): Promise<WireAnswer> => search(notes, body, { query })

    test('a text that names tags only finds what has them, in every mode', async () => {
      for (const mode of ['fts', 'vector', 'hybrid']) {
        const answer = await search(notes, { text: 'tag:pets', retrieval_mode: mode, entity_types: ['entity'] })
        assert.deepEqual(titles(answer), ['Puppy training'], mode)
      }
    })

    test('a text that only excludes words finds what has none of them, in every mode', async () => {
      const asked = { text: 'NOT puppy NOT budget', entity_types: ['entity'] }
      for (const mode of ['fts', 'vector', 'hybrid']) {
        const answer = await search(notes, { ...asked, retrieval_mode: mode })
        assert.deepEqual([titles(answer), answer.degraded], [['Tax return'], undefined], mode)
      }
    })

    test('quotes and operators hold with meaning, too: what is excluded is out, what is as they say comes first', async () => {
      const other = await notes.project('Orchard')
      const all = [
        { title: 'Diary', content: `${FILLER.repeat(3)}Later I ate a red apple under the tree. ${FILLER}` },
        { title: 'Apples', content: 'Apples can be green or red. An apple a day; red, red apples.' },
        { title: 'Red', content: 'apple red\n\n- [fact] an apple is red\n- goes_with [[Bottle]]\n' },
        { title: 'Bottle', content: 'Apple wine is red.' },
      ]
      for (const note of all) await untilEmbedded(other, await other.create(note))
      const found = async (text: string, mode: string, rest = {}) =>
        titles(
          await search(other, { text, retrieval_mode: mode, entity_types: ['entity'], min_similarity: 0, ...rest }),
        )
      assert.equal((await found('"red apple"', 'hybrid'))[0], 'Diary')
      assert.equal((await found('"red apple" OR "apple wine"', 'hybrid')).slice(0, 2).sort().join(), 'Bottle,Diary')
      for (const mode of ['vector', 'hybrid']) {
        assert.deepEqual((await found('apple NOT wine', mode)).sort(), ['Apples', 'Diary', 'Red'], mode)
        assert.deepEqual((await found('apple NOT (green OR "apple wine")', mode)).sort(), ['Diary', 'Red'], mode)
        assert.deepEqual(
          (await found('apple NOT wine', mode, { graph_expansion: true })).includes('Bottle'),
          false,
          mode,
        )
        assert.equal((await found('apple OR (red NOT wine)', mode)).length, 4, mode)
      }
    })

    test('what is tagged or filed under a word comes before what is only like it in meaning', async () => {
      const other = await notes.project('Library')
      const book = { title: 'Atomic Habits', directory: 'shelf', content: 'Make it obvious and easy.' }
      const all = [await other.create({ ...book, entity_metadata: { tags: ['books'] } })]
      all.push(await other.create({ title: 'Anna', directory: 'persons', content: 'Likes to climb.' }))
      for (const title of ['A novel', 'An essay', 'Reading']) {
        all.push(await other.create({ title, content: 'A novel, an essay, literature that people read.' }))
      }
      for (const note of all) await untilEmbedded(other, note)
      const first = async (text: string) =>
        titles(await search(other, { text, retrieval_mode: 'hybrid', entity_types: ['entity'], min_similarity: 0 }))[0]
      assert.equal(await first('books'), 'Atomic Habits')
      assert.equal(await first('book'), 'Atomic Habits')
      assert.equal(await first('persons'), 'Anna')
    })

    /** Six hundred passages of one note, and twelve notes that are less near. */
    const cellar = async (name: string): Promise<NotesApi> => {
      const other = await notes.project(name)
      const bottles = Array.from({ length: 600 }, (_, n) => `- [bottle] cider of apples, number ${n}\n`).join('')
      await untilEmbedded(other, await other.create({ title: 'Bottles', content: bottles }))
      for (let n = 0; n < 12; n++) {
        const metadata = { tags: ['fruit'] }
        const fruit = { title: `Fruit ${n}`, content: 'Pears ripen on the shelf.', entity_metadata: metadata }
        await untilEmbedded(other, await other.create(fruit))
      }
      return other
    }

    test('what passes the filters is found behind hundreds of nearer passages that do not', async () => {
      const other = await cellar('Cellar')
      for (const mode of ['vector', 'hybrid']) {
        const asked = { text: 'cider of apples', retrieval_mode: mode, entity_types: ['entity'], min_similarity: 0 }
        const pages = async (rest: Record<string, unknown>) => {
          const first = await search(other, { ...asked, ...rest })
          const second = await search(other, { ...asked, ...rest }, { query: '?page=2' })
          assert.deepEqual([first.has_more, second.has_more], [true, false], mode)
          return [...titles(first), ...titles(second)]
        }
        const fruits = Array.from({ length: 12 }, (_, n) => `Fruit ${n}`).sort()
        assert.deepEqual((await pages({ tags: ['fruit'] })).sort(), fruits, mode)
        assert.deepEqual((await pages({})).sort(), ['Bottles', ...fruits], mode)
      }
    })

    test('a text of which the model knows no word finds by words alone, not whatever else is unknown', async () => {
      const greeting = await notes.create({ title: 'Greeting', content: 'ሰላም ለዓለም' })
      const other = await notes.create({ title: 'Tea', content: 'ชาเย็นหวานน้อย' })
      for (const note of [greeting, other]) await untilEmbedded(notes, note)
      for (const mode of ['vector', 'hybrid']) {
        const answer = await ask({ text: 'ሰላም', retrieval_mode: mode, min_similarity: 0 })
        assert.deepEqual([titles(answer), answer.degraded], [['Greeting'], true], mode)
      }
      for (const { external_id: id } of [greeting, other]) await notes.api.delete(`${notes.base}/entities/${id}`, 200)
    })

    test('finds what has none of the words, and says by which passage', async () => {
      const { results, ...envelope } = await ask({
        text: 'educating a hound',
        retrieval_mode: 'vector',
        entity_types: ['entity'],
        min_similarity: 0,
      })
      assert.equal(results[0]?.title, 'Puppy training')
      assert.ok(results[0]?.matched_chunk?.startsWith('Teach a young dog'), 'of a short note, all of it')
      assert.ok((results[0]?.score ?? 0) <= 1)
      assert.deepEqual(envelope, { current_page: 1, page_size: 10, total: 0, total_is_exact: false, has_more: false })
    })

    test('answers with the passages of a long note that are meant, not with all of it', async () => {
      const { results } = await ask({
        text: 'baking bread in the oven',
        retrieval_mode: 'vector',
        entity_types: ['entity'],
      })
      assert.equal(results[0]?.title, 'Minutes')
      const chunk = results[0]?.matched_chunk as string
      assert.match(chunk.split('\n---\n')[0] as string, /oven bakes bread/)
      assert.ok(chunk.length < 6_000)
      assert.ok(results[0]?.snippets.some((snippet) => marked(snippet).includes('<oven>')))
    })

    test('finds with hybrid what either way finds, each row once', async () => {
      const {
        results,
        total,
        total_is_exact: isExact,
      } = await ask({ text: 'training a hound', retrieval_mode: 'hybrid' })
      assert.equal(results[0]?.title, 'Puppy training')
      assert.deepEqual([total, isExact], [0, false])
      const keys = results.map((hit) => [hit.type, hit.entity_id, hit.observation_id, hit.relation_id].join())
      assert.equal(new Set(keys).size, keys.length)
      for (const { matched_chunk: chunk, type } of results) assert.equal(typeof chunk, 'string', type)
      const scores = results.map(({ score }) => score)
      assert.deepEqual(
        scores,
        scores.toSorted((one, other) => other - one),
      )
      const words = await ask({ text: 'revenue deductions', retrieval_mode: 'hybrid', min_similarity: 1 })
      assert.deepEqual(titles(words), ['Tax return'])
      assert.equal(words.results[0]?.matched_chunk, words.results[0]?.content)
    })

    test('keeps to filters, kinds and the least similarity', async () => {
      const near = { text: 'dog', min_similarity: 0 }
      for (const mode of ['vector', 'hybrid']) {
        const only = async (more: object) => titles(await ask({ ...near, retrieval_mode: mode, ...more }))
        assert.deepEqual(
          new Set(await only({ tags: ['pets'] })),
          new Set(['Puppy training', 'Puppy training → Kennel']),
        )
        assert.deepEqual(await only({ tags: ['nothing'] }), [])
        assert.deepEqual(await only({ after_date: '2999-01-01' }), [])
        assert.deepEqual(await only({ note_types: ['recipe'] }), [])
        const { results } = await ask({ ...near, retrieval_mode: mode, categories: ['tip'] })
        assert.deepEqual(
          results.map(({ type, category }) => [type, category]),
          [['observation', 'tip']],
        )
        const kinds = await ask({ ...near, retrieval_mode: mode, entity_types: ['relation'] })
        assert.ok(kinds.results.every(({ type }) => type === 'relation'))
      }
      assert.deepEqual(titles(await ask({ text: 'dog', retrieval_mode: 'vector', min_similarity: 1 })), [])
    })

    test('pages without a gap or a repetition, and says whether there is more', async () => {
      const asked = { text: 'the dog and the office', retrieval_mode: 'hybrid', min_similarity: 0 }
      const all = await ask(asked, '?page_size=100')
      const seen: string[] = []
      for (let page = 1; ; page++) {
        const answer = await ask(asked, `?page=${page}&page_size=2`)
        seen.push(...answer.results.map(({ permalink }) => permalink as string))
        if (!answer.has_more) break
      }
      assert.deepEqual(
        seen,
        all.results.map(({ permalink }) => permalink),
      )
      assert.deepEqual(titles(await ask(asked, '?page=1000000&page_size=100')), [])
    })

    test('never shows what is in another project', async () => {
      for (const mode of ['vector', 'hybrid']) {
        const { results } = await ask({ text: 'hidden hound with treats', retrieval_mode: mode, min_similarity: 0 })
        assert.ok(results.length > 0)
        for (const { title } of results) assert.notEqual(title, 'Hidden hound')
      }
      const { body } = await notes.api.post(`/v2/${notes.projectId}/inspect/query`, 200, {
        body: { text: 'hidden hound', retrieval_mode: 'hybrid' },
      })
      assert.equal(JSON.stringify(body).includes('Hidden hound'), false)
    })

    test('forgets a note that is deleted at once', async () => {
      const note = await notes.create({ title: 'Volcano', content: 'Lava flows down the crater.' })
      await untilEmbedded(notes, note)
      const asked = { text: 'eruption of magma', retrieval_mode: 'vector', min_similarity: 0 }
      assert.equal(titles(await ask(asked))[0], 'Volcano')
      await notes.delete(note.external_id)
      assert.equal(titles(await ask(asked)).includes('Volcano'), false)
    })

    test('needs text', async () => {
      for (const mode of ['vector', 'hybrid']) {
        for (const body of [
          { title: 'puppy' },
          { permalink: dog.permalink },
          { permalink_match: '*' },
          { tags: ['pets'] },
        ]) {
          const { detail } = await search(notes, { ...body, retrieval_mode: mode }, { status: 400 })
          assert.match(detail, /needs text/)
        }
        for (const body of [{}, { text: '' }, { text: ' ' }]) {
          assert.deepEqual(titles(await search(notes, { ...body, retrieval_mode: mode })), [])
        }
      }
    })

    test('takes any text', async () => {
      for (const text of [
        '(((',
        '"',
        'NOT',
        'a\0b',
        '\ud800',
        '😀',
        '東京',
        '['.repeat(10_000),
        'word '.repeat(3_000),
      ]) {
        for (const mode of ['vector', 'hybrid']) {
          const { degraded } = await search(notes, { text, retrieval_mode: mode })
          // An emoji is a word, of which the model knows nothing.
          assert.equal(degraded, text === '😀' ? true : undefined, text.slice(0, 20))
        }
      }
    })

    test('finds a note by its words alone that says embed: false, and no passage of it is missing', async () => {
      const quiet = await notes.project('Quiet')
      const said = await quiet.create({ title: 'Said', content: 'Kittens purr.' })
      const unsaid = await quiet.create({
        title: 'Unsaid',
        entity_metadata: { embed: false },
        content: 'Kittens purr.',
      })
      await untilEmbedded(quiet, said)
      const ask = (retrieval_mode: string) => search(quiet, { text: 'kittens', retrieval_mode })
      assert.deepEqual(titles(await ask('vector')), ['Said'])
      assert.deepEqual(titles(await ask('hybrid')).toSorted(), ['Said', 'Unsaid'])
      const { body } = await quiet.api.post(`/v2/${quiet.projectId}/inspect/chunks`, 200, {
        body: { identifier: unsaid.external_id },
      })
      assert.deepEqual(body.chunks, [])
    })

    test('explains itself', async () => {
      const trace = async (body: object) =>
        (await notes.api.post(`/v2/${notes.projectId}/inspect/query`, 200, { body })).body
      const hybrid = await trace({ text: 'puppy treats', retrieval_mode: 'hybrid', tags: ['pets'], min_similarity: 0 })
      assert.equal(hybrid.retrieval_mode, 'hybrid')
      assert.deepEqual(hybrid.question.words, ['puppy', 'treats'])
      assert.equal(hybrid.min_similarity, 0)
      const [first] = hybrid.candidates
      assert.deepEqual([first.rank, first.title, first.is_on_page], [1, 'Puppy training', true])
      assert.ok(first.word_score > 0 && first.similarity > 0 && first.chunks.length > 0)
      assert.ok(hybrid.rejections.some(({ reason }: { reason: string }) => reason === 'filtered'))
      const scores = async (body: object) => {
        const { candidates } = await trace(body)
        return Object.fromEntries(candidates.map((hit: { title: string }) => [hit.title, hit]))
      }
      const near = { min_similarity: 0, entity_types: ['entity'] }
      const both = await scores({ text: '"puppy" OR (NOT dog NOT oven)', retrieval_mode: 'hybrid', ...near })
      assert.ok(both['Puppy training'].word_score > 0)
      assert.equal(both['Tax return'].word_score, 0, 'found for what it has not')
      const apart = await scores({ text: 'hound', retrieval_mode: 'hybrid', ...near })
      assert.equal(apart['Puppy training'].word_score, null, 'found by its meaning only')
      const meant = await scores({ text: 'puppy', retrieval_mode: 'vector', ...near })
      assert.equal(meant['Puppy training'].word_score, null, 'words were not looked for')
      const listed = await scores({ tags: ['pets'], entity_types: ['entity'] })
      assert.equal(listed['Puppy training'].word_score, null, 'there are no words')
      const strict = await trace({ text: 'puppy', retrieval_mode: 'vector', min_similarity: 1 })
      assert.ok(strict.rejections.every(({ reason }: { reason: string }) => reason === 'below_min_similarity'))
      const words = await trace({ text: 'which puppy would the astronaut prefer' })
      assert.equal(words.question.is_relaxed, true)
      // Whoever writes OR asks for no more than that.
      for (const retrieval_mode of ['fts', 'hybrid']) {
        const either = await trace({ text: 'puppy OR revenue', retrieval_mode })
        assert.deepEqual([either.question.tree.kind, either.question.is_relaxed], ['or', false])
      }
      assert.equal(hybrid.question.is_relaxed, true)
      assert.equal(words.min_similarity, null)
      const { body: chunks } = await notes.api.post(`/v2/${notes.projectId}/inspect/chunks`, 200, {
        body: { identifier: 'Puppy training' },
      })
      assert.equal(chunks.embedding_provider, 'builtin')
      assert.equal(chunks.chunks[0].key, `entity:${dog.id}:0`)
      assert.deepEqual(
        new Set(chunks.chunks.map(({ type, status }: { type: string; status: string }) => `${type} ${status}`)),
        new Set(['entity ready', 'observation ready', 'relation ready']),
      )
      await notes.api.post(`/v2/${notes.projectId}/inspect/chunks`, 404, { body: { identifier: 'No such note' } })
      await notes.api.post(`/v2/${notes.projectId}/inspect/chunks`, 422, { body: {} })
    })

    if (engine === 'sqlite')
      test('what passes the filters is found by meaning before the index of words has it', async () => {
        const file = new DatabaseSync(join(notes.server.dataDir, SEARCH_FILE))
        file.exec('begin immediate')
        try {
          const other = await cellar('Cellar behind')
          const asked = { text: 'cider of apples', retrieval_mode: 'vector', entity_types: ['entity'], tags: ['fruit'] }
          assert.equal(titles(await search(other, { ...asked, min_similarity: 0 })).length, 10)
        } finally {
          file.close()
        }
      })

    // The last one: other searches would wait until the index is there again.
    if (engine === 'sqlite')
      test('what passes the filters is found by meaning also while the index of words is damaged', async () => {
        const other = await cellar('Damp cellar')
        const asked = { text: 'cider of apples', retrieval_mode: 'vector', entity_types: ['entity'], min_similarity: 0 }
        const found = async () => titles(await search(other, { ...asked, tags: ['fruit'] })).length
        assert.equal(await found(), 10)
        const file = new DatabaseSync(join(notes.server.dataDir, SEARCH_FILE), { defensive: false })
        file.exec(`update note_search_data set block = x'${'ff'.repeat(100)}' where id >= 10`)
        file.close()
        assert.equal(await found(), 10)
      })
  })
}
