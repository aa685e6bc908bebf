import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { postgresUnavailable } from '../support/postgres.ts'
import { createDatabase } from '../support/postgres-database.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { client, type TestClient } from '../support/test-client.ts'
import { runCommand } from './run-command.ts'

// What `backup --format dump` of a version with schema 6 wrote, after requests had filled it. Nothing in it ends by itself.
const EARLIER = fileURLToPath(new URL('earlier-version.jsonl.gz', import.meta.url))

interface Relation {
  relation_type: string
  to_name: string
  to_external_id: string | null
}

for (const engine of ['sqlite', 'postgres'] as const) {
  const unavailable = engine === 'postgres' ? postgresUnavailable() : null
  const title = `data of an earlier version (${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'})`
  describe(title, { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
    let server: TestServer
    let admin: TestClient
    let project: string
    let drop = async () => {}

    before(async () => {
      const dataDir = tempDir()
      const database = engine === 'postgres' ? await createDatabase({ migrated: false }) : undefined
      if (database !== undefined) drop = () => database.drop()
      const place = database === undefined ? {} : { databaseUrl: database.url }
      const flags = database === undefined ? [] : ['--database-url', database.url]
      const { status, stderr } = await runCommand(['restore', EARLIER, '--data-dir', dataDir, ...flags])
      assert.equal(status, 0, stderr)
      server = await startServer({ mode: 'serve', engine, dataDir, ...place })
      admin = client(server).as({ token: server.adminToken })
      const { body } = await admin.post('/v2/projects/resolve', 200, { body: { identifier: 'main' } })
      project = body.external_id
    })
    after(async () => {
      await server.stop()
      await drop()
    })

    const resolve = async (identifier: string): Promise<string> =>
      (await admin.post(`/v2/${project}/knowledge/resolve`, 200, { body: { identifier } })).body.external_id

    const noteCalled = async (identifier: string) =>
      (await admin.get(`/v2/${project}/knowledge/entities/${await resolve(identifier)}`, 200)).body

    const boundOf = (relations: Relation[]) =>
      relations.map(({ relation_type, to_external_id }) => [relation_type, to_external_id])

    test('notes are what they were, under all their names, with their versions', async () => {
      const coffee = await noteCalled('Pour over')
      assert.match(coffee.content, /^---\ntitle: Coffee Brewing\n(.|\n)*\nAppended\.\n$/)
      assert.deepEqual(
        coffee.observations.map(({ category, content, context }: Record<string, string>) => [
          category,
          content,
          context,
        ]),
        [['method', 'Pour over brings out the fruit #brewing', 'of light roasts']],
      )
      const grinder = await resolve('Burr Grinder')
      for (const name of ['tools/Mill.md', 'coffee/Burr Grinder.md', 'main/coffee/burr-grinder']) {
        assert.equal(await resolve(name), grinder, name)
      }
      const first = await admin.get(`/v2/${project}/knowledge/entities/${coffee.external_id}/revisions/1`, 200)
      assert.doesNotMatch(first.body.content, /Appended/)
      const later = await admin.post(`/v2/${project}/knowledge/entities`, 201, { body: { title: 'Later Note' } })
      assert.deepEqual(boundOf((await noteCalled('Pour over')).relations).slice(0, 2), [
        ['requires', grinder],
        ['links_to', later.body.external_id],
      ])
    })

    test('links with names that the earlier version did not know are bound', async () => {
      // Asks until the job has read the notes anew; the time limit of the test ends it otherwise.
      for (let index = {}; index !== null; ) {
        index = (await admin.post(`/v2/projects/${project}/status`, 200)).body.index
      }
      const vector = await resolve('std::vector')
      assert.deepEqual(boundOf((await noteCalled('Linker')).relations), [
        ['uses', vector],
        ['sees', vector],
      ])
    })

    test('notes are found by their words, by those that a later version reads, too', async () => {
      const found = async (text: string) => {
        const body = { text, search_type: 'text', entity_types: ['entity'] }
        const { results } = (await admin.post(`/v2/${project}/search/`, 200, { body })).body
        return results.map((result: { title: string }) => result.title)
      }
      assert.deepEqual(await found('"the very last phrase"'), ['Long'])
      assert.deepEqual(await found('東京'), ['日本語のノート'])
      assert.deepEqual(await found('steamship'), ['Coffee Brewing'])
      assert.deepEqual(await found('❤️'), ['Coffee Brewing'])
      assert.deepEqual(await found('tag:brewing'), ['Coffee Brewing'])
    })

    test('users keep their roles and credentials, and are found', async () => {
      const keys = { apiKey: server.apiKey, applicationKey: server.applicationKey }
      const { body } = await admin.as(keys).get('/api/v2/users?filter=l%C3%B6we', 200)
      assert.deepEqual(
        body.data.map(({ attributes }: { attributes: { email: string } }) => attributes.email),
        ['ada@example.org'],
      )
      const rights = await admin.get(`/api/v2/users/${body.data[0].id}/permissions`, 200)
      const names = rights.body.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name)
      assert.ok(names.includes('notes_write') && !names.includes('admin'), names.join(' '))
    })

    test('a callback waits as it did, with what is encrypted of it, and answers to its request', async () => {
      const path = '/namespaces/orders/callbacks/waits'
      const { body } = await admin.get(`${path}?includeInput=true`, 200)
      assert.equal(body.info.state, 'CALLBACK_STATE_SCHEDULED')
      const { callback, runId } = body.info
      // The token is never shown; it is encrypted together with the header.
      const nexus = { url: 'https://receiver.example.org/done', header: { 'x-tenant': 'a' } }
      assert.deepEqual([callback, body.input], [{ nexus }, { success: { paid: true } }])
      const query = encodeURIComponent("Customer = 'ACME' AND Amount > 12")
      assert.equal((await admin.get(`/namespaces/orders/callback-count?query=${query}`, 200)).body.count, '1')
      const again = { identity: 'x', requestId: 'first', callback, completion: { success: 1 } }
      assert.equal((await admin.post(path, 200, { body: again })).body.runId, runId)
    })

    test('the instance has its title and its rules', async () => {
      const { body } = await admin.get('/api/v2/instance', 200)
      assert.equal(body.title, 'Example knowledge base')
      assert.deepEqual(
        body.rules.map(({ text, hint }: { text: string; hint: string }) => [text, hint]),
        [['Be kind', 'also when others are not']],
      )
    })
  })
}
