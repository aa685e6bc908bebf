import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DomainRules } from '../../src/instance/domains/domain-rules.ts'
import { exportBlocks, importBlocks } from '../../src/instance/domains/import-blocks.ts'
import { KnownDomains } from '../../src/instance/domains/known-domains.ts'
import { readListedBlocks, readSeverities } from '../../src/instance/domains/store-blocks.ts'
import { readCallbackHosts } from '../../src/instance/domains/store-callback-hosts.ts'
import { readDomainNames } from '../../src/instance/domains/store-named-domains.ts'
import { AppError, isAppError } from '../../src/platform/errors/app-error.ts'
import { createLogger } from '../../src/platform/logging/logger.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { turnsDuring } from '../support/turns-during.ts'
import { type AdminWorld, adminWorld, anotherProcess, auditOf, nextChange, refusal } from './admin-world.ts'

const NO_WISH = { dryRun: false, skipBadLines: false }

async function block({ blocks, operator }: AdminWorld, domain: string, rules = {}) {
  return blocks.create(operator, { domain, rules })
}

async function exported({ blockOptions }: AdminWorld): Promise<string> {
  let text = ''
  for await (const piece of exportBlocks(blockOptions)) text += piece
  return text
}

/** What comes of work during which others had their turn. */
async function inTurns<T>(work: () => Promise<T>): Promise<T> {
  const working = work()
  assert.ok((await turnsDuring(working)) > 0)
  return working
}

eachDatabase('domain blocks', ({ open, openAgain }) => {
  test('are kept as they were made, silenced unless said otherwise, and can be changed and lifted', async () => {
    const world = await adminWorld(await open())
    const { blocks, operator } = world
    const made = await block(world, 'Example.COM')
    assert.deepEqual(made, {
      id: made.id,
      domain: 'example.com',
      severity: 'silence',
      rejectMedia: false,
      rejectReports: false,
      privateComment: '',
      publicComment: '',
      obfuscate: false,
      createdAt: made.createdAt,
    })
    const rules = { severity: 'suspend', rejectMedia: true, privateComment: 'p 🗒', obfuscate: true } as const
    const changed = await blocks.update(operator, { id: made.id, domain: 'EXAMPLE.com', rules })
    assert.deepEqual(changed, { ...made, ...rules })
    assert.deepEqual(await blocks.get(operator, { id: made.id }), changed)
    const moved = blocks.update(operator, { id: made.id, domain: 'example.org', rules: {} })
    assert.deepEqual(await refusal(moved), { domain: 'ERR_FIXED' })
    await blocks.delete(operator, { id: made.id })
    await assert.rejects(blocks.get(operator, { id: made.id }), (error) => isAppError(error, 'not_found'))
    assert.notEqual((await block(world, 'example.com')).id, made.id)
  })

  test('a domain that an equal or stricter block covers is refused, and the block is shown', async () => {
    const world = await adminWorld(await open())
    const existing = await block(world, 'example.com', { severity: 'silence', rejectMedia: true })
    for (const [domain, rules] of [
      ['example.com', { severity: 'suspend' }],
      ['a.example.com', {}],
      ['a.b.example.com', { rejectMedia: true }],
      ['a.example.com', { severity: 'noop' }],
    ] as const) {
      await assert.rejects(block(world, domain, rules), (error) => {
        assert.ok(error instanceof AppError && error.httpStatus === 422)
        const [{ existing_domain_block: shown }] = error.details as [{ existing_domain_block: { id: string } }]
        return shown.id === String(existing.id)
      })
    }
    await block(world, 'a.example.com', { severity: 'suspend' })
    await block(world, 'b.example.com', { rejectReports: true })
    await block(world, 'com')
    await assert.rejects(block(world, 'x.a.example.com'), /covered by the block of a\.example\.com/)
  })

  test('of the same domain blocked twice at once, one block is made', async () => {
    const world = await adminWorld(await open())
    const outcomes = await Promise.allSettled([block(world, 'example.com'), block(world, 'EXAMPLE.com.')])
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.ok(isAppError(outcome.reason, 'unprocessable'))
    }
  })

  test('lists go by id, newest first, in both directions', async () => {
    const world = await adminWorld(await open())
    const { blocks, operator } = world
    const ids: number[] = []
    for (const letter of 'abcdefg') ids.unshift((await block(world, `${letter}.example`)).id)
    const page = async (bounds: object) => (await blocks.list(operator, { limit: 3, ...bounds })).map(({ id }) => id)
    assert.deepEqual(await page({}), ids.slice(0, 3))
    assert.deepEqual(await page({ maxId: ids[2] }), ids.slice(3, 6))
    assert.deepEqual(await page({ maxId: ids[5] }), ids.slice(6))
    assert.deepEqual(await page({ minId: ids[5] }), ids.slice(2, 5), 'those right above')
    assert.deepEqual(await page({ sinceId: ids[5] }), ids.slice(0, 3), 'the newest above')
    assert.deepEqual(await page({ sinceId: ids[2], maxId: ids[0] }), ids.slice(1, 2))
  })

  test('the public list has silenced domains first, then suspended ones, and no others', async () => {
    const world = await adminWorld(await open())
    for (const [domain, severity] of [
      ['z.example', 'suspend'],
      ['b.example', 'silence'],
      ['n.example', 'noop'],
      ['a.example', 'suspend'],
      ['xn--r9j5b5b', 'silence'],
      ['a-b.example', 'silence'],
    ] as const) {
      await block(world, domain, { severity, publicComment: `about ${domain}`, privateComment: 'secret' })
    }
    const listed = await readListedBlocks(world.db)
    assert.deepEqual(
      listed.map(({ domain }) => domain),
      ['a-b.example', 'b.example', 'xn--r9j5b5b', 'a.example', 'z.example'],
    )
    assert.ok(!JSON.stringify(listed).includes('secret'))
  })

  test('every change is in the log with old and new values', async () => {
    const db = await open()
    const world = await adminWorld(db)
    const { id } = await block(world, 'example.com', { publicComment: 'c', privateComment: 'why', obfuscate: true })
    await world.blocks.update(world.operator, { id, rules: { severity: 'suspend' } })
    await world.blocks.update(world.operator, { id, rules: { severity: 'suspend' } })
    await world.blocks.delete(world.operator, { id })
    const events = await auditOf(db, 'domain_blocks')
    assert.deepEqual(
      events.map(({ action }) => action),
      ['created', 'updated', 'deleted'].map((verb) => `domain_block.${verb}`),
    )
    assert.deepEqual(events[0]?.changes.domain, { new: 'example.com' })
    assert.deepEqual(events[1]?.changes, { severity: { old: 'silence', new: 'suspend' } })
    assert.deepEqual(events[2]?.changes, {
      domain: { old: 'example.com' },
      severity: { old: 'suspend' },
      reject_media: { old: false },
      reject_reports: { old: false },
      private_comment: { old: 'why' },
      public_comment: { old: 'c' },
      obfuscate: { old: true },
    })
  })

  test('what is exported is what is imported elsewhere', async () => {
    const [here, there] = [await adminWorld(await open()), await adminWorld(await open())]
    await block(here, 'a.example', { severity: 'suspend', publicComment: 'a "b",\nc', obfuscate: true })
    await block(here, 'b.example', { severity: 'noop', rejectMedia: true, rejectReports: true })
    const csv = await exported(here)
    const report = await importBlocks(there.blockOptions, there.operator, { csv, ...NO_WISH })
    assert.deepEqual([report.imported, report.skipped, report.failed], [2, 0, 0])
    assert.equal(await exported(there), csv)
    const again = await importBlocks(there.blockOptions, there.operator, { csv, ...NO_WISH })
    assert.deepEqual([again.imported, again.skipped], [0, 2])
    const events = await auditOf(there.db, 'domain_blocks')
    assert.deepEqual(
      events.map(({ action, changes }) => [action, changes.domains.new]),
      [['domain_block.imported', ['a.example: suspend', 'b.example: noop']]],
    )
  })

  test('a file with a bad line changes nothing, unless the good lines are wanted; a rehearsal changes nothing either', async () => {
    const world = await adminWorld(await open())
    const { blockOptions, operator } = world
    await block(world, 'covered.example', { severity: 'suspend' })
    const csv = 'domain,severity\na.example,suspend\nbad domain,\nx.covered.example,silence\na.example,noop\n'
    const run = (wish: object) => importBlocks(blockOptions, operator, { csv, ...NO_WISH, ...wish })
    assert.deepEqual(await refusal(run({})), { 'line 3': 'ERR_INVALID' })
    const rehearsed = await run({ dryRun: true })
    assert.deepEqual([rehearsed.imported, rehearsed.skipped, rehearsed.failed], [1, 2, 1])
    assert.deepEqual(await readDomainNames(world.db, 'domain_blocks'), ['covered.example'])
    assert.deepEqual(rehearsed.errors, [{ line: 3, domain: 'bad domain', error: 'domain is not a valid domain name' }])
    assert.deepEqual(await run({ skipBadLines: true }), { ...rehearsed, dryRun: false })
    assert.deepEqual((await readDomainNames(world.db, 'domain_blocks')).sort(), ['a.example', 'covered.example'])
  })

  test('a long list is imported at once, and one without end is refused', async () => {
    const world = await adminWorld(await open())
    const { blockOptions, operator, db } = world
    const csv = Array.from({ length: 3_000 }, (_, n) => `d${n}.example`).join('\n')
    assert.equal((await importBlocks(blockOptions, operator, { csv, ...NO_WISH })).imported, 3_000)
    const names = await inTurns(() => readDomainNames(db, 'domain_blocks'))
    assert.deepEqual(names, csv.split('\n').sort())
    const listed = await inTurns(() => readListedBlocks(db))
    assert.deepEqual(
      listed.map(({ domain }) => domain),
      names,
    )
    assert.deepEqual([...(await inTurns(() => readSeverities(db))).keys()], names)
    assert.equal((await inTurns(() => exported(world))).split('\n').length, 3_002)
    const endless = { csv: 'a\n'.repeat(100_001), ...NO_WISH }
    assert.deepEqual(await refusal(importBlocks(blockOptions, operator, endless)), { base: 'ERR_TOO_LONG' })
    const events = await auditOf(db, 'domain_blocks')
    assert.equal(events.flatMap(({ changes }) => changes.domains.new).length, 3_000, 'each is in the log')
  })

  test('a line counts as covered by one far before it in the file, whether that was imported or only rehearsed', async () => {
    const { blockOptions, operator } = await adminWorld(await open())
    const others = Array.from({ length: 2_500 }, (_, n) => `d${n}.example,silence`)
    const csv = ['domain,severity', 'covering.example,suspend', ...others, 'a.b.covering.example,silence'].join('\n')
    for (const dryRun of [true, false]) {
      const report = await importBlocks(blockOptions, operator, { csv, ...NO_WISH, dryRun })
      assert.deepEqual([report.imported, report.skipped], [2_501, 1])
    }
  })

  test('others have their turn while a long list is read', async () => {
    const { blockOptions, operator } = await adminWorld(await open())
    const csv = `${Array.from({ length: 20_000 }, (_, n) => `d${n}.example`).join('\n')}\nno domain`
    let turns = 0
    let isReading = true
    const others = (async () => {
      for (; isReading; turns++) await nextTurn()
    })()
    // It is read to its end, and then refused.
    assert.deepEqual(await refusal(importBlocks(blockOptions, operator, { csv, ...NO_WISH })), {
      'line 20001': 'ERR_INVALID',
    })
    isReading = false
    await others
    assert.ok(turns >= 20, `${turns} turns`)
  })

  test('rules for deliveries follow every change at once, here and in another process', async () => {
    const db = await open()
    const world = await adminWorld(db)
    const other = await anotherProcess(world, await openAgain(db))
    for (const { domainRules } of [world, other]) await domainRules.load()
    let told = 0
    world.domainRules.onChange(() => told++)
    assert.equal(world.domainRules.reasonFor('hooks.example.com'), null)
    const heard = nextChange(other)
    const { id } = await block(world, 'example.com', { severity: 'suspend', privateComment: 'private' })
    assert.equal(world.domainRules.reasonFor('hooks.example.com'), 'The domain rule for example.com forbids deliveries')
    assert.ok(told > 0)
    if (db.engine === 'postgres') {
      await heard
      await other.changes.settled()
      assert.notEqual(other.domainRules.reasonFor('hooks.example.com'), null)
    }
    await world.blocks.delete(world.operator, { id })
    assert.equal(world.domainRules.reasonFor('hooks.example.com'), null)
    await world.settings.patch(world.operator, { whitelist_mode: true })
    assert.notEqual(world.domainRules.reasonFor('hooks.example.com'), null)
    await world.allows.add(world.operator, { domain: 'example.com' })
    assert.equal(world.domainRules.reasonFor('hooks.example.com'), null)
  })

  test('rules that are read at the start and arrive late do not replace those of a change meanwhile', async () => {
    const world = await adminWorld(await open())
    const [seen, arrived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isFirst = true
    const read: Database['read'] = async (work) => {
      const isLate = isFirst
      isFirst = false
      const rules = await world.db.read(work)
      if (isLate) {
        seen.resolve()
        await arrived.promise
      }
      return rules
    }
    const domainRules = new DomainRules({ ...world.blockOptions, db: { read } as Database })
    const loaded = domainRules.load()
    await seen.promise
    await block(world, 'example.com', { severity: 'suspend' })
    arrived.resolve()
    await loaded
    assert.notEqual(domainRules.reasonFor('hooks.example.com'), null)
  })

  test('rules that cannot be read are told of once, and once more when they can', async () => {
    const world = await adminWorld(await open())
    const told: string[] = []
    const destination = { write: (line: string) => void told.push(JSON.parse(line).level) }
    const log = createLogger({ level: 'info', format: 'json', destination })
    const [clock, readAgain] = [new FakeClock(), Promise.withResolvers<void>()]
    let tries = 0
    const read: Database['read'] = async (work) => {
      if (++tries < 4) throw new AppError('unavailable', 'Storage does not answer')
      return world.db.read(work)
    }
    const domainRules = new DomainRules({ ...world.blockOptions, clock, log, db: { read } as Database })
    domainRules.onChange(readAgain.resolve)
    await world.changes.renew()
    await clock.advance(3_000)
    await readAgain.promise
    assert.deepEqual(told, ['error', 'info'])
  })
})

eachDatabase('lists of domains', ({ open }) => {
  test('hold each domain once, in one spelling, newest first', async () => {
    const { allows, peers, operator, db } = await adminWorld(await open())
    for (const list of [allows, peers]) {
      const first = await list.add(operator, { domain: 'にゃん' })
      await list.add(operator, { domain: 'example.org' })
      assert.deepEqual(await list.add(operator, { domain: ' XN--R9J5B5B/' }), first)
      const domains = (await list.list(operator, { limit: 10 })).map(({ domain }) => domain)
      assert.deepEqual(domains, ['example.org', 'xn--r9j5b5b'])
      await list.remove(operator, { domain: 'にゃん' })
      for (const domain of ['にゃん', 'bad domain', '']) {
        await assert.rejects(list.remove(operator, { domain }), (error) => isAppError(error, 'not_found'))
      }
      assert.deepEqual(await refusal(list.add(operator, { domain: 'bad domain' })), { domain: 'ERR_INVALID' })
      assert.deepEqual(await refusal(list.add(operator, { domain: ' ' })), { domain: 'ERR_BLANK' })
    }
    const actions = [...(await auditOf(db, 'domain_allows')), ...(await auditOf(db, 'declared_peers'))]
    assert.deepEqual(
      actions.map(({ action }) => action),
      ['domain_allow', 'declared_peer'].flatMap((noun) => [`${noun}.created`, `${noun}.created`, `${noun}.deleted`]),
    )
  })
})

eachDatabase('hosts of callback targets', ({ open }) => {
  test('are read in turns with others, all of them or those that took a delivery', async () => {
    const db = await open()
    const rows = Array.from({ length: 3_000 }, (_, n) => ({
      namespace_id: 'any',
      destination: `https://h${n}.example.org:8443`,
      last_success_at: n % 3 === 0 ? 1 : null,
    }))
    for (let at = 0; at < rows.length; at += 1_000) {
      const some = rows.slice(at, at + 1_000)
      await db.write((tx) =>
        tx.query
          .insertInto('callback_destinations')
          .values(some as never)
          .execute(),
      )
    }
    const all = await inTurns(() => readCallbackHosts(db, 'all'))
    assert.deepEqual(
      [...all.names],
      rows.map((_, n) => `h${n}.example.org`),
    )
    assert.equal((await readCallbackHosts(db, 'accepted')).names.size, 1_000)
  })

  test('are counted without reading again those that were counted before, until some are gone', async () => {
    const { db, keeper } = await adminWorld(await open())
    const insert = (host: string) =>
      db.write((tx) =>
        tx.query
          .insertInto('callback_destinations')
          .values({ namespace_id: 'any', destination: `https://${host}` } as never)
          .execute(),
      )
    const domains = new KnownDomains()
    const count = async () => domains.count(db, await keeper.current(), 1)
    for (const host of ['a.example.org', 'b.example.org']) await insert(host)
    assert.equal(await count(), 2)
    const first = db.query.selectFrom('callback_destinations').select((eb) => eb.fn.min('id').as('id'))
    await db.write((tx) =>
      tx.query.updateTable('callback_destinations').set({ destination: 'x' }).where('id', '=', first).execute(),
    )
    await insert('c.example.org')
    await insert('x')
    assert.equal(await count(), 4, 'the host that no row has any more is remembered')
    await db.write((tx) =>
      tx.query.deleteFrom('callback_destinations').where('destination', '=', 'https://b.example.org').execute(),
    )
    assert.equal(await count(), 2, 'all are read again')
  })
})
