import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { dayFromNow, ENDPOINTS, PublicWorld } from './public-world.ts'

/** With headers that fetch would not send. */
function bodyOf(url: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      response.once('end', () => resolve(text))
    })
      .once('error', reject)
      .end()
  })
}

describe('requests to the public face', () => {
  let world: PublicWorld
  before(async () => {
    world = await PublicWorld.start()
    await world.publishTerms('Terms', dayFromNow(0))
  })
  after(() => world[Symbol.asyncDispose]())

  test('a slash or .json at the end, and parameters that nobody knows, change nothing', async () => {
    const others = ['/api/v1/instance/languages', '/api/v1/peers/search']
    for (const path of [...Object.values(ENDPOINTS), ...others]) {
      const { text } = await world.get(path)
      for (const same of [`${path}/`, `${path}.json`, `${path}?limit=1&nonsense=%00`, `${path}?limit=x&limit=y`]) {
        assert.equal((await world.get(same)).text, text, same)
      }
    }
  })

  test('the short way says exactly what the operation says', async () => {
    const visible = ({ headers, text }: Awaited<ReturnType<typeof world.get>>) => {
      const named = Object.fromEntries([...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date'))
      return { named, text }
    }
    const { headers } = await world.get(ENDPOINTS.v2)
    for (const path of [ENDPOINTS.v2, ENDPOINTS.rules, ENDPOINTS.peers]) {
      for (const sent of [
        {},
        { 'accept-encoding': 'identity' },
        { 'accept-encoding': 'gzip' },
        { 'if-none-match': '*' },
      ]) {
        const options = { headers: sent as Record<string, string> }
        const status = 'if-none-match' in sent ? 304 : 200
        const short = await world.get(path, status, options)
        const usual = await world.get(`${path}/`, status, options)
        assert.deepEqual(visible(short), visible(usual), `${path} ${JSON.stringify(sent)}`)
      }
    }
    assert.ok(headers.get('x-request-id'))
  })

  test('another method is refused by name, as JSON', async () => {
    for (const path of Object.values(ENDPOINTS)) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await world.stranger.call(method, path, 405, { body: method === 'POST' ? {} : undefined })
        assert.deepEqual(answer.body, { error: 'Method Not Allowed' })
        assert.equal(answer.headers.get('allow'), 'GET, HEAD, OPTIONS')
        assert.equal(answer.headers.get('cache-control'), 'private, no-store')
        assert.equal(answer.headers.get('access-control-allow-origin'), '*')
      }
    }
  })

  test('an unknown path is refused as JSON, whatever the caller would like to read', async () => {
    for (const path of [
      '/api/v1/instance/nothing',
      '/api/v1/nothing',
      '/api/v1/instance/rules/1',
      '/api/v1/instances',
    ]) {
      const answer = await world.get(path, 404, { headers: { accept: 'text/html' } })
      assert.deepEqual(answer.body, { error: 'Not Found' })
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    }
  })

  test('a browser may ask from anywhere, before and with the question', async () => {
    const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization, x-own' }
    for (const path of Object.values(ENDPOINTS)) {
      const answer = await world.stranger.call('OPTIONS', path, 204, {
        headers: { origin: 'https://a.example', ...asked },
      })
      assert.equal(answer.text, '')
      assert.equal(answer.headers.get('access-control-allow-origin'), '*')
      assert.equal(answer.headers.get('access-control-allow-methods'), 'GET, POST, PUT, PATCH, DELETE, OPTIONS')
      assert.equal(answer.headers.get('access-control-allow-headers'), 'authorization, x-own')
      assert.equal(answer.headers.get('access-control-max-age'), '7200')
      assert.equal(answer.headers.get('access-control-allow-credentials'), null)
      const { headers } = await world.get(path)
      assert.equal(headers.get('access-control-allow-origin'), '*')
      const exposed = (headers.get('access-control-expose-headers') ?? '').split(', ')
      const wanted = ['Link', 'X-RateLimit-Reset', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-Request-Id']
      for (const name of [...wanted, 'ETag', 'Retry-After', 'Deprecation']) assert.ok(exposed.includes(name), name)
    }
  })

  test('answers say what they are, and the old writing says what takes its place', async () => {
    const { headers } = await world.get(ENDPOINTS.v1)
    assert.equal(headers.get('deprecation'), '@1668384000')
    const { domain } = (await world.get(ENDPOINTS.v2)).body
    assert.equal(headers.get('link'), `<http://${domain}/api/v2/instance>; rel="successor-version"`)
    assert.equal(headers.get('sunset'), null)
    assert.equal((await world.get(ENDPOINTS.v2)).headers.get('deprecation'), null)
    assert.equal((await world.get(ENDPOINTS.peers)).headers.get('link'), null)
    const known = { 'if-none-match': headers.get('etag') as string }
    assert.equal((await world.get(ENDPOINTS.v1, 304, { headers: known })).headers.get('deprecation'), '@1668384000')
    for (const [name, value] of Object.entries({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; form-action 'none'",
    })) {
      assert.equal(headers.get(name), value)
    }
    assert.match(headers.get('x-request-id') ?? '', /^[\w-]{8,}$/)
  })

  test('addresses in answers never come from the Host header', async () => {
    const { text } = await world.get(ENDPOINTS.v2)
    for (const [name, value] of [
      ['x-forwarded-host', 'evil.example'],
      ['forwarded', 'host=evil.example'],
      ['host', 'evil.example'],
    ] as const) {
      assert.equal(await bodyOf(world.server.url + ENDPOINTS.v2, { [name]: value }), text, name)
    }
  })

  test('the description of the interface lists every operation with its shape', async () => {
    const { body } = await world.get('/openapi.json')
    for (const path of Object.values(ENDPOINTS)) {
      const { get } = body.paths[path]
      assert.ok(get.responses['200'].content['application/json'].schema, path)
      assert.ok(get.responses['429'], path)
      assert.deepEqual(get.security, [{}, { bearer: [] }], path)
    }
    assert.equal(body.paths[ENDPOINTS.v1].get.deprecated, true)
  })
})

describe('limits of the public face', () => {
  let world: PublicWorld
  before(async () => {
    const limits = { PER_IP: '8', PER_TOKEN: '5', PER_USER: '7', WINDOW_SECONDS: '86400' }
    const env = Object.entries(limits).map(([name, value]) => [`COMMONPLACE_INSTANCE__RATE_LIMITS__${name}`, value])
    world = await PublicWorld.start({ env: Object.fromEntries(env) })
  })
  after(() => world[Symbol.asyncDispose]())

  function left(headers: Headers): [limit: string | null, remaining: string | null] {
    return [headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]
  }

  test('every answer to a stranger counts and says what is left, until there is nothing', async () => {
    const known = { 'if-none-match': '*' }
    const wrong = { authorization: 'Bearer nonsense' }
    assert.deepEqual(left((await world.get(ENDPOINTS.v2)).headers), ['8', '7'])
    assert.deepEqual(left((await world.get(ENDPOINTS.v2, 304, { headers: known })).headers), ['8', '6'])
    assert.deepEqual(left((await world.get(ENDPOINTS.terms, 404)).headers), ['8', '5'])
    assert.deepEqual(left((await world.stranger.post(ENDPOINTS.v2, 405)).headers), ['8', '4'])
    assert.deepEqual(left((await world.get('/api/v1/instance/nothing', 404)).headers), ['8', '3'])
    assert.deepEqual(left((await world.get('/api/v1/admin/instance', 401)).headers), ['8', '2'])
    assert.deepEqual(left((await world.get(ENDPOINTS.rules, 200, { headers: wrong })).headers), ['8', '1'])
    const preflight = { 'access-control-request-method': 'GET' }
    await world.stranger.call('OPTIONS', ENDPOINTS.v2, 204, { headers: preflight })
    await world.get('/api/v1/nothing', 404)
    await world.get('/about')
    const last = await world.get(ENDPOINTS.peers)
    assert.deepEqual(left(last.headers), ['8', '0'])
    assert.match(last.headers.get('x-ratelimit-reset') ?? '', /^\d{4}-\d\d-\d\dT00:00:00\.000000Z$/)
    const refused = await world.get(ENDPOINTS.v2, 429)
    assert.deepEqual(refused.body, { error: 'Too many requests' })
    assert.deepEqual(left(refused.headers), ['8', '0'])
    assert.equal(refused.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(refused.headers.get('cache-control'), 'private, no-store')
    assert.equal(refused.headers.get('access-control-allow-origin'), '*')
    assert.ok(Number(refused.headers.get('retry-after')) >= 1)
    await world.get('/api/v1/instance/nothing', 429)
  })

  test('behind a proxy that is trusted every client has its own, and without trust nobody has', async () => {
    const env = {
      COMMONPLACE_SERVER__TRUSTED_PROXIES: '["127.0.0.1"]',
      COMMONPLACE_INSTANCE__RATE_LIMITS__PER_IP: '2',
      COMMONPLACE_INSTANCE__RATE_LIMITS__WINDOW_SECONDS: '86400',
    }
    await using trusting = await PublicWorld.start({ env })
    for (const path of [ENDPOINTS.v2, ENDPOINTS.v1]) {
      const from = (address: string, status: number) =>
        trusting.get(path, status, { headers: { 'x-forwarded-for': address } })
      const [one, other] = path === ENDPOINTS.v2 ? ['192.0.2.1', '192.0.2.2'] : ['2001:db8::1', '2001:db8:1::1']
      await from(one as string, 200)
      await from(one as string, 200)
      await from(one as string, 429)
      await from(other as string, 200)
    }
    // Two addresses of one network are one client.
    await trusting.get(ENDPOINTS.v2, 429, { headers: { 'x-forwarded-for': '2001:db8::2' } })
    // The other server trusts nobody: all of these are the one that has nothing left.
    await world.get(ENDPOINTS.v2, 429, { headers: { 'x-forwarded-for': '192.0.2.9' } })
  })

  test('a token has its own, and all tokens of a user have one together', async () => {
    const ada = await world.callers.make({ roles: [] })
    for (const remaining of ['4', '3', '2', '1']) {
      assert.deepEqual(left((await ada.client.get(ENDPOINTS.rules, 200)).headers), ['5', remaining])
    }
    const { body } = await world.admin.post('/api/v2/personal_access_tokens', 201, {
      body: {
        data: {
          type: 'personal_access_tokens',
          attributes: {
            name: 'second',
            scopes: ['notes_read'],
            expires_at: new Date(Date.now() + 86_400_000 * 2).toISOString(),
          },
        },
      },
    })
    const second = world.stranger.as({ token: body.data.attributes.key })
    // The administrator's own token counts with it: five of the one, then two of the seven are left to the other.
    for (let i = 0; i < 5; i++) await world.admin.get(ENDPOINTS.rules, 200)
    await world.admin.get(ENDPOINTS.rules, 429)
    assert.deepEqual(left((await second.get(ENDPOINTS.rules, 200)).headers), ['7', '1'])
    assert.deepEqual(left((await second.get(ENDPOINTS.rules, 200)).headers), ['7', '0'])
    await second.get(ENDPOINTS.rules, 429)
    assert.deepEqual(left((await ada.client.get(ENDPOINTS.rules, 200)).headers), ['5', '0'], 'others do not suffer')
  })
})
