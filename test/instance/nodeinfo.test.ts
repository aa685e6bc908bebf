import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { VERSION } from '../../src/version.ts'
import { assertShape } from './public-schemas.ts'
import { ENDPOINTS, PublicWorld } from './public-world.ts'

const LINKS = '/.well-known/nodeinfo'
const DOCUMENTS = ['/nodeinfo/2.0', '/nodeinfo/2.1']

let world: PublicWorld
before(async () => {
  world = await PublicWorld.start()
})
after(() => world[Symbol.asyncDispose]())

test('it is not there until it is switched on', async () => {
  for (const path of [LINKS, ...DOCUMENTS]) {
    const answer = await world.get(path, 404)
    assert.deepEqual(answer.body, { error: 'Not Found' })
    assert.equal(answer.headers.get('access-control-allow-origin'), '*')
  }
})

test('switched on, it tells what we are, to any browser', async () => {
  await world.set({ nodeinfo: { enabled: true }, description: 'Notes.' })
  const { domain } = (await world.get(ENDPOINTS.v2)).body
  const links = await world.get(LINKS)
  assert.deepEqual(links.body, {
    links: [{ rel: 'http://nodeinfo.diaspora.software/ns/schema/2.0', href: `http://${domain}/nodeinfo/2.0` }],
  })
  assert.equal(links.headers.get('cache-control'), 'max-age=259200, public')
  for (const path of DOCUMENTS) {
    const { body, headers } = await world.get(path)
    assertShape('nodeinfo', body)
    assert.equal(headers.get('cache-control'), 'max-age=1800, public')
    assert.equal(headers.get('access-control-allow-origin'), '*')
    assert.match(headers.get('etag') ?? '', /^W\//)
    assert.equal(body.version, path.slice('/nodeinfo/'.length))
    assert.deepEqual([body.software.name, body.software.version], ['commonplace', VERSION])
    assert.equal('repository' in body.software, body.version === '2.1')
    assert.deepEqual(body.protocols, [])
    assert.equal(body.usage.users.total, 1)
    assert.deepEqual(body.metadata, { nodeName: 'Commonplace', nodeDescription: 'Notes.' })
    const preflight = { 'access-control-request-method': 'GET' }
    const allowed = await world.stranger.call('OPTIONS', path, 204, { headers: preflight })
    assert.equal(allowed.headers.get('access-control-allow-methods'), 'GET')
  }
})

test('as everywhere here, a suffix and a slash at the end make no difference', async () => {
  for (const path of [LINKS, ...DOCUMENTS]) {
    const { text } = await world.get(path)
    for (const end of ['/', '.json']) assert.equal((await world.get(path + end)).text, text, path + end)
  }
})

test('protocols and what we are compatible with are settings; in whitelist mode nobody is counted', async () => {
  await world.set({
    nodeinfo: { protocols: ['activitypub'] },
    compat: { mastodon_version: '4.5.0' },
    whitelist_mode: true,
  })
  const { body } = await world.get('/nodeinfo/2.0')
  assertShape('nodeinfo', body)
  assert.deepEqual(body.protocols, ['activitypub'])
  assert.deepEqual(body.metadata.upstream, { name: 'mastodon' })
  assert.deepEqual(body.usage.users, { total: 0, activeMonth: 0, activeHalfyear: 0 })
  assert.equal(body.software.name, 'commonplace', 'never the name of another software')
  await world.set({ nodeinfo: null })
  await world.get('/nodeinfo/2.0', 404)
})
