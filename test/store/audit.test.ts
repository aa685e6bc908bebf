import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { listAudit, streamAudit } from '../../src/platform/audit/list.ts'
import { type AuditEvent, actor, recordAudit, SYSTEM_ACTOR } from '../../src/platform/audit/record.ts'
import { purgeAudit, scheduleAuditRetention } from '../../src/platform/audit/retention.ts'
import { keysOf } from '../../src/platform/audit/store-blanking.ts'
import { type OrganizationId, operatorPrincipal } from '../../src/platform/auth/principal.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { jobBench } from '../jobs/job-bench.ts'
import { eachDatabase } from '../support/each-database.ts'
import { turnsDuring } from '../support/turns-during.ts'

async function organization(db: Database): Promise<OrganizationId> {
  const id: OrganizationId = newId()
  await db.write(async (tx) => {
    await tx.query
      .insertInto('organizations')
      .values({
        id,
        public_id: id,
        name: 'Example',
        description: null,
        disabled: 0,
        sharing: 'none',
        created_at: 1,
        modified_at: 1,
      })
      .execute()
  })
  return id
}

function event(organizationId: OrganizationId, more: Partial<AuditEvent> = {}): AuditEvent {
  return { organizationId, action: 'user.updated', actor: SYSTEM_ACTOR, target: null, ...more }
}

eachDatabase('the audit log', ({ open, engine }) => {
  it('keeps an event whole', async () => {
    const db = await open()
    const organizationId = await organization(db)
    const userId = newId<'User'>()
    const recorded = event(organizationId, {
      action: 'session.failed',
      outcome: 'failure',
      actor: { kind: 'user', id: userId, method: 'session', credentialId: 'c1' },
      target: { type: 'users', id: userId },
      changes: { name: { old: null, new: 'Ada' }, roles: { new: ['a', 'b'] } },
      client: { address: '192.0.2.1', userAgent: 'test/1', requestId: 'r1' },
      at: 1_700_000_000_000_000,
    })
    await db.write((tx) => recordAudit(tx, recorded))
    const { events, cursor } = await listAudit(db, organizationId)
    const { organizationId: _, ...rest } = recorded
    assert.deepEqual(events, [{ ...rest, id: events[0]?.id }])
    assert.equal(cursor, null)
    assert.deepEqual(actor(operatorPrincipal(organizationId)), {
      kind: 'system',
      id: null,
      method: 'cli',
      credentialId: null,
    })
  })

  it('has no event of a change that was rolled back', async () => {
    const db = await open()
    const organizationId = await organization(db)
    await assert.rejects(
      db.write(async (tx) => {
        await recordAudit(tx, event(organizationId))
        throw new Error('no')
      }),
    )
    assert.deepEqual((await listAudit(db, organizationId)).events, [])
  })

  it('refuses secrets, however deep, together with the change', async () => {
    const db = await open()
    const organizationId = await organization(db)
    const refused: NonNullable<AuditEvent['changes']>[] = [
      { password: { new: 'x' } },
      { settings: { old: {}, new: { mail: [{ smtpPassword: 'x' }] } } },
      { application_key: { old: 'x' } },
    ]
    for (const changes of refused) {
      await assert.rejects(
        db.write((tx) => recordAudit(tx, event(organizationId, { changes }))),
        (error: Error) => !error.message.includes('x"'),
      )
    }
    assert.deepEqual((await listAudit(db, organizationId)).events, [])
  })

  it('takes hostile texts of a client without harm and without their length', async () => {
    const db = await open()
    const organizationId = await organization(db)
    const userAgent = `a\0b\uD800${'x'.repeat(100_000)}`
    const changes = { title: { old: 'y'.repeat(100_000), new: 'a\0b' } }
    await db.write((tx) =>
      recordAudit(tx, event(organizationId, { changes, client: { address: null, userAgent, requestId: null } })),
    )
    const [kept] = (await listAudit(db, organizationId)).events
    assert.ok((kept?.client.userAgent?.length ?? 0) <= 512)
    assert.deepEqual(kept?.changes, { title: { omitted: true } })
  })

  it('lists newest first in pages without gaps or repeats, even where times are equal', async () => {
    const db = await open()
    const organizationId = await organization(db)
    const other = await organization(db)
    await db.write(async (tx) => {
      for (let n = 0; n < 25; n++) {
        await recordAudit(
          tx,
          event(organizationId, { target: { type: 'users', id: `u${n}` }, at: 1_000 + Math.floor(n / 10) }),
        )
        await recordAudit(tx, event(other, { at: 1_000 }))
      }
    })
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof listAudit>> = await listAudit(db, organizationId, {}, { limit: 7, cursor })
      seen.push(...page.events.map((one) => one.target?.id ?? ''))
      cursor = page.cursor
    } while (cursor !== null)
    assert.deepEqual(
      seen,
      Array.from({ length: 25 }, (_, n) => `u${24 - n}`),
    )
    assert.equal((await listAudit(db, organizationId, {}, { limit: 25 })).cursor, null)
  })

  it('filters by action, actor, target and time', async () => {
    const db = await open()
    const organizationId = await organization(db)
    await db.write(async (tx) => {
      for (let n = 0; n < 12; n++) {
        await recordAudit(
          tx,
          event(organizationId, {
            action: n % 2 === 0 ? 'user.created' : 'user.updated',
            actor: { ...SYSTEM_ACTOR, id: `a${n % 3}` },
            target: { type: 'users', id: `t${n % 4}` },
            at: 1_000 + n,
          }),
        )
      }
    })
    const times = async (filter: Parameters<typeof listAudit>[2]) =>
      (await listAudit(db, organizationId, filter, { limit: 100 })).events.map((one) => one.at - 1_000)
    assert.deepEqual(await times({ action: 'user.created' }), [10, 8, 6, 4, 2, 0])
    assert.deepEqual(await times({ actorId: 'a1' }), [10, 7, 4, 1])
    assert.deepEqual(await times({ targetId: 't3' }), [11, 7, 3])
    assert.deepEqual(await times({ from: 1_003, to: 1_005 }), [5, 4, 3])
    assert.deepEqual(await times({ action: 'user.updated', actorId: 'a1', targetId: 't3' }), [7])
    assert.deepEqual(await times({ action: `x\0' or 1=1` }), [])
  })

  it('refuses a bad limit or cursor', async () => {
    const db = await open()
    const organizationId = await organization(db)
    for (const page of [{ limit: 0 }, { limit: 1_001 }, { limit: 1.5 }, { cursor: 'x' }, { cursor: '' }]) {
      await assert.rejects(listAudit(db, organizationId, {}, page), { code: 'invalid_argument' })
    }
  })

  it('exports everything page by page, and what comes in meanwhile is not part of it', async () => {
    const db = await open()
    const organizationId = await organization(db)
    await db.write(async (tx) => {
      for (let n = 0; n < 1_203; n++) await recordAudit(tx, event(organizationId, { at: 1_000 + n }))
    })
    const times: number[] = []
    for await (const one of streamAudit(db, organizationId, { from: 1_001 })) {
      if (times.length === 700) await db.write((tx) => recordAudit(tx, event(organizationId, { at: 5_000 })))
      times.push(one.at)
    }
    assert.deepEqual(
      times,
      Array.from({ length: 1_202 }, (_, n) => 2_202 - n),
    )
    let isTurnOfOthers = false
    setImmediate(() => {
      isTurnOfOthers = true
    })
    const events = streamAudit(db, organizationId)
    while (!(await events.next()).done) if (isTurnOfOthers) return
    assert.fail('others have to wait for all of it')
  })

  it('forgets events past their retention, in every organization, once an hour', async () => {
    const db = await open()
    const bench = jobBench(db)
    const organizations = [await organization(db), await organization(db)]
    const now = bench.clock.now()
    await db.write(async (tx) => {
      for (const id of organizations) {
        for (let n = 0; n < 620; n++) await recordAudit(tx, event(id, { at: now - 2_000_000_000 - n }))
        await recordAudit(tx, event(id, { at: now - 500_000_000 }))
      }
    })
    scheduleAuditRetention(bench.engine, { db, clock: bench.clock, retentionMs: 1_000_000 })
    await bench.turn()
    for (const id of organizations) assert.equal((await listAudit(db, id, {}, { limit: 1_000 })).events.length, 1)
    await bench.clock.advance(3_600_000)
    await bench.turn()
    for (const id of organizations) assert.equal((await listAudit(db, id)).events.length, 0)
    assert.equal(await purgeAudit(db, now), 0)
  })

  it('leaves others their turn while few of very many events fit several filters', async () => {
    const db = await open()
    const organizationId = await organization(db)
    const [userId, targetId] = [newId<'User'>(), newId<'User'>()]
    const doer = { kind: 'user', id: userId, method: 'token', credentialId: null } as const
    const target = { type: 'users', id: targetId }
    const rare = event(organizationId, { action: 'user.deleted', actor: doer, target })
    // Of the same microsecond as the many, so that parts end among events of one time.
    await db.write((tx) => recordAudit(tx, { ...rare, at: 5 }))
    await multiply(db, event(organizationId, { actor: doer, at: 5 }), 12_000)
    await db.write((tx) => recordAudit(tx, { ...rare, at: 5 }))
    await db.write((tx) => recordAudit(tx, { ...rare, at: 6 }))
    await multiply(db, event(organizationId, { target, at: 7 }), 7_000)
    const asked = { action: 'user.deleted', actorId: userId }
    const turns = await turnsDuring(listAudit(db, organizationId, asked))
    if (engine === 'sqlite') assert.ok(turns >= 2, `${turns} turns`)
    for (const filter of [asked, { actorId: userId, targetId }, { ...asked, targetId }]) {
      const { events, cursor } = await listAudit(db, organizationId, filter, { limit: 2 })
      assert.deepEqual(
        events.map(({ at }) => at),
        [6, 5],
      )
      const rest = await listAudit(db, organizationId, filter, { limit: 2, cursor })
      assert.deepEqual(
        rest.events.map(({ at }) => at),
        [5],
      )
      assert.equal(rest.cursor, null)
      const { events: timed } = await listAudit(db, organizationId, { ...filter, from: 6, to: 6 })
      assert.equal(timed.length, 1)
    }
  })

  it('leaves others their turn while the keys of a person are looked for among those of everybody', async () => {
    const db = await open()
    const organizationId = await organization(db)
    const [userId, otherId] = [newId<'User'>(), newId<'User'>()]
    const made = (target: string, actorId: string, owner: string): AuditEvent =>
      event(organizationId, {
        action: 'token.created',
        actor: { kind: 'user', id: actorId, method: 'token', credentialId: null },
        target: { type: 'personal_access_tokens', id: target },
        changes: { owner: { new: owner } },
      })
    await db.write((tx) => recordAudit(tx, made('own', userId, userId)))
    await multiply(db, made('of others', otherId, otherId), 12_000)
    await db.write((tx) => recordAudit(tx, made('made for the person', otherId, userId)))
    await db.write(
      async (tx) => {
        const turns = await turnsDuring(keysOf(tx, organizationId, userId))
        if (engine === 'sqlite') assert.ok(turns >= 2, `${turns} turns`)
        assert.deepEqual(await keysOf(tx, organizationId, userId), new Set(['own', 'made for the person']))
      },
      { alone: true },
    )
  })
})

/** The same event so many times: one by one it would take a while. */
async function multiply(db: Database, one: AuditEvent, times: number): Promise<void> {
  await db.write(
    async (tx) => {
      await recordAudit(tx, one)
      const columns = sql.raw(
        `id, organization_id, at, action, outcome, actor_kind, actor_id, auth_method, credential_id, target_type, target_id, changes`,
      )
      const numbers =
        db.engine === 'sqlite'
          ? sql`(with recursive n (i) as (select 2 union all select i + 1 from n where i < ${times}) select i from n)`
          : sql`(select generate_series(2, ${times}::int))`
      await sql`
      insert into audit_events (${columns})
      select ${columns} from audit_events cross join ${numbers} as numbers
      where position = (select max(position) from audit_events)`.execute(tx.query)
    },
    { alone: true },
  )
}
