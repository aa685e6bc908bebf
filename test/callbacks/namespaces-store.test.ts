import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureNamespaces } from '../../src/callbacks/namespace/ensure-namespaces.ts'
import type { NamespaceWish } from '../../src/callbacks/namespace/namespace-wish.ts'
import type { Logger } from '../../src/platform/logging/logger.ts'
import { eachDatabase } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import {
  anotherProcess,
  callbacksSettings,
  type NamespaceWorld,
  namespaceWorld,
  signingSecret,
} from './namespace-world.ts'

const [one, two, three] = [signingSecret(1), signingSecret(2), signingSecret(3)] as [string, string, string]

function rowOf({ db }: NamespaceWorld, name: string) {
  return db.query.selectFrom('namespaces').selectAll().where('name', '=', name).executeTakeFirst()
}

async function events({ db }: NamespaceWorld, id: string) {
  const rows = await db.query
    .selectFrom('audit_events')
    .select(['action', 'changes'])
    .where('target_id', '=', id)
    .orderBy('position')
    .execute()
  return rows.map(({ action, changes }) => ({ action, changes: JSON.parse(changes) }))
}

eachDatabase('namespaces', ({ engine, open, openAgain }) => {
  test('what is stored is what is read again, and everything else is inherited', async () => {
    const world = await namespaceWorld(await open(), 'callbacks: { request_timeout: 5s }')
    const { operator, namespaces, settings } = world
    await namespaces.create(operator, {
      name: 'orders',
      description: 'paid ones',
      set: { retention: 86_400_000, retry: { max_interval: 60_000 } },
      searchAttributes: { CustomerId: 'Keyword', toFixed: 'Int' },
    })
    const { namespace, policy, secretCount } = await namespaces.get(operator, { name: 'orders' })
    assert.deepEqual([namespace.description, secretCount], ['paid ones', 0])
    assert.deepEqual({ ...namespace.searchAttributes }, { CustomerId: 'Keyword', toFixed: 'Int' })
    assert.deepEqual([policy.retention, policy.request_timeout], [86_400_000, 5_000])
    assert.deepEqual(policy.retry, { ...settings.retry, max_interval: 60_000 })
  })

  test('overrides of the database lie over those of the settings file, which lie over the server', async () => {
    const yaml = 'callbacks: { retention: 10d, namespaces: { orders: { retention: 20d, max_page_size: 7 } } }'
    const world = await namespaceWorld(await open(), yaml)
    const { operator, namespaces, policies } = world
    const day = 86_400_000
    const effective = async () => (await policies.find('orders'))?.policy
    await namespaces.create(operator, { name: 'orders' })
    assert.deepEqual([(await effective())?.retention, (await effective())?.max_page_size], [20 * day, 7])
    await namespaces.update(operator, { name: 'orders', set: { retention: 30 * day } })
    assert.deepEqual([(await effective())?.retention, (await effective())?.max_page_size], [30 * day, 7])
    await namespaces.update(operator, { name: 'orders', unset: ['retention'] })
    assert.equal((await effective())?.retention, 20 * day)
    assert.equal(policies.server.policy.retention, 10 * day)
  })

  test('an update changes what it names, group by group, and leaves the rest', async () => {
    const world = await namespaceWorld(await open())
    const { operator, namespaces } = world
    await namespaces.create(operator, { name: 'a', set: { retry: { coefficient: 3, jitter: 0 }, max_page_size: 5 } })
    const { namespace } = await namespaces.update(operator, {
      name: 'a',
      set: { retry: { jitter: 0.5 } },
      unset: ['max_page_size'],
    })
    assert.deepEqual(namespace.overrides, { retry: { coefficient: 3, jitter: 0.5 } })
    const bare = await namespaces.update(operator, { name: 'a', unset: ['retry.jitter', 'retry.coefficient'] })
    assert.deepEqual(bare.namespace.overrides, {})
    const same = await namespaces.update(operator, { name: 'a', unset: ['retention'], description: '', set: {} })
    assert.deepEqual([same.changed, same.namespace.modifiedAt], [false, bare.namespace.modifiedAt])
  })

  test('halves of a pair must fit what is inherited, and nothing is stored when they do not', async () => {
    const world = await namespaceWorld(await open(), 'callbacks: { retry: { initial_interval: 1m } }')
    const { operator, namespaces } = world
    const set = { retry: { max_interval: 1_000 }, blob_size: { warn: 4_000_000 } }
    await assert.rejects(namespaces.create(operator, { name: 'a', set }), (error: Error & { problems: string[] }) => {
      assert.deepEqual(error.problems, [
        'retry.initialInterval must not be longer than maxInterval',
        'blobSize.warn must not be larger than error',
      ])
      return true
    })
    assert.equal(await rowOf(world, 'a'), undefined)
  })

  test('halves that no longer fit since the settings changed are in the way of their own group only', async () => {
    const world = await namespaceWorld(await open())
    const set = { retry: { initial_interval: 60_000 } }
    await world.namespaces.create(world.operator, { name: 'a', set })
    const settings = await callbacksSettings('callbacks: { retry: { max_interval: 30s } }')
    const { namespaces } = await anotherProcess({ ...world, settings }, world.db)
    const change = (wish: NamespaceWish) => namespaces.update(world.operator, { name: 'a', ...wish })
    assert.equal((await change({ description: 'said', set: { max_page_size: 5 } })).changed, true)
    await assert.rejects(change({ set: { retry: { jitter: 0.5 } } }), /retry\.initialInterval must not be longer/)
    await assert.rejects(change({ unset: ['retry.jitter'] }), /retry\.initialInterval must not be longer/)
    assert.equal((await change({ unset: ['retry.initial_interval'] })).changed, true)
  })

  test('a type never changes, attributes are added, and a removed one can come back', async () => {
    const world = await namespaceWorld(await open())
    const { operator, namespaces } = world
    await namespaces.create(operator, { name: 'a', searchAttributes: { X: 'Keyword' } })
    const change = (searchAttributes: Record<string, 'Keyword' | 'Int' | null>) =>
      namespaces.update(operator, { name: 'a', searchAttributes })
    await assert.rejects(change({ X: 'Int', Y: 'Int' }), { code: 'failed_precondition' })
    assert.deepEqual((await change({ Y: 'Int', X: 'Keyword' })).namespace.searchAttributes, { X: 'Keyword', Y: 'Int' })
    assert.deepEqual((await change({ X: null, Unknown: null })).namespace.searchAttributes, { Y: 'Int' })
    assert.deepEqual((await change({ X: 'Keyword' })).namespace.searchAttributes, { Y: 'Int', X: 'Keyword' })
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`A${n}`, 'Int' as const]))
    await assert.rejects(change(many), { code: 'failed_precondition' })
  })

  test('secrets are stored encrypted, sign newest first, and rotate', async () => {
    const world = await namespaceWorld(await open(), `callbacks: { signing_secrets: [${one}] }`)
    const { operator, namespaces, policies } = world
    const signing = async () => (await policies.find('a'))?.signingSecrets.map((bytes) => bytes[0])
    await namespaces.create(operator, { name: 'a' })
    assert.deepEqual(await signing(), [1])
    const added = await namespaces.update(operator, { name: 'a', signing: { add: two } })
    assert.deepEqual([added.secretCount, added.generatedSecret, await signing()], [2, null, [2, 1]])
    const made = await namespaces.update(operator, { name: 'a', signing: { generate: true, drop: 'oldest' } })
    assert.equal(made.secretCount, 2)
    const bytes = Buffer.from((made.generatedSecret as string).slice(6), 'base64')
    assert.deepEqual((await policies.find('a'))?.signingSecrets[0], bytes)
    const { settings } = (await rowOf(world, 'a')) as { settings: string }
    for (const secret of [one, two, made.generatedSecret as string]) {
      assert.ok(!settings.includes(secret.slice(6)) && !JSON.stringify(made.namespace).includes(secret.slice(6)))
    }
    await namespaces.update(operator, { name: 'a', signing: { secrets: [three] } })
    assert.deepEqual(await signing(), [3])
    await namespaces.update(operator, { name: 'a', signing: { secrets: [] } })
    assert.deepEqual(await signing(), [])
    const inherited = await namespaces.update(operator, { name: 'a', signing: { secrets: null } })
    assert.deepEqual([inherited.secretCount, await signing()], [1, [1]])
    const none = await namespaces.update(operator, { name: 'a', signing: { generate: false } })
    assert.equal(none.changed, false)
  })

  test('secrets that cannot be read stop the deliveries of their namespace alone, and can be set anew', async () => {
    const world = await namespaceWorld(await open())
    const { db, operator, namespaces, policies, clock } = world
    const { namespace } = await namespaces.create(operator, { name: 'a', signing: { add: one } })
    const settings = JSON.stringify({ signing_secrets: ['v1.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'] })
    await db.write((tx) =>
      tx.query.updateTable('namespaces').set({ settings }).where('id', '=', namespace.id).execute(),
    )
    await clock.advance(1_000)
    await assert.rejects(policies.find('a'), { code: 'internal' })
    assert.notEqual(await policies.find('default'), null)
    assert.equal((await namespaces.get(operator, { name: 'a' })).secretCount, 1)
    await namespaces.update(operator, { name: 'a', signing: { secrets: [two] } })
    assert.equal((await policies.find('a'))?.signingSecrets.length, 1)
  })

  test('every change is in the audit log with what it changed, and no secret is', async () => {
    const world = await namespaceWorld(await open())
    const { operator, namespaces } = world
    const searchAttributes = { ApiKey: 'Keyword', Token: 'Text' } as const
    const { namespace } = await namespaces.create(operator, { name: 'a', searchAttributes, signing: { add: one } })
    const set = { search_attribute_limits: { keys: 5 }, retention: 172_800_000 }
    await namespaces.update(operator, { name: 'a', description: 'x', set, signing: { add: two } })
    await namespaces.update(operator, { name: 'a', description: 'x' })
    await namespaces.delete(operator, { name: 'a' })
    const log = await events(world, namespace.id)
    assert.deepEqual(log, [
      {
        action: 'namespace.created',
        changes: {
          name: { new: 'a' },
          search_attributes: { old: [], new: ['ApiKey: Keyword', 'Token: Text'] },
          signing_count: { old: null, new: 1 },
        },
      },
      {
        action: 'namespace.updated',
        changes: {
          description: { old: '', new: 'x' },
          overrides: { old: [], new: ['search_attribute_limits.keys: 5', 'retention: 2d'] },
          signing_count: { old: 1, new: 2 },
        },
      },
      { action: 'namespace.deleted', changes: { name: { old: 'a' } } },
    ])
    assert.ok(!JSON.stringify(log).includes('whsec_'))
  })

  test('of those that make the same namespace at once one does, and the others are told', async () => {
    const world = await namespaceWorld(await open())
    const other = engine === 'postgres' ? await anotherProcess(world, await openAgain(world.db)) : world
    const work = Array.from({ length: 10 }, (_, n) =>
      (n % 2 === 0 ? world : other).namespaces.create(world.operator, { name: 'same' }).then(
        () => 'made',
        (error: { code: string }) => error.code,
      ),
    )
    assert.deepEqual((await Promise.all(work)).toSorted(), [...Array(9).fill('conflict'), 'made'])
  })

  test('changes at the same time are all kept', async () => {
    const world = await namespaceWorld(await open())
    const { operator, namespaces } = world
    await namespaces.create(operator, { name: 'a' })
    const names = Array.from({ length: 8 }, (_, n) => `A${n}`)
    await Promise.all(
      names.map((name) => namespaces.update(operator, { name: 'a', searchAttributes: { [name]: 'Int' } })),
    )
    const { namespace } = await namespaces.get(operator, { name: 'a' })
    assert.deepEqual(Object.keys(namespace.searchAttributes).toSorted(), names)
  })

  test('the list has every namespace once, oldest first, whatever the size of its pages', async () => {
    const world = await namespaceWorld(await open())
    const { operator, namespaces } = world
    const names = ['zeta', 'alpha', 'Beta', 'b', 'deleted', 'deleted-2']
    for (const name of names) await namespaces.create(operator, { name })
    await namespaces.create(operator, { name: 'gone' })
    await namespaces.delete(operator, { name: 'gone' })
    for (const pageSize of [1, 2, 3, 7, 8, 0, -5, 5_000]) {
      const found: string[] = []
      let pageToken: string | null = ''
      while (pageToken !== null) {
        const page = await namespaces.list(operator, { pageSize, pageToken })
        assert.ok(page.namespaces.length > 0)
        found.push(...page.namespaces.map(({ namespace }) => namespace.name))
        pageToken = page.nextPageToken
      }
      assert.deepEqual(found, ['default', ...names], String(pageSize))
    }
    for (const pageToken of ['x', 'MTp4', 'a'.repeat(500), '\0']) {
      await assert.rejects(namespaces.list(operator, { pageToken }), { code: 'invalid_argument' })
    }
  })

  test('a page has as many namespaces as fit into an answer', async () => {
    const { operator, namespaces } = await namespaceWorld(await open())
    const names = Array.from({ length: 1_000 }, (_, n) => `A${n}`.padEnd(60, 'x'))
    const searchAttributes = Object.fromEntries(names.map((name) => [name, 'Keyword' as const]))
    for (let n = 0; n < 25; n++) await namespaces.create(operator, { name: `n${n}`, searchAttributes })
    const first = await namespaces.list(operator)
    const rest = await namespaces.list(operator, { pageToken: first.nextPageToken ?? '' })
    assert.ok(first.namespaces.length > 10 && first.namespaces.length < 26, `${first.namespaces.length}`)
    assert.deepEqual([first.namespaces.length + rest.namespaces.length, rest.nextPageToken], [26, null])
  })

  test('long lists of addresses and ports count for the length of a page of namespaces', async () => {
    const allowed_private_cidrs = Array.from({ length: 4_000 }, (_, n) => `10.0.${n >> 8}.${n & 255}/32`)
    const denied_ports = Array.from({ length: 20_000 }, (_, n) => 10_000 + n)
    for (const set of [{ allowed_private_cidrs }, { denied_ports }]) {
      const { operator, namespaces } = await namespaceWorld(await open())
      for (let n = 0; n < 30; n++) await namespaces.create(operator, { name: `n${n}`, set })
      const { namespaces: page, nextPageToken } = await namespaces.list(operator)
      assert.ok(page.length > 10 && page.length < 30 && nextPageToken !== null, `${page.length}`)
    }
  })

  test('what the settings list is neither deleted nor loses its attributes: the next start would bring it back', async () => {
    const yaml = 'callbacks: { namespaces: { orders: { search_attributes: { CustomerId: Keyword } } } }'
    const world = await namespaceWorld(await open(), yaml)
    const { operator, namespaces } = world
    await namespaces.create(operator, { name: 'orders', searchAttributes: { CustomerId: 'Keyword', Other: 'Int' } })
    await assert.rejects(namespaces.delete(operator, { name: 'orders' }), /remove it from callbacks\.namespaces first/)
    const remove = (name: string) => namespaces.update(operator, { name: 'orders', searchAttributes: { [name]: null } })
    await assert.rejects(remove('CustomerId'), /callbacks\.namespaces\.orders\.search_attributes/)
    await remove('Other')
  })

  test('a start adds listed attributes whatever their names are, and says which types it leaves alone', async () => {
    const { db, operator, namespaces } = await namespaceWorld(await open())
    const lines: string[] = []
    const log = { ...silentLogger(), warn: (line: string) => void lines.push(line) } as unknown as Logger
    const start = (search_attributes: Record<string, string>) =>
      ensureNamespaces({ db, log, now: 1 }, { listed: { search_attributes }, default: {} })
    await start({ constructor: 'Keyword' })
    await start({ constructor: 'Int', valueOf: 'Bool' })
    assert.equal(lines.length, 1)
    assert.match(lines[0] as string, /callbacks\.namespaces\.listed: "constructor" has another type/)
    const { namespace } = await namespaces.get(operator, { name: 'listed' })
    assert.deepEqual(Object.entries(namespace.searchAttributes).toSorted(), [
      ['constructor', 'Keyword'],
      ['valueOf', 'Bool'],
    ])
  })

  test('unknown and impossible names are not found', async () => {
    const { operator, namespaces, policies } = await namespaceWorld(await open())
    for (const name of ['nowhere', '', 'a b', 'x\0y', '\ud800', 'a'.repeat(10_000), '../default', 'deleted x y']) {
      await assert.rejects(namespaces.get(operator, { name }), { code: 'not_found' }, name)
      await assert.rejects(namespaces.update(operator, { name }), { code: 'not_found' })
      await assert.rejects(namespaces.delete(operator, { name }), { code: 'not_found' })
      assert.equal(await policies.find(name), null)
    }
    await assert.rejects(namespaces.create(operator, { name: 'a b' }), { code: 'invalid_argument' })
  })
})
