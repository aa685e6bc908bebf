import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { announceBody } from '../support/announce-body.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { type Answer, client, type TestClient } from '../support/test-client.ts'

const SETTINGS = '/api/v1/admin/instance'
const RULES = `${SETTINGS}/rules`
const TERMS = `${SETTINGS}/terms_of_service`
const BLOCKS = '/api/v1/admin/domain_blocks'
const ALLOWS = '/api/v1/admin/domain_allows'
const PEERS = `${SETTINGS}/peers`

let server: TestServer
let callers: Callers
let admin: TestClient
before(async () => {
  server = await startServer({ env: { COMMONPLACE_INSTANCE__DESCRIPTION: 'From the environment' } })
  callers = await openCallers(server)
  admin = client(server)
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

function assertRefused({ body, headers }: Answer<Record<string, unknown>>, ...fields: string[]): void {
  assert.match(String(body.error), /^Validation failed: /)
  assert.deepEqual(Object.keys(body.details as object), fields)
  assert.equal(headers.get('cache-control'), 'private, no-store')
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
}

async function auditActions(): Promise<string[]> {
  const rows = await callers.db.query.selectFrom('audit_events').select('action').orderBy('position').execute()
  return rows.map(({ action }) => action)
}

test('settings: read, changed by a merge patch of either media type, and dropped', async () => {
  const { body, headers } = await admin.get(SETTINGS, 200)
  assert.equal(headers.get('cache-control'), 'private, no-store')
  assert.deepEqual(
    [body.title, body.contact, body.languages],
    ['Commonplace', { email: '', user: null, fields: [] }, ['en']],
  )
  const patched = await admin.patch(SETTINGS, 200, { body: { title: 'Ours', contact: { email: 'ops@example.org' } } })
  assert.deepEqual(patched.body, { ...body, title: 'Ours', contact: { ...body.contact, email: 'ops@example.org' } })
  const asPatch = { 'content-type': 'application/merge-patch+json' }
  const dropped = await admin.patch(SETTINGS, 200, { body: '{"title":null}', headers: asPatch })
  assert.deepEqual([dropped.body.title, dropped.body.contact.email], ['Commonplace', 'ops@example.org'])
  await admin.patch(SETTINGS, 200, { body: { contact: null } })
  assert.deepEqual((await admin.get(`${SETTINGS}.json`, 200)).body, body)
  const sources = await admin.get(`${SETTINGS}/sources`, 200)
  assert.deepEqual([sources.body.description, sources.body.title], ['environment', 'default'])
})

test('settings: unknown, wrong and fixed keys are refused together, and nothing is applied', async () => {
  const body = { title: 'Half', nonsense: 1, description: 'x', activity_round_to: 0, contact: { email: 'no address' } }
  const answer = await admin.patch(SETTINGS, 422, { body })
  assertRefused(answer, 'nonsense', 'description', 'contact.email', 'activity_round_to')
  assert.equal((await admin.get(SETTINGS, 200)).body.title, 'Commonplace')
  for (const wrong of ['[]', '5', '"x"', 'null']) {
    await admin.patch(SETTINGS, 422, { body: wrong, headers: { 'content-type': 'application/json' } })
  }
  await admin.patch(SETTINGS, 400, { body: '{', headers: { 'content-type': 'application/json' } })
  await admin.patch(SETTINGS, 415, { body: 'title=x', headers: { 'content-type': 'text/plain' } })
  for (const [coding, status] of [
    ['gzip', 415],
    ['Identity', 200],
  ] as const) {
    await admin.patch(SETTINGS, status, {
      body: '{}',
      headers: { 'content-type': 'application/merge-patch+json', 'content-encoding': coding },
    })
  }
})

test('settings: rate limits hold from the next request on', async () => {
  const { client: other } = await callers.make({ roles: ['admin'] })
  assert.equal((await other.get(SETTINGS, 200)).headers.get('x-ratelimit-limit'), null)
  await admin.patch(SETTINGS, 200, { body: { rate_limits: { per_token: 3, window_seconds: 86_400 } } })
  try {
    const first = await other.get(RULES, 200)
    assert.deepEqual(
      ['limit', 'remaining'].map((name) => first.headers.get(`x-ratelimit-${name}`)),
      ['3', '2'],
    )
    assert.match(first.headers.get('x-ratelimit-reset') ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    for (const path of [RULES, RULES]) await other.get(path, 200)
    const refused = await other.get(RULES, 429)
    assert.deepEqual(refused.body, { error: 'Too many requests' })
  } finally {
    await admin.patch(SETTINGS, 200, { body: { rate_limits: null } })
  }
  await other.get(RULES, 200)
})

test('rules: made, listed, changed, moved and deleted', async () => {
  const wish = { text: 'Be kind', hint: 'Always', translations: { de: { text: 'Sei nett' } } }
  const { body: first } = await admin.post(RULES, 200, { body: wish })
  assert.deepEqual(first, { ...wish, id: first.id, priority: 0, translations: { de: { text: 'Sei nett', hint: '' } } })
  const { body: second } = await admin.post(RULES, 200, { body: { text: 'No spam' } })
  assert.deepEqual((await admin.get(RULES, 200)).body, [first, second])
  const changed = await admin.put(`${RULES}/${second.id}`, 200, { body: { ...second, hint: 'None' } })
  assert.deepEqual(changed.body, { ...second, hint: 'None' })
  const moved = await admin.post(`${RULES}/${second.id}/move`, 200, { body: { offset: -1 } })
  assert.equal(moved.body.priority, 0)
  assert.deepEqual(
    (await admin.get(RULES, 200)).body.map(({ id, priority }: { id: string; priority: number }) => [id, priority]),
    [
      [second.id, 0],
      [first.id, 1],
    ],
  )
  assert.deepEqual((await admin.delete(`${RULES}/${second.id}`, 200)).body, {})
  assert.deepEqual((await admin.get(RULES, 200)).body, [{ ...first, priority: 1 }])
})

test('rules: what is wrong is named, and an id that is none is not found', async () => {
  assertRefused(await admin.post(RULES, 422, { body: {} }), 'text')
  assertRefused(await admin.post(RULES, 422, { body: { text: '' } }), 'text')
  assertRefused(
    await admin.post(RULES, 422, { body: { text: 'x'.repeat(301), hint: 5, priority: -1 } }),
    'hint',
    'priority',
  )
  assertRefused(
    await admin.post(RULES, 422, { body: { text: 'x', translations: { '?': { text: 'y' } } } }),
    'translations',
  )
  await admin.post(RULES, 422, { body: { text: 'x', translations: { '\n': 5 } } })
  const { id } = (await admin.post(RULES, 200, { body: { text: 'x' } })).body
  assertRefused(await admin.post(`${RULES}/${id}/move`, 422, { body: { offset: 1.5 } }), 'offset')
  assertRefused(await admin.post(`${RULES}/${id}/move`, 422, { body: {} }), 'offset')
  for (const wrong of ['0', '999999', '-1', '1e3', 'abc', `${'9'.repeat(400)}`, '%00', 'á']) {
    for (const [method, path, body] of [
      ['PUT', `${RULES}/${wrong}`, { text: 'x' }],
      ['DELETE', `${RULES}/${wrong}`, undefined],
      ['POST', `${RULES}/${wrong}/move`, { offset: 1 }],
    ] as const) {
      const answer = await admin.call(method, path, 404, { body })
      assert.deepEqual(answer.body, { error: 'Record not found' }, `${method} ${path}`)
    }
  }
  await admin.delete(`${RULES}/${id}`, 200)
})

test('documents: written as markdown, shown as HTML, and returned to the default', async () => {
  for (const kind of ['extended_description', 'privacy_policy']) {
    const path = `${SETTINGS}/${kind}`
    const { body: shipped } = await admin.get(path, 200)
    assert.deepEqual(Object.keys(shipped), ['text', 'content', 'updated_at'])
    assert.match(shipped.updated_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const { body } = await admin.put(path, 200, { body: { text: '**%{domain}** <i>' } })
    const { host } = new URL(server.url.replace('127.0.0.1', 'localhost'))
    assert.deepEqual([body.text, body.content], ['**%{domain}** <i>', `<p><strong>${host}</strong> &lt;i&gt;</p>`])
    assert.deepEqual((await admin.get(`${path}/`, 200)).body, body)
    assert.deepEqual((await admin.put(path, 200, { body: { text: '' } })).body, shipped)
    assertRefused(await admin.put(path, 422, { body: { text: 'x'.repeat(100_001) } }), 'text')
    assertRefused(await admin.put(path, 422, { body: {} }), 'text')
    assertRefused(await admin.put(path, 422, { body: { text: null } }), 'text')
  }
})

test('terms: a draft is changed, published and then fixed', async () => {
  const { body: draft } = await admin.post(TERMS, 200, { body: { text: 'A' } })
  const keys = ['id', 'text', 'content', 'updated_at', 'effective_date', 'published_at', 'changelog']
  assert.deepEqual(Object.keys(draft), keys)
  assert.deepEqual([draft.effective_date, draft.published_at, draft.changelog], [null, null, ''])
  assert.equal((await admin.put(`${TERMS}/${draft.id}`, 200, { body: { text: 'B' } })).body.content, '<p>B</p>')
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  const publish = `${TERMS}/${draft.id}/publish`
  assertRefused(await admin.post(publish, 422, { body: { effective_date: '2030-02-30' } }), 'effective_date')
  assertRefused(await admin.post(publish, 422, { body: { effective_date: '2001-01-01' } }), 'effective_date')
  const published = await admin.post(publish, 200, { body: { effective_date: tomorrow, changelog: 'New' } })
  assert.deepEqual([published.body.effective_date, published.body.changelog], [tomorrow, 'New'])
  assertRefused(await admin.put(`${TERMS}/${draft.id}`, 422, { body: { text: 'C' } }), 'base')
  assertRefused(await admin.delete(`${TERMS}/${draft.id}`, 422), 'base')
  assertRefused(await admin.post(publish, 422, { body: {} }), 'base')
  const { body: other } = await admin.post(TERMS, 200, { body: { text: 'C' } })
  const taken = { body: { effective_date: tomorrow } }
  assertRefused(await admin.post(`${TERMS}/${other.id}/publish`, 422, taken), 'effective_date')
  assert.deepEqual((await admin.get(TERMS, 200)).body, [other, published.body])
  assert.deepEqual((await admin.delete(`${TERMS}/${other.id}`, 200)).body, {})
  for (const path of [`${TERMS}/${other.id}`, `${TERMS}/x`]) await admin.delete(path, 404)
  assertRefused(await admin.post(TERMS, 422, { body: { text: '\n' } }), 'text')
})

test('domain blocks: made, found, changed and lifted', async () => {
  const wish = { domain: ' にゃん/', severity: 'suspend', public_comment: 'c', private_comment: null, obfuscate: true }
  const { body: made } = await admin.post(BLOCKS, 200, { body: wish })
  assert.deepEqual(made, {
    id: made.id,
    domain: 'xn--r9j5b5b',
    digest: '669dd34026c6425bd8803c77134461e3abe503b76dbfbbf2f89a7796d9e65da7',
    created_at: made.created_at,
    severity: 'suspend',
    reject_media: false,
    reject_reports: false,
    private_comment: '',
    public_comment: 'c',
    obfuscate: true,
  })
  const covered = await admin.post(BLOCKS, 422, { body: { domain: 'a.XN--r9j5b5b' } })
  assertRefused(covered, 'domain')
  assert.deepEqual(covered.body.existing_domain_block, made)
  assert.deepEqual((await admin.get(`${BLOCKS}/${made.id}`, 200)).body, made)
  const changed = await admin.put(`${BLOCKS}/${made.id}`, 200, { body: { ...made, severity: 'noop' } })
  assert.deepEqual(changed.body, { ...made, severity: 'noop' })
  assertRefused(await admin.put(`${BLOCKS}/${made.id}`, 422, { body: { severity: 'hard' } }), 'severity')
  assertRefused(await admin.put(`${BLOCKS}/${made.id}`, 422, { body: { domain: 'example.org' } }), 'domain')
  for (const body of [{ domain: '' }, { domain: 'a b' }, { domain: 'x'.repeat(300) }, { domain: 5 }, {}]) {
    assertRefused(await admin.post(BLOCKS, 422, { body }), 'domain')
  }
  assert.deepEqual((await admin.delete(`${BLOCKS}/${made.id}`, 200)).body, {})
  await admin.get(`${BLOCKS}/${made.id}`, 404)
  await admin.put(`${BLOCKS}/${made.id}`, 404, { body: {} })
  await admin.delete(`${BLOCKS}/nonsense`, 404)
})

test('domain blocks: pages are linked to each other', async () => {
  const made: string[] = []
  for (const letter of 'abcde') {
    made.unshift((await admin.post(BLOCKS, 200, { body: { domain: `${letter}.page.example` } })).body.id)
  }
  const seen: string[] = []
  let path: string | undefined = `${BLOCKS}?limit=2`
  while (path !== undefined) {
    const { body, headers }: Answer<{ id: string }[]> = await admin.get(path, 200)
    seen.push(...body.map(({ id }) => id))
    path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]?.replace(/^http:\/\/localhost:\d+/, '')
  }
  assert.deepEqual(seen, made)
  const { body, headers } = await admin.get(`${BLOCKS}?min_id=${made[4]}&limit=2`, 200)
  assert.deepEqual(
    body.map(({ id }: { id: string }) => id),
    made.slice(2, 4),
  )
  assert.match(headers.get('link') ?? '', new RegExp(`min_id=${made[2]}>; rel="prev"`))
  assert.equal((await admin.get(`${BLOCKS}?max_id=1`, 200)).headers.get('link'), null)
  for (const query of ['limit=0', 'limit=x', 'limit=-1', 'max_id=a', 'min_id=1.5', 'since_id=%00', 'limit=1&limit=2']) {
    assertRefused(await admin.get(`${BLOCKS}?${query}`, 422), query.split('=')[0] as string)
  }
  assert.equal((await admin.get(`${BLOCKS}?limit=100000&other=x`, 200)).body.length, 5)
  for (const id of made) await admin.delete(`${BLOCKS}/${id}`, 200)
})

test('domain blocks: exported and imported as CSV', async () => {
  const csv = { 'content-type': 'text/csv' }
  const file =
    '#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate\na.example,suspend,true,false,"x, ""y""",true\n'
  const { body } = await admin.post(`${BLOCKS}/import`, 200, { body: file, headers: csv })
  assert.deepEqual(body, { dry_run: false, imported: 1, skipped: 0, failed: 0, errors: [] })
  const exported = await admin.get(`${BLOCKS}/export`, 200)
  assert.equal(exported.text, file)
  assert.equal(exported.headers.get('content-type'), 'text/csv; charset=utf-8')
  const again = await admin.post(`${BLOCKS}/import?dry_run=true`, 200, { body: { csv: file } })
  assert.deepEqual([again.body.dry_run, again.body.imported, again.body.skipped], [true, 0, 1])
  const bad = `${file}b.example,hard,,,,\nc.example,,,,,\n`
  const refused = await admin.post(`${BLOCKS}/import?skip_bad_lines=false`, 422, { body: bad, headers: csv })
  assertRefused(refused, 'line 3')
  const errors = [{ line: 3, domain: 'b.example', error: 'severity must be one of noop, silence, suspend' }]
  assert.deepEqual(refused.body.errors, errors)
  assert.equal((await admin.get(`${BLOCKS}/export`, 200)).text, file, 'nothing was imported')
  const partly = await admin.post(`${BLOCKS}/import`, 200, { body: bad, headers: csv })
  assert.deepEqual(partly.body, { dry_run: false, imported: 1, skipped: 1, failed: 1, errors })
  assert.match((await admin.get(`${BLOCKS}/export`, 200)).text, /^c\.example,/m, 'the good line was imported')
  for (const body of [Buffer.from([0xff, 0xfe, 0x00]), 'a\n'.repeat(100_001)]) {
    assertRefused(await admin.post(`${BLOCKS}/import`, 422, { body, headers: csv }), 'base')
  }
  const large = await announceBody(server, `${BLOCKS}/import`, { bytes: 11 * 1024 * 1024, type: 'text/csv' })
  assert.equal(large.status, 413)
  await admin.post(`${BLOCKS}/import`, 415, { body: '<a/>', headers: { 'content-type': 'text/xml' } })
  await admin.post(`${BLOCKS}/import`, 415, { body: 'x', headers: { ...csv, 'content-encoding': 'gzip' } })
  assertRefused(await admin.post(`${BLOCKS}/import?dry_run=maybe`, 422, { body: file, headers: csv }), 'dry_run')
})

test('allowed domains and declared peers: added, listed and removed by name', async () => {
  for (const path of [ALLOWS, PEERS]) {
    const { body } = await admin.post(path, 200, { body: { domain: 'Example.NET' } })
    assert.deepEqual(Object.keys(body), ['id', 'domain', 'created_at'])
    assert.equal(body.domain, 'example.net')
    assert.deepEqual((await admin.post(path, 200, { body: { domain: 'example.net.' } })).body, body)
    assert.deepEqual((await admin.get(path, 200)).body, [body])
    assertRefused(await admin.post(path, 422, { body: { domain: 'no domain' } }), 'domain')
    assertRefused(await admin.post(path, 422, { body: {} }), 'domain')
    assert.deepEqual((await admin.delete(`${path}/EXAMPLE.net`, 200)).body, {})
    assert.deepEqual((await admin.delete(`${path}/example.net`, 404)).body, { error: 'Record not found' })
    assert.deepEqual((await admin.get(path, 200)).body, [])
  }
})

test('a wrong method is refused with the right ones, in the shape of the surface', async () => {
  const { body, headers } = await admin.put(RULES, 405)
  assert.deepEqual(body, { error: 'Method Not Allowed' })
  assert.equal(headers.get('allow'), 'GET, HEAD, POST, OPTIONS')
  assert.deepEqual((await admin.get('/api/v1/admin/nothing', 404)).body, { error: 'Not Found' })
})

test('every change was written down, with the caller and the request', async () => {
  const nouns = new Set((await auditActions()).map((action) => action.split('.')[0]))
  for (const noun of [
    'settings',
    'instance_rule',
    'instance_document',
    'instance_terms',
    'domain_block',
    'domain_allow',
    'declared_peer',
  ]) {
    assert.ok(nouns.has(noun), noun)
  }
  const [event] = await callers.db.query
    .selectFrom('audit_events')
    .select(['actor_id', 'request_id', 'client_address'])
    .where('action', '=', 'settings.changed')
    .limit(1)
    .execute()
  assert.ok(event?.actor_id && event.request_id && event.client_address)
})

test('who signs in is written down for the day', async () => {
  const email = 'signs-in@example.org'
  const { userId } = await callers.make({ email })
  const password = 'correct horse battery staple 1'
  await callers.users.setPassword(callers.operator, { userId, password })
  const body = { data: { type: 'sign_ins', attributes: { email, password } } }
  await admin.as('none').post('/api/v2/auth/sign_in', 200, { body })
  await admin.post(RULES, 200, { body: { text: 'x' } })
  const rows = await callers.db.query.selectFrom('log_in_days').select('day').where('user_id', '=', userId).execute()
  assert.equal(rows.length, 1)
})

test('who uses a token is written down for the day, once, and who has none is not', async () => {
  const { userId, client: caller } = await callers.make({ roles: ['read_only'] })
  const days = () => callers.db.query.selectFrom('log_in_days').select('day').where('user_id', '=', userId).execute()
  assert.deepEqual(await days(), [])
  await caller.get('/api/v2/current_user', 200)
  await caller.get('/api/v2/current_user', 200)
  // An administrator's change comes after it in the queue of the one writer.
  await admin.post(RULES, 200, { body: { text: 'x' } })
  assert.equal((await days()).length, 1)
})
