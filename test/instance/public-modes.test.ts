// Who gets what: every endpoint in every mode, for a stranger, for somebody with a bad token, and for a user.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Answer, TestClient } from '../support/test-client.ts'
import { assertShape } from './public-schemas.ts'
import { dayFromNow, ENDPOINTS, eachPublicWorld, type Loose, PUBLIC_CACHE, type PublicWorld } from './public-world.ts'

const FEW_SECONDS = 'max-age=15, public, stale-while-revalidate=30, stale-if-error=86400'
const PRIVATE = 'private, no-store'

/** The four headers by which caches and clients judge an answer. */
function headersOf({ headers }: Answer<Loose>) {
  const vary = (headers.get('vary') ?? '').replace(/(, )?Accept-Encoding/, '')
  return [headers.get('cache-control'), vary === '' ? null : vary, headers.get('www-authenticate')]
}

function assertEmpty(answer: Answer<Loose>, what: string): void {
  assert.equal(answer.text, '', what)
  assert.equal(answer.headers.get('content-type'), null, what)
  assert.equal(answer.headers.get('content-length'), '0', what)
  assert.equal(answer.headers.get('cache-control'), PRIVATE, what)
  assert.equal(answer.headers.get('access-control-allow-origin'), '*', what)
}

eachPublicWorld('modes of the public face', (current) => {
  let world: PublicWorld
  let user: TestClient
  let keys: TestClient
  let bad: TestClient
  let realm: string
  before(async () => {
    world = current()
    user = (await world.callers.make({ roles: [] })).client
    bad = world.stranger.as({ token: 'nonsense' })
    keys = world.stranger.as(world.server)
    await world.publishTerms('Terms', dayFromNow(0))
    await world.set({ domain: 'kb.example.org' })
    realm = 'Bearer realm="kb.example.org"'
  })

  test('administrators are asked for credentials under the same name as everybody', async () => {
    const challenge = async (who: TestClient) =>
      (await who.get('/api/v1/admin/instance', 401)).headers.get('www-authenticate')
    assert.equal(await challenge(world.stranger), realm)
    assert.equal(await challenge(bad), `${realm}, error="invalid_token"`)
  })

  test('whitelist mode closes three endpoints to strangers and leaves the others open', async () => {
    await world.set({ whitelist_mode: true })
    for (const [name, path] of Object.entries(ENDPOINTS)) {
      const isClosed = ['v1', 'peers', 'activity'].includes(name)
      const status = isClosed ? 401 : 200
      const refusal = { error: 'This API requires an authenticated user' }
      const answer = await world.stranger.get(path, status)
      const wrong = await bad.get(path, status)
      // A key pair belongs to a user, but it is no token.
      const other = await keys.get(path, status)
      const mine = await user.get(path, 200)
      assertShape(name as keyof typeof ENDPOINTS, mine.body)
      assert.deepEqual(headersOf(mine), isClosed ? [PRIVATE, 'Authorization', null] : [PUBLIC_CACHE, null, null], path)
      if (!isClosed) {
        assert.deepEqual(answer.body, mine.body)
        assert.deepEqual(headersOf(wrong), [PUBLIC_CACHE, null, null], path)
        continue
      }
      for (const { body } of [answer, wrong, other]) assert.deepEqual(body, refusal, path)
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
      assert.deepEqual(headersOf(answer), [PRIVATE, null, realm], path)
      assert.deepEqual(headersOf(wrong), [PRIVATE, null, `${realm}, error="invalid_token"`], path)
    }
    const { body: v2 } = await world.get(ENDPOINTS.v2)
    assert.equal(v2.configuration.limited_federation, true)
    assert.equal(v2.usage.users.active_month, 0, 'numbers of users are not told')
    await world.set({ whitelist_mode: false })
    for (const path of Object.values(ENDPOINTS)) {
      assert.deepEqual(
        headersOf(await bad.get(path, 200)),
        [PUBLIC_CACHE, null, null],
        `${path}: a bad token is ignored`,
      )
    }
  })

  test('a token counts in the header only, whatever the case of its scheme', async () => {
    await world.set({ whitelist_mode: true })
    const { token } = await world.callers.make({ roles: [] })
    for (const path of [ENDPOINTS.peers, ENDPOINTS.activity, ENDPOINTS.v1]) {
      await world.get(`${path}?access_token=${token}`, 401)
      for (const authorization of [`bearer ${token}`, `BEARER   ${token}  `]) {
        await world.stranger.get(path, 200, { headers: { authorization } })
      }
      for (const authorization of [`Basic ${token}`, token, 'Bearer', `Bearer ${token}x`]) {
        await world.stranger.get(path, 401, { headers: { authorization } })
      }
    }
    await world.set({ whitelist_mode: false })
  })

  test('the token of a user who was disabled counts no more', async () => {
    await world.set({ whitelist_mode: true })
    const gone = await world.callers.make({ roles: [] })
    await gone.client.get(ENDPOINTS.peers, 200)
    await world.admin.delete(`/api/v2/users/${gone.userId}`, 204)
    await gone.client.get(ENDPOINTS.peers, 401)
    await world.set({ whitelist_mode: false })
  })

  test('peers and activity can be switched off; in whitelist mode strangers are refused before they learn it', async () => {
    await world.set({ peers: { enabled: false }, activity_api: false })
    const hidden = [ENDPOINTS.peers, ENDPOINTS.activity, '/api/v1/peers/search?q=a']
    for (const path of hidden) {
      for (const caller of [world.stranger, bad, user]) assertEmpty(await caller.get(path, 404), path)
    }
    await world.set({ whitelist_mode: true })
    for (const path of hidden) {
      await world.get(path, 401)
      assertEmpty(await user.get(path, 404), path)
    }
    await world.set({ whitelist_mode: null, peers: null, activity_api: null })
    for (const path of hidden) await world.get(path, 200)
  })

  test('blocked domains are for all, for users, or for nobody, and so are the comments', async () => {
    // First, or the block of the whole domain would cover it.
    await world.block('hostname.example.com', { severity: 'suspend', obfuscate: true })
    await world.block('example.com', { severity: 'suspend', public_comment: 'spam', private_comment: 'secret' })
    const audiences = ['all', 'users', 'disabled'] as const
    for (const list of audiences) {
      for (const rationale of audiences) {
        await world.set({ show_domain_blocks: list, show_domain_blocks_rationale: rationale })
        const isPersonal = list === 'users' || rationale === 'users'
        for (const [who, caller] of Object.entries({ stranger: world.stranger, bad, user })) {
          const what = `list ${list}, rationale ${rationale}, ${who}`
          const isUser = who === 'user'
          const refused = list === 'disabled' ? 404 : list === 'users' && !isUser ? 401 : null
          const answer = await caller.get(ENDPOINTS.blocks, refused ?? 200)
          assert.ok(!answer.text.includes('secret'), what)
          if (refused === 404) assertEmpty(answer, what)
          else if (refused === 401) {
            assert.deepEqual(answer.body, { error: 'The access token is invalid' }, what)
            const challenge = who === 'bad' ? `${realm}, error="invalid_token"` : realm
            assert.deepEqual(headersOf(answer), [PRIVATE, null, challenge], what)
          } else {
            const isShown = rationale === 'all' || (rationale === 'users' && isUser)
            assertShape('blocks', answer.body)
            assert.equal(answer.body[0].comment, isShown ? 'spam' : null, what)
            const cache = who === 'stranger' ? FEW_SECONDS : PRIVATE
            assert.deepEqual(
              headersOf(answer),
              isPersonal ? [cache, 'Authorization', null] : [PUBLIC_CACHE, null, null],
              what,
            )
          }
        }
      }
    }
    await world.set({ show_domain_blocks: null, show_domain_blocks_rationale: null })
  })

  test('the list of blocks: silenced first, by name, obfuscated where wished, with the digest of the real name', async () => {
    await world.block('birb.elfenban.de', { severity: 'silence' })
    await world.block('a.example.net', { severity: 'noop', reject_media: true })
    await world.block('にゃん', { severity: 'silence', public_comment: 'なし' })
    const { body } = await world.get(ENDPOINTS.blocks)
    assert.deepEqual(
      body.map(({ domain, severity, comment }: Loose) => [severity, domain, comment]),
      [
        ['silence', 'birb.elfenban.de', ''],
        ['silence', 'xn--r9j5b5b', 'なし'],
        ['suspend', 'example.com', 'spam'],
        ['suspend', 'hostna**.******e.com', ''],
      ],
    )
    assert.equal(body[0].digest, '5d2c6e02a0cced8fb05f32626437e3d23096480b47efbba659b6d9e80c85d280')
    assert.equal(body[2].digest, 'a379a6f6eeafb9a55e378c118034e2751e682fab9f2d30ab13d2125586ce1947')
  })

  test('peers are sorted, without blocked and private names, and found by their beginning', async () => {
    await world.declarePeers('zebra.social', 'alpha.social', 'bücher.social', 'alpine.town', 'blocked.social')
    await world.declarePeers('host.internal', 'printer.local', 'a.onion', 'kb.example.org', 'x.test', 'localhost')
    await world.block('blocked.social', { severity: 'noop' })
    const { body } = await world.get(ENDPOINTS.peers)
    assert.deepEqual(body, ['alpha.social', 'alpine.town', 'xn--bcher-kva.social', 'zebra.social'])
    const search = async (q: string) => (await world.get(`/api/v1/peers/search?q=${encodeURIComponent(q)}`)).body
    assert.deepEqual(await search('al'), ['alpha.social', 'alpine.town'])
    assert.deepEqual(await search(' ALPHA.'), ['alpha.social'])
    assert.deepEqual(await search('bücher.social'), ['xn--bcher-kva.social'])
    for (const nonsense of ['', '   ', '<b>', 'a b', '\u0000', 'x'.repeat(2_000), 'blocked', '..']) {
      assert.deepEqual(await search(nonsense), [], nonsense)
    }
    assert.deepEqual((await world.get('/api/v1/peers/search')).body, [])
    assert.deepEqual((await world.get('/api/v1/peers/search?q=z&q=alph')).body, ['alpha.social'])
    await world.declarePeers(...Array.from({ length: 15 }, (_, index) => `many-${index}.social`))
    assert.equal((await search('many-')).length, 10)
    assert.equal((await world.get(ENDPOINTS.v1)).body.stats.domain_count > body.length, true, 'all known domains count')
  })

  test('allowed domains are told to users in whitelist mode, and to nobody otherwise', async () => {
    const path = '/api/v1/instance/domain_allows'
    await world.allow('friend.example.net')
    for (const caller of [world.stranger, user]) assertEmpty(await caller.get(path, 404), path)
    await world.set({ whitelist_mode: true })
    await world.get(path, 401)
    const { body } = await user.get(path, 200)
    assert.deepEqual(
      body.map(({ domain }: Loose) => domain),
      ['friend.example.net'],
    )
    await world.set({ whitelist_mode: null })
  })
})
