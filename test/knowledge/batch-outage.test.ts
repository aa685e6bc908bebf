import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { postgresUnavailable } from '../support/postgres.ts'
import { startServer } from '../support/start-server.ts'

const unavailable = postgresUnavailable()

test('a batch with a key that loses its database in the middle is 503, and a repeat does the rest once', {
  skip: unavailable !== null && `PostgreSQL: ${unavailable}`,
}, async () => {
  await using server = await startServer({ engine: 'postgres' })
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
    const response = await fetch(server.url + path, init)
    const answer = (await response.json()) as { external_id: string; results: { status: number }[] }
    return { status: response.status, retryAfter: response.headers.get('retry-after'), ...answer }
  }
  const { external_id: projectId } = await post('/v2/projects/resolve', { identifier: 'main' })
  const knowledge = `/v2/${projectId}/knowledge`
  const { external_id: id } = await post(`${knowledge}/entities`, { title: 'Log', content: 'Log:' })
  const append = (content: string) => ({ op: 'patch', entity_id: id, operation: 'append', content })
  const operations = [append('one'), { op: 'create', title: 'Unlucky' }, append('two')]
  const send = () => post(`${knowledge}/batch`, { operations }, { 'idempotency-key': 'outage' })
  const client = new pg.Client({ connectionString: server.databaseUrl as string })
  await client.connect()
  // As the server words it that is shut down.
  await client.query(`
    create function shut_down() returns trigger language plpgsql as
      $$ begin raise exception 'terminating connection' using errcode = '57P01'; end $$;
    create trigger shut_down before insert on notes for each row when (new.title = 'Unlucky') execute function shut_down()`)
  const first = await send()
  assert.equal(first.status, 503, JSON.stringify(first))
  assert.ok(first.retryAfter)
  await client.query('drop trigger shut_down on notes')
  await client.end()
  const { status, results } = await send()
  assert.equal(status, 200)
  assert.deepEqual(
    results.map((result) => result.status),
    [200, 201, 200],
  )
  assert.deepEqual((await send()).results, results)
  const text = await fetch(`${server.url}/v2/${projectId}/resource/${id}`)
  assert.match(await text.text(), /Log:\none\ntwo$/)
})
