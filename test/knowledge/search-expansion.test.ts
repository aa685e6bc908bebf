import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { postgresUnavailable } from '../support/postgres.ts'
import { NotesApi, type WireNote } from './notes-api.ts'
import { search, titles, untilEmbedded } from './search-api.ts'

for (const engine of ['sqlite', 'postgres'] as const) {
  const unavailable = engine === 'postgres' ? postgresUnavailable() : null
  const title = `searches that follow relations (${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'})`
  describe(title, { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
    let notes: NotesApi
    let espresso: WireNote
    before(async () => {
      notes = await NotesApi.start({ engine, env: { COMMONPLACE_KNOWLEDGE__INDEX_DELAY_MS: '0' } })
      espresso = await notes.create({
        title: 'Espresso',
        content: 'Brewing takes nine bar.\n\n- covered_by [[Warranty card]]\n',
        entity_metadata: { tags: ['kitchen'] },
      })
      await notes.create({
        title: 'Warranty card',
        content: 'Number 4711, until spring.\n\n- kept_in [[Drawer]]\n',
        entity_metadata: { tags: ['kitchen'] },
      })
      await notes.create({ title: 'Drawer', content: 'The second from above.' })
      await notes.create({ title: 'Invoice', content: 'Paid in March.\n\n- pays [[Espresso]]\n' })
      const other = await notes.project('Elsewhere')
      await other.create({ title: 'Hidden', content: 'Nobody here may see it.\n\n- see [[Espresso]]\n' })
      await untilEmbedded(notes, espresso)
    })
    after(() => notes.server.stop())

    // Nothing is near enough by itself: what comes in comes in by words, or by a relation.
    const asked = { text: 'brewing', retrieval_mode: 'hybrid', min_similarity: 1, entity_types: ['entity'] }
    const found = async (more: object = { graph_expansion: true }) =>
      titles(await search(notes, { ...asked, ...more }, { query: '?page_size=100' }))

    test('find what is one hop away, in either direction, behind what leads there', async () => {
      assert.deepEqual(await found({}), ['Espresso'])
      assert.deepEqual(await found({ graph_expansion: false }), ['Espresso'])
      assert.deepEqual(await found(), ['Espresso', 'Warranty card', 'Invoice'])
      const { results } = await search(notes, { ...asked, graph_expansion: true })
      const [first, second] = results
      assert.equal(second?.score, 0.3 * (first?.score as number))
      assert.match(second?.matched_chunk ?? '', /^Number 4711/)
    })

    test('keep to filters and kinds', async () => {
      assert.deepEqual(await found({ graph_expansion: true, tags: ['kitchen'] }), ['Espresso', 'Warranty card'])
      assert.deepEqual(await found({ graph_expansion: true, after_date: '2999-01-01' }), [])
      assert.deepEqual(await found({ graph_expansion: true, entity_types: ['observation'] }), [])
    })

    test('raise what was found anyway', async () => {
      const both = { text: 'brewing OR spring OR second', graph_expansion: true }
      const before = await search(notes, { ...asked, ...both, graph_expansion: false })
      const after = await search(notes, { ...asked, ...both })
      const scoreOf = ({ results }: typeof before, name: string) =>
        results.find((result) => result.title === name)?.score as number
      assert.ok(scoreOf(after, 'Warranty card') > scoreOf(before, 'Warranty card'))
    })

    test('page without a repetition', async () => {
      const pages = []
      for (let page = 1; page <= 4; page++) {
        const answer = await search(notes, { ...asked, graph_expansion: true }, { query: `?page=${page}&page_size=1` })
        pages.push([...titles(answer), answer.has_more])
      }
      assert.deepEqual(pages, [['Espresso', true], ['Warranty card', true], ['Invoice', false], [false]])
    })

    test('say by which relation', async () => {
      const trace = async (body: object) =>
        (await notes.api.post(`/v2/${notes.projectId}/inspect/query`, 200, { body: { ...asked, ...body } })).body
      const { graph_expansion: isExpanded, candidates } = await trace({ graph_expansion: true })
      assert.equal(isExpanded, true)
      const via = { external_id: espresso.external_id, title: 'Espresso' }
      assert.deepEqual(
        candidates.map((candidate: { title: string; via: unknown }) => [candidate.title, candidate.via]),
        [
          ['Espresso', null],
          ['Warranty card', { ...via, relation_type: 'covered_by' }],
          ['Invoice', { ...via, relation_type: 'pays' }],
        ],
      )
      assert.equal((await trace({})).graph_expansion, false)
      assert.equal((await trace({ graph_expansion: true, retrieval_mode: 'fts' })).graph_expansion, false)
    })

    test('follow only some of very many relations, and none to what was deleted', async () => {
      const created: WireNote[] = []
      for (let n = 0; n < 15; n++) {
        created.push(await notes.create({ title: `Cup ${n}`, content: 'Half full.\n\n- filled_by [[Espresso]]\n' }))
      }
      assert.equal((await found()).length, 11)
      for (const { external_id: id } of created) await notes.delete(id)
      assert.deepEqual(await found(), ['Espresso', 'Warranty card', 'Invoice'])
    })
  })
}
