import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../support/start-server.ts'
import { client } from '../support/test-client.ts'
import { eachServer } from './each-server.ts'

test('context tells of a note, its facts and what it is related to', async () => {
  await using server = await startServer()
  const api = client(server)
  const base = `/v2/${(await api.get('/v2/projects/', 200)).body.projects[0].external_id}`
  const create = async (title: string, directory: string, content: string) =>
    (await api.post(`${base}/knowledge/entities`, 201, { body: { title, directory, content } })).body
  const coffee = await create('Coffee', 'drinks', '- [fact] hot #warm (mostly)\n- needs [[Water]]\n- needs [[Sugar]]\n')
  const water = await create('Water', 'drinks', '- [fact] wet\n')
  const memory = async (path: string, status = 200) => (await api.get(`${base}/memory/${path}`, status)).body

  const context = await memory('drinks/coffee')
  assert.equal(context.results.length, 1)
  const [{ primary_result: primary, observations, related_results: related }] = context.results
  assert.equal(primary.type, 'entity')
  assert.equal(primary.external_id, coffee.external_id)
  assert.equal(primary.entity_id, coffee.id)
  assert.equal(primary.content, coffee.content)
  assert.equal(observations.length, 1)
  assert.equal(observations[0].observation_id, coffee.observations[0].id)
  assert.equal(observations[0].permalink, coffee.observations[0].permalink)
  assert.equal(observations[0].entity_external_id, coffee.external_id)
  assert.deepEqual(observations[0].tags, ['warm'])
  assert.deepEqual(
    related.map(({ type }: { type: string }) => type),
    ['entity', 'relation', 'relation'],
  )
  assert.equal(related[0].external_id, water.external_id)
  assert.equal(related[1].to_entity, water.permalink)
  assert.equal(related[1].from_entity_external_id, coffee.external_id)
  assert.equal(related[1].to_entity_external_id, water.external_id)
  assert.deepEqual([related[2].to_entity, related[2].to_entity_external_id, related[2].to_name], [null, null, 'Sugar'])
  const { generated_at, ...metadata } = context.metadata
  assert.ok(Date.parse(generated_at) > 0)
  assert.deepEqual(metadata, {
    uri: 'memory://drinks/coffee',
    types: null,
    depth: 1,
    timeframe: null,
    primary_count: 1,
    related_count: 3,
    total_results: 4,
    total_relations: 2,
    total_observations: 1,
  })
  assert.deepEqual([context.page, context.page_size, context.has_more], [1, 10, false])

  for (const name of ['memory://drinks/coffee', coffee.permalink, coffee.external_id, 'Coffee', 'drinks%2FCoffee.md']) {
    assert.equal((await memory(name)).results[0].primary_result.external_id, coffee.external_id, name)
  }
  assert.equal((await memory('drinks/*')).metadata.primary_count, 2)
  assert.equal((await memory('*?page_size=1')).has_more, true)
  assert.deepEqual((await memory('not/there')).results, [])
  await memory('', 404)
  await memory('%20', 422)
  assert.deepEqual((await memory('drinks/coffee?depth=0')).results[0].related_results, [])
  assert.equal((await memory('drinks/coffee?max_related=2')).results[0].related_results.length, 2)
  const parts = await memory('drinks/coffee?type=observation&type=relation')
  assert.deepEqual(
    parts.results.map((result: { primary_result: { type: string } }) => result.primary_result.type),
    ['observation', 'relation', 'relation'],
  )

  const recent = await memory('recent')
  assert.deepEqual(
    recent.results.map((result: { primary_result: { title: string } }) => result.primary_result.title),
    ['Water', 'Coffee'],
  )
  assert.deepEqual([recent.metadata.uri, recent.metadata.timeframe], [null, '7d'])
  assert.deepEqual((await memory('recent?type=observation&timeframe=today')).metadata.total_observations, 2)
  const several = await memory('recent?type=entity,observation&type=relation')
  assert.deepEqual(several.metadata.types, ['entity', 'observation', 'relation'])
  const any = await memory('recent?type=&depth=1&timeframe=7d&page=1&page_size=10&max_related=10')
  assert.deepEqual(any.results, (await memory('recent')).results, 'no value is no filter')
  const wrong = [
    'depth=6',
    'depth=-1',
    'page=0',
    'page_size=0',
    'page_size=101',
    'max_related=101',
    'type=note',
    'type=entity,note',
  ]
  wrong.push('timeframe=tomorrow', 'timeframe=2y', 'timeframe=whenever', 'timeframe=')
  for (const query of wrong) {
    assert.equal(typeof (await memory(`recent?${query}`, 422)).detail, 'string', query)
    await memory(`drinks/coffee?${query}`, 422)
  }
  for (const uri of ['a%3Fb', 'a%3Cb', 'a//b', 'http://x', 'a%22b', 'a%7Cb']) await memory(uri, 422)
})

eachServer('addresses of parts', (notes) => {
  test('every permalink of an observation or a relation that an answer shows leads to it', async () => {
    const long = 'a fact that goes on '.repeat(20)
    const { observations, relations } = await notes().create({
      title: 'Ünïcode 测试',
      directory: 'Ж/ё',
      content: `- [факт] Что-то 测试 #тег\n- [long] ${long}1\n- [long] ${long}2\n- знает [[Нечто]]\n- "known by" [[Ünïcode 测试]]\nand [[a#b|c]]`,
    })
    assert.deepEqual([observations.length, relations.length], [3, 3])
    const named = async (permalink: string) => {
      const path = `/v2/${notes().projectId}/memory/${permalink.split('/').map(encodeURIComponent).join('/')}?timeframe=7d`
      const { results } = (await notes().api.get(path, 200)).body
      assert.equal(results.length, 1, permalink)
      assert.equal(results[0].primary_result.permalink, permalink)
      return results[0].primary_result
    }
    for (const { permalink, content } of observations) assert.equal((await named(permalink)).content, content)
    for (const { permalink, relation_type, to_name } of relations) {
      const { type, ...relation } = await named(String(permalink))
      assert.deepEqual([type, relation.relation_type, relation.to_name], ['relation', relation_type, to_name])
    }
  })
})
