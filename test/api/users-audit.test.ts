import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { type AuditEvent, recordAudit, SYSTEM_ACTOR } from '../../src/platform/audit/record.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const PATH = '/api/v2/audit/events'
const MANY = 3_000

let server: TestServer
let admin: TestClient
let callers: Callers
before(async () => {
  server = await startServer({ mode: 'serve', env: { COMMONPLACE_USERS__RATE_LIMITS: '{}' } })
  admin = client(server)
  callers = await openCallers(server)
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

async function record(...events: Partial<AuditEvent>[]): Promise<void> {
  const { organizationId } = callers.operator
  await callers.db.write(
    async (tx) => {
      for (const event of events) {
        await recordAudit(tx, { organizationId, action: 'test.done', actor: SYSTEM_ACTOR, target: null, ...event })
      }
    },
    { alone: true },
  )
}

function query(filters: Record<string, string | number>): string {
  return `${PATH}?${new URLSearchParams(filters as Record<string, string>)}`
}

describe('the audit log', () => {
  test('shows who did what to whom, from where, and what changed', async () => {
    const ada = await callers.make({ roles: ['admin'] })
    const attributes = { email: 'audited@example.org', name: 'Before' }
    const headers = { 'user-agent': 'test/1', 'x-request-id': 'audit-request' }
    const made = await ada.client.post('/api/v2/users', 201, { body: { data: { type: 'users', attributes } }, headers })
    const { id } = made.body.data
    const change = { data: { type: 'users', id, attributes: { name: 'After' } } }
    await ada.client.patch(`/api/v2/users/${id}`, 200, { body: change })
    const { body } = await admin.get(query({ 'filter[target]': id }), 200)
    const [updated, created] = body.data
    assert.equal(body.data.length, 2)
    assert.deepEqual(created, {
      type: 'audit_events',
      id: created.id,
      attributes: {
        timestamp: created.attributes.timestamp,
        action: 'user.created',
        actor: {
          user_id: ada.userId,
          kind: 'user',
          auth_method: 'token',
          credential_id: created.attributes.actor.credential_id,
        },
        target: { type: 'users', id },
        outcome: 'success',
        client_address: '127.0.0.1',
        user_agent: 'test/1',
        request_id: 'audit-request',
        changes: created.attributes.changes,
      },
    })
    assert.match(created.attributes.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(updated.attributes.changes.name, { old: 'Before', new: 'After' })
    assert.deepEqual(body.meta, { page: { after: null } })
    const byAda = await admin.get(
      query({ 'filter[actor]': ada.userId.toUpperCase(), 'filter[action]': 'user.updated' }),
      200,
    )
    assert.deepEqual(byAda.body.data, [updated])
  })

  test('finds a target by its id in any case, and leaves a filter without a value out', async () => {
    const target = { type: 'things', id: newId() }
    await record(
      { action: 'test.sought', target },
      { action: 'test.sought', target: { type: 'operations', id: 'DoIt' } },
    )
    const ids = async (filters: Record<string, string>) =>
      (await admin.get(query({ 'filter[action]': 'test.sought', ...filters }), 200)).body.data.map(
        (one: Event) => one.attributes.target.id,
      )
    assert.deepEqual(await ids({ 'filter[target]': target.id.toUpperCase() }), [target.id])
    assert.deepEqual(await ids({ 'filter[target]': 'DoIt' }), ['DoIt'])
    assert.deepEqual(await ids({ 'filter[target]': 'doit' }), [])
    assert.deepEqual(await ids({ 'filter[target]': '', 'filter[actor]': '' }), ['DoIt', target.id])
    const { body } = await admin.get(query({ 'filter[action]': '', 'filter[target]': target.id }), 200)
    assert.equal(body.data.length, 1)
  })

  test('pages from the newest to the oldest without gaps, up to 1,000 at once', async () => {
    const target = { type: 'things', id: newId() }
    const action = 'test.paged'
    await record(...Array.from({ length: 25 }, (_, n) => ({ action, target, changes: { n: { new: n } } })))
    const pageAfter = async (cursor: string | null): Promise<Page> => {
      const page = { 'filter[action]': action, 'page[limit]': 7 }
      return (await admin.get(query(cursor === null ? page : { ...page, 'page[cursor]': cursor }), 200)).body
    }
    const seen: number[] = []
    let cursor: string | null = null
    do {
      const { data, meta }: Page = await pageAfter(cursor)
      assert.ok(data.length === 7 || meta.page.after === null)
      seen.push(...data.map((one) => one.attributes.changes.n.new))
      cursor = meta.page.after
    } while (cursor !== null)
    assert.deepEqual(
      seen,
      Array.from({ length: 25 }, (_, n) => 24 - n),
    )
    assert.equal((await admin.get(query({ 'filter[action]': action }), 200)).body.data.length, 10)
    assert.equal((await admin.get(query({ 'filter[action]': action, 'page[limit]': 1000 }), 200)).body.data.length, 25)
  })

  test('filters by time, in any offset, both ends included', async () => {
    const at = (text: string) => Date.parse(text) * 1_000
    const action = 'test.timed'
    await record(
      ...['2020-01-01T00:00:00Z', '2020-01-01T12:00:00.500Z', '2020-01-02T00:00:00Z'].map((time) => ({
        action,
        at: at(time) + 7,
      })),
    )
    const times = async (filters: Record<string, string>) =>
      (await admin.get(query({ 'filter[action]': action, ...filters }), 200)).body.data.map(
        (one: { attributes: { timestamp: string } }) => one.attributes.timestamp.slice(8, 13),
      )
    assert.deepEqual(await times({ 'filter[from]': '2020-01-01T12:00:00.5Z' }), ['02T00', '01T12'])
    assert.deepEqual(await times({ 'filter[to]': '2020-01-01T12:00:00.500Z' }), ['01T12', '01T00'])
    assert.deepEqual(
      await times({ 'filter[from]': '2020-01-01T02:00:00+01:00', 'filter[to]': '2020-01-01T23:00:00Z' }),
      ['01T12'],
    )
    // As a client sends it that does not encode the plus sign.
    const raw = `${PATH}?filter[action]=${action}&filter[from]=2020-01-02T01:00:00+01:00`
    assert.equal((await admin.get(raw, 200)).body.data.length, 1)
    assert.deepEqual(await times({ 'filter[target]': 'nothing\u0000 has this id' }), [])
  })

  test('refuses a bad query, with every problem', async () => {
    const { body } = await admin.get(
      query({ 'page[limit]': 1001, 'filter[from]': 'yesterday', 'filter[to]': '2020-13-01T00:00:00Z' }),
      400,
    )
    assert.deepEqual(body.errors.sort(), [
      'filter[from] is not a valid RFC 3339 time',
      'filter[to] is not a valid RFC 3339 time',
      'page[limit] must be an integer from 1 to 1000',
    ])
    for (const cursor of ['x', '', 'MTox']) await admin.get(query({ 'page[cursor]': cursor }), 400)
    for (const day of ['2030-02-29', '2030-04-31']) await admin.get(query({ 'filter[to]': `${day}T00:00:00Z` }), 400)
    await admin.get(query({ 'filter[to]': '2028-02-29T24:00:00Z' }), 200)
    for (const limit of ['0', '-1', '1.5', 'x']) await admin.get(query({ 'page[limit]': limit }), 400)
  })

  test('is closed to whoever lacks the permission, and open to whoever has only that', async () => {
    const [plain, reader] = [
      await callers.make({ roles: ['standard'] }),
      await callers.make({ permissions: ['audit_logs_read'] }),
    ]
    const refused = await plain.client.get(PATH, 403)
    assert.deepEqual(refused.body, { errors: ['Missing permission: audit_logs_read'] })
    await plain.client.get(PATH, 403, { headers: { accept: 'application/x-ndjson' } })
    await reader.client.get(PATH, 200)
    await admin.as('none').get(PATH, 401)
  })

  test('records that somebody was refused, once, however often it is tried', async () => {
    const plain = await callers.make({ roles: ['read_only'] })
    for (let n = 0; n < 30; n++) await plain.client.get('/api/v2/api_keys', 403)
    await plain.client.put('/api/v2/anonymize_users', 403, { body: {} })
    // Nobody waits for the log to say no; what is written after it comes after it.
    await admin.post('/api/v2/roles', 200, { body: { data: { type: 'roles', attributes: { name: 'Later' } } } })
    const denials = query({ 'filter[actor]': plain.userId, 'filter[action]': 'access.denied' })
    const events = (await admin.get(denials, 200)).body.data
    assert.deepEqual(
      events.map((one: Event) => [one.attributes.target.id, one.attributes.outcome, one.attributes.changes.reason.new]),
      [
        ['AnonymizeUsers', 'failure', 'Missing permission: user_access_manage'],
        ['ListAPIKeys', 'failure', 'Missing permission: api_keys_read'],
      ],
    )
    assert.equal(events[0].attributes.client_address, '127.0.0.1')
  })

  test('exports everything that matches as lines, newest first', async () => {
    const action = 'test.exported'
    for (let start = 0; start < MANY; start += 500) {
      await record(...Array.from({ length: 500 }, (_, n) => ({ action, changes: { n: { new: start + n } } })))
    }
    const headers = { accept: 'application/x-ndjson' }
    const answer = await admin.get(query({ 'filter[action]': action, 'page[limit]': 5 }), 200, { headers })
    assert.equal(answer.headers.get('content-type'), 'application/x-ndjson')
    const lines = answer.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      lines.map((one) => one.attributes.changes.n.new),
      Array.from({ length: MANY }, (_, n) => MANY - 1 - n),
    )
    const { body } = await admin.get(query({ 'filter[action]': action, 'page[limit]': 1 }), 200)
    assert.deepEqual(lines[0], body.data[0])
    const nothing = await admin.get(query({ 'filter[action]': 'test.none' }), 200, { headers })
    assert.equal(nothing.text, '')
  })

  test('goes to whoever wants it most, by the weights of Accept', async () => {
    const typeFor = async (accept: string) => {
      const answer = await admin.get(query({ 'filter[action]': 'test.none' }), 200, { headers: { accept } })
      return answer.headers.get('content-type')?.split(';')[0]
    }
    for (const accept of [
      'application/x-ndjson, */*',
      'Application/X-NDJSON',
      'application/json;q=0.5, application/x-ndjson',
    ]) {
      assert.equal(await typeFor(accept), 'application/x-ndjson', accept)
    }
    for (const accept of ['*/*', 'application/json, application/x-ndjson;q=0.1', '*/*, application/x-ndjson;q=0']) {
      assert.equal(await typeFor(accept), 'application/json', accept)
    }
  })

  /** A long answer whose reader stops after the first piece. */
  async function begun(path: string, token = server.adminToken): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const headers = { accept: 'application/x-ndjson', authorization: `Bearer ${token}` }
    get(new URL(path, server.url), { headers }, (response) => {
      response.once('readable', () => resolve(response))
    }).on('error', reject)
    return promise
  }

  test('goes no further than its reader: one who stops reading holds up nobody, one whose right is gone gets no more', async () => {
    const action = 'test.slow'
    const reader = await callers.make({ permissions: ['audit_logs_read'] })
    // Three pages of the log, of which one is more than connections hold; to the reader they are about itself.
    const changes = { note: { new: 'x'.repeat(20_000) } }
    const actor = { kind: 'user' as const, id: reader.userId, method: 'token', credentialId: null }
    const event = { action, changes, actor, target: { type: 'users', id: reader.userId } }
    for (let n = 0; n < 6; n++) await record(...Array.from({ length: 250 }, () => event))
    const log = query({ 'filter[action]': action })
    const response = await begun(log)
    const cut = [await begun(log, reader.token), await begun(`/api/v2/users/${reader.userId}/export`, reader.token)]
    await admin.get(query({ 'page[limit]': 1000 }), 200)
    await admin.get(query({ 'filter[action]': action, 'page[limit]': 1000 }), 200)
    await admin.delete(`/api/v2/users/${reader.userId}`, 204)
    for (const one of cut) await assert.rejects(one.toArray(), { code: 'ECONNRESET' })
    // What the server has read by now it can still send; the rest is gone.
    await callers.db.write((tx) => tx.query.deleteFrom('audit_events').where('action', '=', action).execute())
    let lines = 0
    for await (const piece of response) lines += piece.toString('latin1').split('\n').length - 1
    assert.ok(lines >= 100 && lines <= 1_000, `${lines} lines`)
    await admin.get(PATH, 200)
  })
})

interface Event {
  attributes: {
    target: { id: string }
    outcome: string
    changes: Record<string, { new: number }> & { n: { new: number }; reason: { new: string } }
  }
}

interface Page {
  data: Event[]
  meta: { page: { after: string | null } }
}
