import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { postgresUnavailable } from '../support/postgres.ts'
import { NotesApi } from './notes-api.ts'
import { search, titles, untilEmbedded } from './search-api.ts'

const AT_ONCE = { COMMONPLACE_KNOWLEDGE__INDEX_DELAY_MS: '0' }
const FRUIT = 'Pears, plums and cherries are fruit of the garden. '
// More than are looked at for one page.
const MANY = 600

/** What quotes and operators say holds where meaning is asked for, too. */
for (const engine of ['sqlite', 'postgres'] as const) {
  const unavailable = engine === 'postgres' ? postgresUnavailable() : null
  const title = `hybrid searches with quotes and operators (${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'})`
  describe(title, { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
    for (const fusion of ['weighted', 'rrf']) {
      describe(fusion, () => {
        let notes: NotesApi
        before(async () => {
          notes = await NotesApi.start({ engine, env: { ...AT_ONCE, COMMONPLACE_KNOWLEDGE__HYBRID_FUSION: fusion } })
        })
        after(() => notes.server.stop())

        const asked = { retrieval_mode: 'hybrid', min_similarity: 0, entity_types: ['entity'] }

        test('what is as they say comes first, also where it has none of the words', async () => {
          const orchard = await notes.project('Orchard')
          const all = [
            { title: 'Pears', content: 'A pear is a fruit. Pears grow on the tree.\n\n- like [[Apples]]\n' },
            { title: 'Apples', content: 'An apple is a fruit like the pear: apples, red apples.' },
            { title: 'Tax', content: 'Deductions for the office.' },
          ]
          for (const note of all) await untilEmbedded(orchard, await orchard.create(note))
          const found = async (text: string, more = {}) => titles(await search(orchard, { ...asked, ...more, text }))
          assert.deepEqual(await found('"pear is a fruit" OR (NOT apple)'), ['Pears', 'Tax', 'Apples'])
          assert.equal((await found('"deductions for the office" OR "red apples"'))[2], 'Pears')
          assert.equal((await found('"grow on the tree"'))[0], 'Pears')
          const related = await found('"pear is a fruit" OR "deductions for"', { graph_expansion: true })
          assert.equal(related[2], 'Apples', 'also where a relation raises what is only near')
        })

        test('what is as they say comes before what is only near in meaning, however much of the former there is', async () => {
          const store = await notes.project('Store')
          const report = await store.create({
            title: 'Report',
            content: `${FRUIT.repeat(3)}Then a red apple. ${FRUIT}`,
          })
          for (let n = 0; n < MANY; n += 100) {
            const operations = Array.from({ length: 100 }, (_, at) => {
              return { op: 'create', title: `Budget ${n + at}`, content: 'Deductions: red apple, office, tax.' }
            })
            await store.batch(operations)
          }
          const other = await store.create({ title: 'Harvest', content: 'Sweet fruit: trees of the orchard.' })
          for (const note of [report, other]) await untilEmbedded(store, note)
          const { body } = await store.api.post(`/v2/${store.projectId}/inspect/query`, 200, {
            body: { ...asked, text: '"red apple" OR "sweet fruit of orchard trees"' },
          })
          const found = body.candidates.map((hit: { title: string }) => hit.title)
          assert.ok(found.includes('Report') && found.includes('Harvest'))
          assert.ok(found.indexOf('Report') < found.indexOf('Harvest'))
        })
      })
    }
  })
}
