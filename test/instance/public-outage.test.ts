import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresUnavailable } from '../support/postgres.ts'
import { takeAway } from '../support/take-away.ts'
import { ENDPOINTS, PublicWorld } from './public-world.ts'

const unavailable = postgresUnavailable()
const TEMPORARY = { error: 'There was a temporary problem serving your request, please try again' }
const { v1, v2, activity, ...decided } = ENDPOINTS

test('while PostgreSQL is away, what is known is answered and the rest is 503; afterwards all is as before', {
  skip: unavailable !== null && `PostgreSQL: ${unavailable}`,
}, async () => {
  await using world = await PublicWorld.start({ engine: 'postgres' })
  // Numbers are not kept, so that nobody has to wait until they are too old.
  await world.set({ cache: { counter_seconds: 0 } })
  await world.addRule('Be kind')
  const known = new Map<string, string>()
  for (const path of Object.values(decided)) {
    const { text } = await world.get(path, path === ENDPOINTS.terms ? 404 : 200)
    known.set(path, text)
  }
  const back = await takeAway(world.server.databaseUrl as string)
  for (const path of [v1, v2, activity]) {
    const { body, headers } = await world.get(path, 503)
    assert.deepEqual(body, TEMPORARY)
    for (const [name, value] of [
      ['retry-after', '5'],
      ['cache-control', 'private, no-store'],
      ['content-type', 'application/json; charset=utf-8'],
      ['access-control-allow-origin', '*'],
      ['etag', null],
    ] as const) {
      assert.equal(headers.get(name), value, `${path} ${name}`)
    }
  }
  assert.deepEqual((await world.admin.get('/api/v1/admin/instance/rules', 503)).body, TEMPORARY)
  for (const [path, text] of known) {
    const answer = await world.get(path, path === ENDPOINTS.terms ? 404 : 200)
    assert.equal(answer.text, text, path)
  }
  await back()
  // How soon it finds its way back depends on the machine.
  while ((await fetch(world.server.url + v2)).status === 503);
  assert.equal((await world.get(v2)).body.rules[0].text, 'Be kind')
  await world.addRule('Be brief')
  assert.equal((await world.get(decided.rules)).body.length, 2)
  assert.equal((await world.get(v2)).body.rules.length, 2)
})
