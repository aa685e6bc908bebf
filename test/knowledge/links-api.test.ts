import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const NOBODY = '018f0000-0000-7000-8000-000000000000'

let server: TestServer
let admin: TestClient
let main: { external_id: string }
let url: string
before(async () => {
  server = await startServer()
  admin = client(server)
  const { body } = await admin.get('/v2/projects', 200)
  main = body.projects[0]
  url = `/v2/${main.external_id}/knowledge`
})
after(() => server.stop())

async function create(title: string, directory: string, content = '') {
  return (await admin.post(`${url}/entities`, 201, { body: { title, directory, content } })).body
}

describe('POST /resolve', () => {
  test('answers which note is meant and how it was found, under both prefixes', async () => {
    const note = await create('Coffee Brewing', 'food')
    for (const base of [url, `/v2/projects/${main.external_id}/knowledge`]) {
      const { body } = await admin.post(`${base}/resolve`, 200, { body: { identifier: 'Coffee Brewing' } })
      assert.deepEqual(body, {
        external_id: note.external_id,
        entity_id: note.id,
        permalink: 'main/food/coffee-brewing',
        file_path: 'food/Coffee Brewing.md',
        title: 'Coffee Brewing',
        resolution_method: 'title',
        project_external_id: main.external_id,
      })
    }
    const body = { identifier: 'brewing', source_path: null, strict: true }
    const { body: missing } = await admin.post(`${url}/resolve`, 404, { body })
    assert.equal(missing.detail, "Entity not found for identifier 'brewing'")
  })

  test('refuses what is no question, and an unknown project', async () => {
    for (const body of [
      {},
      { identifier: '' },
      { identifier: 'x'.repeat(501) },
      { identifier: 'x', strict: 'maybe' },
    ]) {
      await admin.post(`${url}/resolve`, 422, { body })
    }
    await admin.post(`/v2/${NOBODY}/knowledge/resolve`, 404, { body: { identifier: 'x' } })
    await admin.post('/v2/main/knowledge/resolve', 404, { body: { identifier: 'x' } })
  })

  test('knows the id of a note in its own project only, and in none that was deleted', async () => {
    const body = { name: 'ids', path: 'ids' }
    const { external_id: other } = (await admin.post('/v2/projects/', 201, { body })).body.new_project
    const { external_id: identifier } = await create('Identified', '')
    await admin.post(`/v2/${other}/knowledge/resolve`, 404, { body: { identifier } })
    const made = await admin.post(`/v2/${other}/knowledge/entities`, 201, { body: { title: 'A', directory: '' } })
    const own = { body: { identifier: made.body.external_id } }
    await admin.post(`/v2/${other}/knowledge/resolve`, 200, own)
    await admin.delete(`/v2/projects/${other}`, 200)
    await admin.post(`/v2/${other}/knowledge/resolve`, 404, own)
  })

  test('is near to its source however the path of that is written', async () => {
    await create('Near', 'z')
    const near = await create('Near', 'café/menu')
    for (const source of [
      'café/menu/log.md',
      'cafe\u0301/menu/log.md',
      '/café/menu/log.md',
      './café//menu/log.md',
      'café\\menu\\log.md',
      'café/menu/',
    ]) {
      const { body } = await admin.post(`${url}/resolve`, 200, { body: { identifier: 'Near', source_path: source } })
      assert.equal(body.external_id, near.external_id, source)
    }
    const { body } = await admin.post(`${url}/resolve`, 200, { body: { identifier: 'Near', source_path: '/' } })
    assert.equal(body.file_path, 'z/Near.md')
  })

  test('a strict question with several answers is a conflict', async () => {
    await create('Twice', 'a')
    await create('Twice', 'b')
    const { body } = await admin.post(`${url}/resolve`, 409, { body: { identifier: 'Twice', strict: true } })
    assert.match(body.detail, /a\/Twice\.md \(main\/a\/twice\), b\/Twice\.md/)
  })
})

describe('POST /links/resolve', () => {
  test('follows a link into another project', async () => {
    const other = (await admin.post('/v2/projects', 201, { body: { name: 'Other' } })).body.new_project
    const entities = `/v2/${other.external_id}/knowledge/entities`
    const note = (await admin.post(entities, 201, { body: { title: 'There', directory: '' } })).body
    const { body } = await admin.post(`${url}/links/resolve`, 200, { body: { identifier: '[[Other::There]]' } })
    assert.equal(body.target_project_external_id, other.external_id)
    assert.equal(body.external_id, note.external_id)
    assert.equal('project_external_id' in body, false)
    const { body: here } = await admin.post(`${url}/resolve`, 400, { body: { identifier: 'other/There' } })
    assert.match(here.detail, /\/links\/resolve/)
    const { body: gone } = await admin.post(`${url}/links/resolve`, 404, { body: { identifier: 'other/Nothing' } })
    assert.match(gone.detail, /^Link target not found/)
  })

  test('knows the other project by its name in any case', async () => {
    const other = (await admin.post('/v2/projects', 201, { body: { name: 'MyWork' } })).body.new_project
    assert.equal(other.permalink, 'my-work')
    const entities = `/v2/${other.external_id}/knowledge/entities`
    const note = (await admin.post(entities, 201, { body: { title: 'There', directory: '' } })).body
    for (const name of ['MyWork', 'mywork', 'MYWORK', 'my-work', 'My Work']) {
      const body = { identifier: `${name}::There` }
      assert.equal((await admin.post(`${url}/links/resolve`, 200, { body })).body.external_id, note.external_id, name)
      await admin.post(`${url}/resolve`, 400, { body })
    }
  })

  test('knows the other project by a name without a letter', async () => {
    const other = (await admin.post('/v2/projects', 201, { body: { name: '🎉' } })).body.new_project
    const entities = `/v2/${other.external_id}/knowledge/entities`
    const note = (await admin.post(entities, 201, { body: { title: 'There', directory: '' } })).body
    for (const name of ['🎉', other.permalink]) {
      const body = { identifier: `[[${name}::There]]` }
      assert.equal((await admin.post(`${url}/links/resolve`, 200, { body })).body.external_id, note.external_id, name)
      await admin.post(`${url}/resolve`, 400, { body })
    }
  })
})

describe('the name of a project in its own links', () => {
  for (const [name, ways] of [
    ['OurWork', ['OurWork', 'ourwork', 'OURWORK', 'our-work']],
    ['🎊', ['🎊']],
  ] as const) {
    test(`may be written in any case, before and after there is a note: ${name}`, async () => {
      const { external_id } = (await admin.post('/v2/projects', 201, { body: { name } })).body.new_project
      const own = `/v2/${external_id}/knowledge`
      const links = ways.flatMap((way, at) => [`- a${at} [[${way}::There]]`, `- b${at} [[${way}/far/There]]`])
      const body = { title: 'Linking', directory: '', content: links.join('\n') }
      const linking = (await admin.post(`${own}/entities`, 201, { body })).body
      const there = (await admin.post(`${own}/entities`, 201, { body: { title: 'There', directory: 'far' } })).body
      const reached = (note: { relations: { to_external_id: string | null }[] }) =>
        note.relations.map(({ to_external_id }) => to_external_id)
      const all = links.map(() => there.external_id)
      const path = `${own}/entities/${linking.external_id}`
      assert.deepEqual(reached((await admin.get(path, 200)).body), all)
      const edit = { operation: 'append', content: 'more' }
      assert.deepEqual(reached((await admin.patch(path, 200, { body: edit })).body), all)
      for (const way of ways) {
        for (const route of ['resolve', 'links/resolve']) {
          const question = { identifier: `${way}::There`, strict: true }
          const answer = (await admin.post(`${own}/${route}`, 200, { body: question })).body
          assert.equal(answer.external_id, there.external_id, way)
        }
      }
    })
  }
})

describe('GET /entities/{id}/backlinks', () => {
  test('answers links with the text around them, and mentions without a link', async () => {
    const target = await create('Quiet Place', 'x')
    await create('Linking', 'x', 'Go to [[Quiet Place|there]] now')
    await create('Naming', 'x', 'A quiet place is rare')
    const { body } = await admin.get(`${url}/entities/${target.external_id}/backlinks?page_size=5`, 200)
    const [backlink] = body.backlinks
    assert.equal(body.backlinks.length, 1)
    assert.deepEqual([backlink.title, backlink.display], ['Linking', 'there'])
    assert.equal(backlink.snippet, 'Go to [[Quiet Place|there]] now')
    assert.deepEqual(
      body.unlinked_mentions.map(({ title, snippet }: { title: string; snippet: string }) => [title, snippet]),
      [['Naming', 'A quiet place is rare']],
    )
    assert.deepEqual([body.page, body.page_size, body.has_more], [1, 5, false])
  })

  test('refuses pages that are none and notes that are not there', async () => {
    const target = await create('Alone', 'x')
    for (const query of ['page=0', 'page_size=0', 'page_size=101', 'page=x']) {
      await admin.get(`${url}/entities/${target.external_id}/backlinks?${query}`, 422)
    }
    await admin.get(`${url}/entities/${NOBODY}/backlinks`, 404)
    await admin.get(`${url}/entities/nothing/backlinks`, 404)
  })
})
