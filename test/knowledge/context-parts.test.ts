import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachServer } from './each-server.ts'
import type { NotesApi } from './notes-api.ts'
import { search } from './search-api.ts'

const COFFEE = `- [method] Pour over is slow #brewing
- [tip] Use fresh water
- requires [[Grinder]]
- requires [[Grinder]] (said twice)
- requires [[Kettle]]
`

interface Item {
  type: string
  category?: string
  content?: string
  relation_type?: string
  to_name?: string
  observation_id?: number
  relation_id?: number
}

interface Answer {
  results: { primary_result: Item; observations: Item[]; related_results: Item[] }[]
  has_more: boolean
}

async function context(notes: NotesApi, address: string, query = ''): Promise<Answer> {
  const base = notes.base.replace(/\/knowledge$/, '')
  return (await notes.api.get(`${base}/memory/${encodeURI(address)}${query}`, 200)).body
}

async function named(notes: NotesApi, address: string, query = ''): Promise<string[]> {
  const { results } = await context(notes, address, query)
  return results.map(({ primary_result: item }) =>
    item.type === 'observation' ? `[${item.category}] ${item.content}` : `${item.relation_type} ${item.to_name}`,
  )
}

eachServer('a memory address', (notes) => {
  test('that a search answered leads to the observation or relation', async () => {
    const other = await notes().project('Addresses')
    await other.create({ title: 'Coffee', directory: 'drinks', content: COFFEE })
    const { results } = await search(other, { entity_types: ['observation', 'relation'] })
    assert.equal(results.length, 4)
    for (const { permalink, type, observation_id: observation, relation_id: relation } of results) {
      for (const address of [permalink, `memory://${permalink}`, permalink?.replace('addresses/', '')]) {
        const answer = await context(other, address as string)
        const [{ primary_result: item, ...rest } = assert.fail(address ?? '')] = answer.results
        assert.deepEqual([answer.results.length, answer.has_more], [1, false])
        assert.deepEqual([item.type, item.observation_id, item.relation_id], [type, observation, relation])
        assert.deepEqual(rest, { observations: [], related_results: [] })
      }
    }
  })

  test('with a star is one of notes, and where no note is called so, of what stands in notes', async () => {
    const other = await notes().project('Patterns')
    await other.create({ title: 'Coffee', directory: 'drinks', content: COFFEE })
    await other.create({ title: 'Tea', directory: 'drinks', content: '- requires [[Kettle]]\n- [tip] Wait\n' })
    for (const begin of ['', 'patterns/', 'Patterns/']) {
      assert.deepEqual(await named(other, `${begin}drinks/coffee/requires/*`), ['requires Grinder', 'requires Kettle'])
      assert.deepEqual(await named(other, `${begin}drinks/*/requires/kettle`), ['requires Kettle', 'requires Kettle'])
    }
    assert.deepEqual(await named(other, '*/observations/tip/*'), ['[tip] Use fresh water', '[tip] Wait'])
    assert.deepEqual(await named(other, '*/observations/tip/*', '?timeframe=7d&page=2&page_size=1'), ['[tip] Wait'])
    const first = await context(other, 'drinks/coffee/*', '?page_size=1')
    assert.deepEqual([first.results[0]?.primary_result.type, first.has_more], ['observation', true])
    const { results } = await context(other, 'drinks/*')
    assert.deepEqual(
      results.map(({ primary_result }) => primary_result.type),
      ['entity', 'entity'],
    )
    assert.deepEqual((await context(other, 'drinks/*', '?page=2')).results, [])
    for (const pattern of ['Drinks/Cof*', '*/Coffee']) {
      const { results } = await context(other, pattern, '?depth=0')
      assert.deepEqual(
        results.map(({ primary_result }) => primary_result.type),
        ['entity'],
        pattern,
      )
      const found = await search(other, { permalink_match: pattern, entity_types: ['entity'] })
      assert.deepEqual([found.total, found.results[0]?.title], [1, 'Coffee'], pattern)
    }
  })

  test('is that of a note before that of a relation', async () => {
    const other = await notes().project('Clashes')
    await other.create({ title: 'Coffee', content: '- requires [[Milk]]\n' })
    await other.create({ title: 'Milk', directory: 'coffee/requires' })
    for (const address of ['coffee/requires/milk', 'clashes/coffee/requires/milk']) {
      const { results } = await context(other, address)
      assert.deepEqual(
        results.map(({ primary_result }) => primary_result.type),
        ['entity'],
      )
    }
  })
})
