import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { startServer, type TestServer } from '../support/start-server.ts'

async function post(server: TestServer, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as { external_id: string } }
}

test('a key of a request that a crash of the server cut off is free when the server is back', async () => {
  await using server = await startServer()
  const { body: project } = await post(server, '/v2/projects/resolve', { identifier: 'main' })
  const path = `/v2/${project.external_id}/knowledge/entities`
  const create = (at: TestServer) => post(at, path, { title: 'Once' }, { 'idempotency-key': 'cut-off' })
  const { body: note } = await create(server)
  await fetch(`${server.url}${path}/${note.external_id}`, { method: 'DELETE' })
  await server.kill()
  // As it is in the moment before the note is made.
  const db = new DatabaseSync(join(server.dataDir, 'commonplace.db'))
  db.exec('update idempotency_keys set status = null, headers = null, body = null')
  db.close()
  await using again = await startServer({ dataDir: server.dataDir })
  const { status, body } = await create(again)
  assert.equal(status, 201, JSON.stringify(body))
})
