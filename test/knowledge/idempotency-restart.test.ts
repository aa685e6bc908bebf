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

test('a batch that a crash of the server cut off goes on behind what it had done when it is sent again', async () => {
  await using server = await startServer()
  const { body: project } = await post(server, '/v2/projects/resolve', { identifier: 'main' })
  const path = `/v2/${project.external_id}/knowledge`
  const { body: note } = await post(server, `${path}/entities`, { title: 'Log', content: 'Log:' })
  const append = (content: string) => ({ op: 'patch', entity_id: note.external_id, operation: 'append', content })
  const operations = [append(' one'), { op: 'create', title: 'log' }, append(' two')]
  const send = (at: TestServer) => post(at, `${path}/batch`, { operations }, { 'idempotency-key': 'cut-off' })
  const db = new DatabaseSync(join(server.dataDir, 'commonplace.db'))
  db.exec('pragma busy_timeout = 5000')
  // Keeps the answer from being kept, as if the server had died behind the last operation.
  db.exec(
    `create trigger died before update on idempotency_keys when new.status is not null begin select raise(ignore); end`,
  )
  const { body: answer } = await send(server)
  await server.kill()
  db.exec('drop trigger died')
  db.close()
  await using again = await startServer({ dataDir: server.dataDir })
  const { body } = await send(again)
  assert.deepEqual(body, answer)
  const text = await fetch(`${again.url}/v2/${project.external_id}/resource/${note.external_id}`)
  assert.match(await text.text(), /Log:\n one\n two$/)
})
