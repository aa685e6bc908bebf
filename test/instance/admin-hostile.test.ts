import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type Callers, openCallers } from '../support/callers.ts'
import { startServer, type TestServer } from '../support/start-server.ts'

const ADMIN = '/api/v1/admin'

/** Operations that take a body, with members that they know. */
const BODIES: readonly [method: string, path: string, members: readonly string[]][] = [
  ['PATCH', '/instance', ['title', 'languages', 'contact', 'limits', 'peers', 'translation', 'rate_limits', 'min_age']],
  ['POST', '/instance/rules', ['text', 'hint', 'priority', 'translations']],
  ['PUT', '/instance/rules/1', ['text', 'hint', 'priority', 'translations']],
  ['POST', '/instance/rules/1/move', ['offset']],
  ['PUT', '/instance/extended_description', ['text']],
  ['PUT', '/instance/privacy_policy', ['text']],
  ['POST', '/instance/terms_of_service', ['text', 'changelog']],
  ['PUT', '/instance/terms_of_service/1', ['text', 'changelog']],
  ['POST', '/instance/terms_of_service/1/publish', ['effective_date', 'changelog']],
  ['POST', '/domain_blocks', ['domain', 'severity', 'reject_media', 'public_comment', 'private_comment', 'obfuscate']],
  ['PUT', '/domain_blocks/1', ['domain', 'severity', 'reject_reports', 'public_comment']],
  ['POST', '/domain_blocks/import', ['csv']],
  ['POST', '/domain_allows', ['domain']],
  ['POST', '/instance/peers', ['domain']],
]

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '', ' ', '\u0000', '\ud800', '../../etc/passwd', "'; drop table users; --", '<script>alert(1)</script>', '%{domain}', '{{x}}', '__proto__', '2030-02-30',
    '9'.repeat(400), '🗒'.repeat(200), 'xn--', 'xn--\u0000', '[::1]', '127.1', 'a'.repeat(70_000), '#domain\n"', '=cmd()', 'suspend', 'example.org',
  ), // biome-ignore format: a list of texts
)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(null, true, false, 0, -1, 1e308, 0.1, Number.MAX_SAFE_INTEGER),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('email', 'fields', 'de', 'text', 'a.b', 'declared')), tie('any'), {
      maxKeys: 3,
    }),
  ),
})).any

let server: TestServer
let callers: Callers
before(async () => {
  server = await startServer()
  callers = await openCallers(server)
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

async function call(
  method: string,
  path: string,
  body: unknown,
  type: string,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.url}${ADMIN}${path}`, {
    method,
    headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': type },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

/** Rows of every table of the part: what a refused request must not change. */
async function contents(): Promise<string> {
  const all: unknown[] = []
  for (const table of [
    'instance_settings',
    'instance_rules',
    'instance_documents',
    'instance_terms',
    'domain_blocks',
    'domain_allows',
    'declared_peers',
  ] as const) {
    // biome-ignore format: a list of tables
    all.push(await callers.db.query.selectFrom(table).selectAll().execute())
  }
  const { events } = await callers.db.query
    .selectFrom('audit_events')
    .select((eb) => eb.fn.countAll<number>().as('events'))
    .where('action', 'not like', 'access.%')
    .executeTakeFirstOrThrow()
  return JSON.stringify([all, events])
}

test('an address with a password in it is refused, and the password is neither answered nor kept', async () => {
  const address = 'https://ada:open-sesame@services.example.org/v1'
  const patches = [
    { translation: { provider: 'libretranslate', endpoint: address } },
    { status_page_url: address },
    { source_url: address },
    { registrations: { url: address } },
  ]
  for (const patch of patches) {
    const before = await contents()
    const { status, text: answer } = await call('PATCH', '/instance', patch, 'application/json')
    assert.equal(status, 422, JSON.stringify(patch))
    assert.match(answer, /without user or password/)
    assert.ok(!answer.includes('open-sesame'), answer)
    assert.equal(await contents(), before)
  }
})

test('no body brings the server down, and one that is refused changes nothing', async () => {
  const request = fc.constantFrom(...BODIES).chain(([method, path, members]) => {
    const body = fc.oneof(
      { weight: 4, arbitrary: fc.dictionary(fc.constantFrom(...members), value, { maxKeys: 4 }) },
      { weight: 1, arbitrary: value },
    )
    return fc.record({ method: fc.constant(method), path: fc.constant(path), body })
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, body }) => {
      const before = await contents()
      const answer = await call(method, path, JSON.stringify(body), 'application/json')
      assert.ok(answer.status < 500, `${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`)
      assert.doesNotThrow(() => JSON.parse(answer.text))
      if (answer.status === 200) return
      assert.ok([400, 404, 413, 422].includes(answer.status), `${answer.status} ${answer.text}`)
      assert.equal(typeof JSON.parse(answer.text).error, 'string')
      assert.equal(await contents(), before, `${method} ${path} ${JSON.stringify(body)}`)
    }),
    { numRuns: 300 },
  )
})

test('no path, query or media type brings the server down', async () => {
  const id = text.map((one) => encodeURIComponent(one.toWellFormed()).slice(0, 2_000))
  const path = fc.oneof(
    id.map((one) => `/instance/rules/${one}`),
    id.map((one) => `/domain_blocks/${one}`),
    id.map((one) => `/domain_allows/${one}`),
    id.map((one) => `/instance/peers/${one}`),
    id.map((one) => `/domain_blocks?limit=${one}`),
    id.map((one) => `/domain_blocks?max_id=${one}&min_id=1`),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('GET', 'PUT', 'DELETE'), path, async (method, one) => {
      const response = await fetch(`${server.url}${ADMIN}${one}`, {
        method,
        headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
        body: method === 'PUT' ? '{}' : undefined,
      })
      const answer = await response.text()
      assert.ok(response.status < 500, `${method} ${one}: ${response.status} ${answer}`)
    }),
    { numRuns: 200 },
  )
  for (const type of ['text/html', 'application/json; charset=utf-16', 'multipart/form-data; boundary=x', '', 'x']) {
    for (const [method, path] of BODIES) {
      const { status } = await call(method, path, '\u0000', type)
      assert.ok(status >= 400 && status < 500, `${method} ${path} ${type}: ${status}`)
    }
  }
})

test('no file brings the server down', async () => {
  const line = fc.array(text, { maxLength: 7 }).map((fields) => fields.join(','))
  const file = fc.oneof(
    fc.array(line, { maxLength: 6 }).map((lines) => `#domain,#severity\n${lines.join('\n')}`),
    fc.uint8Array({ maxLength: 200 }),
  )
  await fc.assert(
    fc.asyncProperty(file, fc.boolean(), async (body, dryRun) => {
      const before = await contents()
      const { status, text: answer } = await call('POST', `/domain_blocks/import?dry_run=${dryRun}`, body, 'text/csv')
      assert.ok([200, 422].includes(status), `${status} ${answer}`)
      if (status === 422 || dryRun) assert.equal(await contents(), before)
    }),
    { numRuns: 100 },
  )
})

test('what was stored meanwhile can still be read', async () => {
  for (const path of [
    '/instance',
    '/instance/rules',
    '/instance/terms_of_service',
    '/instance/privacy_policy',
    '/domain_blocks',
    '/domain_blocks/export',
  ]) {
    const response = await fetch(`${server.url}${ADMIN}${path}`, {
      headers: { authorization: `Bearer ${server.adminToken}` },
    })
    assert.equal(response.status, 200, path)
    await response.text()
  }
  assert.doesNotMatch(server.output(), /^\S+ error /m)
})
