import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { listAudit } from '../../src/platform/audit/list.ts'
import { recordAudit } from '../../src/platform/audit/record.ts'
import type { Principal, UserId } from '../../src/platform/auth/principal.ts'
import { AppError } from '../../src/platform/errors/app-error.ts'
import {
  type ErasedPerson,
  PersonalData,
  type PersonalDataPart,
} from '../../src/platform/personal-data/personal-data.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { AnonymizeService } from '../../src/users/anonymize/anonymize-service.ts'
import { MailOutbox } from '../../src/users/mail/mail-outbox.ts'
import { usersPersonalData } from '../../src/users/personal-data.ts'
import { indexUsers } from '../../src/users/user/store-user-search.ts'
import { jobBench } from '../jobs/job-bench.ts'
import { accounts } from '../support/accounts.ts'
import { type DatabaseContext, eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'

const ADA = 'ada@example.org'
const CLIENT = { address: '192.0.2.77', userAgent: 'test/1', requestId: 'r' }

async function anonymizing(db: Database, ...parts: PersonalDataPart[]) {
  const clock = new FakeClock()
  const account = await accounts(db, clock)
  const bench = jobBench(db, { clock })
  const personalData = new PersonalData()
  personalData.join(...usersPersonalData({ clock }), ...parts)
  const deps = { ...account, jobs: bench.engine, log: silentLogger(), personalData }
  const service = new AnonymizeService(deps)
  service.registerJobs()
  const as = (userId: UserId): Principal => ({ ...account.operator, kind: 'user', userId })
  return { ...account, clock, bench, service, personalData, as, outbox: new MailOutbox(account) }
}

/** How many rows of each table are the person's. */
async function ownedRows(db: Database, userId: UserId): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of [
    'user_passwords',
    'user_totp',
    'recovery_codes',
    'user_links',
    'sessions',
    'access_tokens',
    'application_keys',
    'mails',
    'user_roles',
  ] as const) {
    counts[table] = (await db.query.selectFrom(table).select('user_id').where('user_id', '=', userId).execute()).length
  }
  return counts
}

eachDatabase('anonymization', ({ open, openAgain, engine }: DatabaseContext) => {
  it('removes every credential, mail, link and role, and keeps the rows of invitations', async () => {
    const db = await open()
    const { service, operator, person, enrolled, outbox, clock } = await anonymizing(db)
    const id = await person(ADA, 'standard')
    await enrolled(ADA)
    const key = { id: 'k', user_id: id, name: 'n', name_key: 'n', last4: 'last', scopes: null, created_at: 1 }
    const link = { id: 'l', user_id: id, purpose: 'setup' as const, email: ADA, created_at: 1, expires_at: 2 }
    const invitation = {
      organization_id: operator.organizationId,
      user_id: id,
      invited_by: null,
      delivery: 'queued' as const,
      created_at: clock.now(),
      accepted_at: null,
    }
    const later = clock.now() + 1_000_000_000
    await db.write(async (tx) => {
      const secrets = { secret_hash: 'h', last_used_at: null }
      await tx.query
        .insertInto('application_keys')
        .values({ ...key, ...secrets })
        .execute()
      const token = { ...key, ...secrets, public_portion: 'p', expires_at: null }
      await tx.query.insertInto('access_tokens').values(token).execute()
      await tx.query
        .insertInto('user_links')
        .values({ ...link, token_hash: 'h' })
        .execute()
      for (const [name, state, expiresAt] of [
        ['open', 'pending', later],
        ['expired', 'pending', 1],
        ['accepted', 'accepted', later],
      ] as const) {
        const row = { ...invitation, id: name as never, state, token_hash: name, expires_at: expiresAt }
        await tx.query.insertInto('user_invitations').values(row).execute()
      }
    })
    await db.write((tx) => outbox.queuePasswordReset(tx, { id, email: ADA }))
    const before = await ownedRows(db, id)
    for (const [table, count] of Object.entries(before)) assert.ok(count > 0, `${table} has a row to lose`)
    const { anonymized } = await service.anonymize(operator, [id])
    assert.deepEqual(anonymized, [id])
    for (const [table, count] of Object.entries(await ownedRows(db, id))) assert.equal(count, 0, table)
    const invitations = await db.query
      .selectFrom('user_invitations')
      .select(['id', 'state', 'token_hash'])
      .orderBy('id')
      .execute()
    assert.deepEqual(
      invitations.map((row) => [row.id, row.state, row.token_hash]),
      [
        ['accepted', 'accepted', null],
        ['expired', 'pending', null],
        ['open', 'revoked', null],
      ],
    )
  })

  it('is told the addresses that the person had in between, but none that somebody else has now', async () => {
    const told: (readonly string[])[] = []
    const part = {
      name: 'test',
      erase: async (_tx: unknown, person: ErasedPerson) => void told.push(person.formerEmails),
    }
    const { service, operator, person, users } = await anonymizing(await open(), part)
    const id = await person(ADA)
    for (const name of ['second', 'third', 'fourth']) {
      await users.update(operator, { userId: id, email: `${name}@example.org` })
    }
    await person('second@example.org')
    for (let again = 0; again < 2; again++) await service.anonymize(operator, [id])
    assert.deepEqual(
      told.map((emails) => emails.toSorted()),
      [[ADA, 'fourth@example.org', 'third@example.org'], []],
    )
  })

  it('blanks what names the person in the log, and nothing of others', async () => {
    const db = await open()
    const { service, operator, person, as, organizationId, users } = await anonymizing(db)
    const [ada, bob] = [await person(ADA), await person('bob@example.org')]
    await users.disable(as(bob), { userId: ada }, CLIENT)
    const event = { organizationId, client: CLIENT, changes: { name: { old: 'Ada', new: 'Bea' } } }
    const by = (userId: UserId | null) => ({ kind: 'user' as const, id: userId, method: 'token', credentialId: 'c' })
    const about = (id: string) => ({ type: 'users', id })
    await db.write(async (tx) => {
      await recordAudit(tx, { ...event, action: 't.by_ada', actor: by(ada), target: about(bob) })
      await recordAudit(tx, { ...event, action: 't.about_ada', actor: by(bob), target: about(ada) })
      await recordAudit(tx, { ...event, action: 't.unknown', actor: by(null), target: about(ada) })
      await recordAudit(tx, { ...event, action: 't.others', actor: by(bob), target: about(bob) })
      const key = { type: 'application_keys', id: 'key of ada' }
      await recordAudit(tx, { ...event, action: 'key.created', actor: by(ada), target: key })
      await recordAudit(tx, { ...event, action: 'key.updated', actor: by(bob), target: key })
    })
    await service.anonymize(operator, [ada])
    const { events } = await listAudit(db, organizationId, {}, { limit: 100 })
    const of = (action: string) => {
      const one = events.find((found) => found.action === action && found.client.requestId === 'r')
      return [one?.changes, one?.client.address, one?.client.userAgent, one?.client.requestId]
    }
    const blank = { name: {} }
    assert.deepEqual(of('t.by_ada'), [blank, null, null, 'r'])
    assert.deepEqual(of('t.about_ada'), [blank, '192.0.2.77', 'test/1', 'r'])
    assert.deepEqual(of('t.unknown'), [blank, null, null, 'r'])
    assert.deepEqual(of('t.others'), [event.changes, '192.0.2.77', 'test/1', 'r'])
    assert.deepEqual(of('key.created'), [blank, null, null, 'r'])
    assert.deepEqual(of('key.updated'), [blank, '192.0.2.77', 'test/1', 'r'])
    const created = events.filter((one) => one.action === 'user.disabled')
    assert.deepEqual(created[0]?.changes, { status: {} })
    assert.deepEqual(created[0]?.actor.id, bob)
  })

  it('blanks what others called the tokens and keys of the person, also those that are gone', async () => {
    const db = await open()
    const { service, operator, person, organizationId, users, credentials, clock } = await anonymizing(db)
    const [ada, bob] = [await person(ADA), await person('bob@example.org')]
    const expiresAt = clock.now() + 1_000_000_000
    for (const userId of [ada, bob]) {
      const named = { userId, name: `of ${userId}`, scopes: null }
      await credentials.createToken(operator, { ...named, expiresAt })
      const { applicationKey } = await credentials.createKeyPair(operator, named)
      await credentials.revoke(operator, { id: applicationKey.id })
      await users.disable(operator, { userId })
    }
    await service.anonymize(operator, [ada])
    const { events } = await listAudit(db, organizationId, {}, { limit: 100 })
    const made = events.filter(({ changes }) => 'owner' in changes)
    const blank = { owner: {}, name: {}, scopes: {} }
    const bobs = { owner: { new: bob }, name: { new: `of ${bob}` }, scopes: { new: null } }
    assert.deepEqual(
      made.map(({ changes }) => changes),
      [bobs, bobs, blank, blank],
    )
  })

  it('reaches every event of somebody who did a lot, and copes with any value', async () => {
    const db = await open()
    const { service, operator, person, organizationId } = await anonymizing(db)
    const ada = await person(ADA)
    const actor = { kind: 'user' as const, id: ada, method: 'token', credentialId: null }
    const values = [null, 7, 'a\0b"\\', ['x', { y: 1 }], { deep: { er: true } }, 'ü'.repeat(100)]
    await db.write(
      async (tx) => {
        for (let n = 0; n < 1_203; n++) {
          const changes = { attribute: { new: values[n % values.length] }, other: {} }
          await recordAudit(tx, {
            organizationId,
            action: 't.many',
            actor,
            target: null,
            changes,
            client: CLIENT,
            at: 7,
          })
        }
      },
      { alone: true },
    )
    await service.anonymize(operator, [ada])
    const left = await db.query
      .selectFrom('audit_events')
      .select(['changes', 'client_address', 'user_agent'])
      .where('action', '=', 't.many')
      .distinct()
      .execute()
    assert.equal(left.length, 1)
    assert.deepEqual(JSON.parse(left[0]?.changes as string), { attribute: {}, other: {} })
    assert.deepEqual([left[0]?.client_address, left[0]?.user_agent], [null, null])
  })

  it('erases once more what arrives while it is under way', async () => {
    const db = await open()
    const { service, operator, person, organizationId, bench, clock } = await anonymizing(db)
    const ada = await person(ADA)
    await service.anonymize(operator, [ada])
    const actor = { kind: 'user' as const, id: ada, method: 'session', credentialId: null }
    await db.write(async (tx) => {
      const changes = { name: { old: 'Ada' } }
      await recordAudit(tx, { organizationId, action: 't.late', actor, target: null, changes, client: CLIENT })
      const link = { id: 'late', user_id: ada, purpose: 'setup' as const, token_hash: 'late', email: ADA }
      await tx.query
        .insertInto('user_links')
        .values({ ...link, created_at: 1, expires_at: 2 })
        .execute()
    })
    await clock.advance(2_001)
    await bench.turn()
    const { events } = await listAudit(db, organizationId, { action: 't.late' })
    assert.deepEqual([events[0]?.changes, events[0]?.client.address], [{ name: {} }, null])
    assert.equal((await ownedRows(db, ada)).user_links, 0)
    const [told] = (await listAudit(db, organizationId, { action: 'user.anonymized' })).events
    assert.deepEqual(Object.keys(told?.changes.anonymization as object), ['new'])
    await clock.advance(2_001)
    await bench.turn()
    assert.deepEqual(await bench.rows(), [])
  })

  it('lets a feature join with what it keeps, and undoes one user alone when that fails', async () => {
    const db = await open()
    const erased: UserId[] = []
    const part: PersonalDataPart = {
      name: 'notes',
      async erase(tx, { id, email }) {
        assert.ok(tx.isTransaction)
        if (email === 'broken@example.org') throw new Error('cannot be erased')
        erased.push(id)
      },
      async *exportOf(_reader, { email }) {
        yield { about: email }
        yield 2
      },
    }
    const { service, operator, person, personalData, organizationId } = await anonymizing(db, part)
    const [ada, broken, bob] = [await person(ADA), await person('broken@example.org'), await person('bob@example.org')]
    const outcome = await service.anonymize(operator, [ada, broken, bob])
    assert.deepEqual(outcome.anonymized, [ada, bob])
    assert.deepEqual(outcome.errors, [{ userId: broken, error: 'Internal error' }])
    assert.deepEqual(new Set(erased), new Set([ada, bob]))
    const row = await db.query.selectFrom('users').selectAll().where('id', '=', broken).executeTakeFirstOrThrow()
    assert.equal(row.email, 'broken@example.org')
    assert.equal((await ownedRows(db, broken)).user_passwords, 1)
    const someone = { id: broken, organizationId, email: row.email, handle: row.handle }
    let text = ''
    for await (const piece of personalData.exportMembers(db, someone)) text += piece
    assert.deepEqual(JSON.parse(`{${text}}`).notes, [{ about: 'broken@example.org' }, 2])
    assert.throws(() => personalData.join(part), /notes/)
  })

  it('says so when a user can be anonymized later: others changed the same, or storage does not answer', async () => {
    const db = await open()
    const causes = [new AppError('aborted', 'Too many changes: repeat'), new AppError('unavailable', 'Storage is away')]
    const { service, operator, person } = await anonymizing(db, {
      name: 'notes',
      async erase() {
        throw causes.shift() ?? new Error('a defect')
      },
      async *exportOf() {},
    })
    const ada = await person(ADA)
    const said = async () => (await service.anonymize(operator, [ada])).errors.map(({ error }) => error)
    assert.deepEqual(await said(), ['Too many changes: repeat'])
    assert.deepEqual(await said(), ['Storage is away'])
    assert.deepEqual(await said(), ['Internal error'])
  })

  it('leaves one of two administrators who anonymize each other at the same moment', async () => {
    const db = await open()
    const { service, person, as, operator, administratorId, clock, changes } = await anonymizing(db)
    const personalData = new PersonalData()
    personalData.join(...usersPersonalData({ clock }))
    for (let round = 0; round < 3; round++) {
      const [a, b] = [await person(`a${round}@example.org`, 'admin'), await person(`b${round}@example.org`, 'admin')]
      if (round === 0) await service.anonymize(operator, [administratorId])
      const other = await openAgain(db)
      const { engine: jobs } = jobBench(other, { clock })
      const elsewhere = new AnonymizeService({ db: other, clock, changes, jobs, log: silentLogger(), personalData })
      const outcomes = await Promise.all([service.anonymize(as(a), [b]), elsewhere.anonymize(as(b), [a])])
      assert.equal(outcomes.flatMap(({ anonymized }) => anonymized).length, round === 0 ? 1 : 2)
      if (round > 0) continue
      assert.deepEqual(
        outcomes.flatMap(({ errors }) => errors.map(({ error }) => error)),
        ['The last administrator cannot be anonymized'],
      )
    }
  })

  it('takes the person out of the search index, down to the last three letters', {
    skip: engine !== 'sqlite',
  }, async () => {
    const db = await open()
    const { service, operator, users } = await anonymizing(db)
    const { id } = await users.create(operator, { email: 'xqzw@example.org', name: 'Ⰰⰱⰲⰳⰴ Ꙁꙁꙃ' })
    for (let n = 0; n < 50; n++) await users.create(operator, { email: `other${n}@example.org`, name: `Other ${n}` })
    await db.write((tx) => indexUsers(tx, 1_000))
    await service.anonymize(operator, [id])
    await db.write(async (tx) => {
      await sql`create virtual table temp.words using fts5vocab (main, users_search, row)`.execute(tx.query)
      const { rows } = await sql<{ term: string }>`select term from temp.words`.execute(tx.query)
      const terms = rows.map(({ term }) => term)
      assert.ok(terms.includes('oth') && terms.includes('ano'))
      assert.deepEqual(
        terms.filter((term) => /[ⰰ-ⱞꙀ-ꙭ]|xqz/iu.test(term)),
        [],
      )
      await sql`insert into users_search (users_search) values ('integrity-check')`.execute(tx.query)
    })
  })
})
