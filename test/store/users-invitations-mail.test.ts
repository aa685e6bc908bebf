import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { it } from 'node:test'
import type { Database } from '../../src/platform/storage/database.ts'
import { confirmEmail } from '../../src/users/invitation/email-verification.ts'
import { deleteMailsOf } from '../../src/users/mail/store-mails.ts'
import { findUser } from '../../src/users/user/store-users.ts'
import type { User } from '../../src/users/user/user.ts'
import { PASSWORD } from '../support/accounts.ts'
import { eachDatabase } from '../support/each-database.ts'
import { invitationBench, PUBLIC_URL } from '../support/invitations.ts'
import { type ReceivedMail, startMailServer, tokenIn } from '../support/mail-server.ts'

const SYSTEM = { kind: 'system' as const, id: null, method: 'cli', credentialId: null }

/** Every row of every table that a mail could leave something in. */
async function everything(db: Database): Promise<string> {
  const tables = ['mails', 'jobs', 'user_invitations', 'user_links', 'audit_events'] as const
  const rows = await Promise.all(tables.map((table) => db.query.selectFrom(table).selectAll().execute()))
  return JSON.stringify(rows)
}

eachDatabase('mail', ({ open }) => {
  it('carries an invitation to its user, whose link accepts it', async () => {
    await using server = await startMailServer()
    const bench = await invitationBench(await open(), { smtp_url: server.url, mail_from: 'Us <us@example.org>' })
    const { db, administratorId, operator, pending, invite, invitations } = bench
    await db.write((tx) =>
      tx.query
        .updateTable('users')
        .set({ name: 'Grace\r\nBcc: eve@example.org' })
        .where('id', '=', administratorId)
        .execute(),
    )
    const id = await pending('ada@example.org')
    const { invitation } = await invite(id, { ...operator, kind: 'user', userId: administratorId })
    assert.equal(invitation.delivery, 'queued')
    await bench.bench.turn()
    const mail = await server.next()
    assert.deepEqual([mail.from, mail.to], ['us@example.org', ['ada@example.org']])
    assert.match(mail.headers.get('subject') ?? '', /^Grace Bcc: eve@example\.org invites you to /)
    assert.equal(mail.headers.has('bcc'), false)
    assert.equal(mail.headers.get('auto-submitted'), 'auto-generated')
    const token = tokenIn(mail)
    assert.ok(mail.text.includes(`${PUBLIC_URL}/invite#token=${token}`))
    assert.ok(mail.html.includes(`href="${PUBLIC_URL}/invite#token=${token}"`))
    assert.equal((await invitations.get(operator, { id: invitation.id })).delivery, 'sent')
    const { user } = await invitations.accept({ token, password: PASSWORD })
    assert.deepEqual([user.id, user.status], [id, 'Active'])
  })

  it('leaves neither token nor address behind, before or after it is sent', async () => {
    await using server = await startMailServer()
    const { db, bench, pending, invite } = await invitationBench(await open(), { smtp_url: server.url })
    await invite(await pending('ada@example.org'))
    const [fresh] = await db.query.selectFrom('user_invitations').select('token_hash').execute()
    assert.equal(fresh?.token_hash, null)
    await bench.turn()
    const left = await everything(db)
    assert.equal(left.includes(tokenIn(await server.next())), false)
    assert.equal(left.includes('ada@example.org'), false)
    const [row] = await db.query.selectFrom('mails').selectAll().execute()
    assert.deepEqual([row?.state, row?.recipient, row?.last_error], ['sent', '', null])
  })

  it('is tried again after 30 s, 60 s, 120 s and 240 s, and arrives when the server is back', async () => {
    const server = await startMailServer()
    await server.stop()
    const { clock, operator, bench, pending, invite, invitations } = await invitationBench(await open(), {
      smtp_url: server.url,
    })
    const { invitation } = await invite(await pending('ada@example.org'))
    await bench.turn()
    for (const seconds of [30, 60, 120]) {
      const [job] = (await bench.rows()).filter(({ kind }) => kind === 'users.mail')
      assert.match(job?.last_error ?? '', /^MailFailure: The mail server cannot be reached/)
      assert.equal(Math.round(((job?.due_at ?? 0) - clock.now()) / 1e6), seconds)
      await clock.advance(seconds * 1_000 - 1_000)
      await bench.turn()
      assert.equal((await bench.rows()).find(({ id }) => id === job?.id)?.attempt, job?.attempt)
      await clock.advance(2_000)
      await bench.turn()
    }
    await using back = await startMailServer({ port: server.port })
    assert.equal((await invitations.get(operator, { id: invitation.id })).delivery, 'queued')
    await clock.advance(241_000)
    await bench.turn()
    await invitations.lookUp({ token: tokenIn(await back.next()) })
    assert.equal((await invitations.get(operator, { id: invitation.id })).delivery, 'sent')
  })

  it('is given up after five attempts: the invitation says so and so does the audit log', async () => {
    await using server = await startMailServer()
    server.refuse('no such mailbox')
    const { db, clock, operator, bench, pending, invite, invitations, actions } = await invitationBench(await open(), {
      smtp_url: server.url,
    })
    const { invitation } = await invite(await pending('ada@example.org'))
    for (let attempt = 1; attempt <= 7; attempt++) {
      await bench.turn()
      await clock.advance(600_000)
    }
    assert.equal(server.connections(), 5)
    assert.equal((await invitations.get(operator, { id: invitation.id })).delivery, 'failed')
    assert.deepEqual(await actions(), ['invitation.sent', 'invitation.delivery_failed'])
    assert.equal(
      (await bench.rows()).some(({ kind }) => kind === 'users.mail'),
      false,
    )
    const left = await everything(db)
    assert.match(left, /refused the sender or the recipient \(550\)/)
    assert.equal(left.includes('ada@example.org'), false)
  })

  it('logs in when the address says so, and a wrong password shows up nowhere', async () => {
    await using server = await startMailServer({ auth: { user: 'mailer', pass: 'right: password' } })
    const db = await open()
    const bench = await invitationBench(db, { smtp_url: server.url })
    await bench.invite(await bench.pending('ada@example.org'))
    await bench.bench.turn()
    await server.next()

    const wrong = await invitationBench(await open(), {
      smtp_url: `smtp://mailer:wrong-secret@127.0.0.1:${server.port}`,
    })
    await wrong.invite(await wrong.pending('ada@example.org'))
    await wrong.bench.turn()
    const left = await everything(wrong.db)
    assert.match(left, /refused the user name or password \(535\)/)
    assert.doesNotMatch(left, /wrong-secret|mailer/)
    assert.equal(server.mails.length, 1)
  })

  it('is not sent over an unencrypted connection when the operator forbids it', async () => {
    await using server = await startMailServer()
    const { db, bench, pending, invite } = await invitationBench(await open(), {
      smtp_url: `${server.url}?require_tls=true`,
    })
    await invite(await pending('ada@example.org'))
    await bench.turn()
    assert.deepEqual([server.connections(), server.mails.length], [1, 0])
    assert.match(await everything(db), /offers no encrypted connection/)
  })

  it('is tried again later when the server accepts a connection and then says nothing', async () => {
    await using silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const { clock, bench, pending, invite } = await invitationBench(await open(), {
      smtp_url: `smtp://127.0.0.1:${port}`,
    })
    await invite(await pending('ada@example.org'))
    const connected = once(silent, 'connection')
    await bench.engine.tick()
    const [socket] = (await connected) as [Socket]
    socket.resume()
    const closed = once(socket, 'close')
    await clock.advance(90_000)
    await bench.engine.whenIdle()
    await closed
    const job = (await bench.rows()).find(({ kind }) => kind === 'users.mail')
    assert.deepEqual([job?.state, job?.attempt], ['waiting', 1])
  })

  it('is withdrawn with its invitation', async () => {
    await using server = await startMailServer()
    const { db, operator, bench, pending, invite, invitations } = await invitationBench(await open(), {
      smtp_url: server.url,
    })
    const id = await pending('ada@example.org')
    const first = await invite(id)
    await invite(id)
    await bench.turn()
    assert.equal(server.mails.length, 1)
    assert.equal((await invitations.get(operator, { id: first.invitation.id })).delivery, 'failed')
    await invite(id)
    await db.write((tx) => deleteMailsOf(tx, id))
    await bench.turn()
    assert.equal(server.connections(), 1)
  })

  it('is not sent when its user was disabled or its time ran out meanwhile', async () => {
    await using server = await startMailServer()
    const { db, clock, operator, bench, pending, invite, invitations } = await invitationBench(await open(), {
      smtp_url: server.url,
      invitation_ttl: 1_000,
    })
    const { invitation } = await invite(await pending('late@example.org'))
    const disabled = await pending('disabled@example.org')
    await invite(disabled)
    await db.write((tx) =>
      tx.query.updateTable('users').set({ status: 'Disabled' }).where('id', '=', disabled).execute(),
    )
    await clock.advance(2_000)
    await bench.turn()
    assert.equal(server.connections(), 0)
    assert.equal((await invitations.get(operator, { id: invitation.id })).delivery, 'failed')
  })

  it('asks a new address for proof and tells the old one', async () => {
    await using server = await startMailServer()
    const bench = await invitationBench(await open(), { smtp_url: server.url })
    const { db, clock, organizationId, person, changeEmail } = bench
    const before = (await findUser(db, organizationId, await person('old@example.org'))) as User
    const after = { ...before, email: 'new@example.org', verified: false }
    await db.write((tx) =>
      tx.query.updateTable('users').set({ email: after.email, verified: 0 }).where('id', '=', before.id).execute(),
    )
    await changeEmail({ before, after, actor: SYSTEM })
    await bench.bench.turn()
    const mails = new Map((await Promise.all([server.next(), server.next()])).map((mail) => [mail.to[0], mail]))
    assert.match(mails.get('old@example.org')?.text ?? '', /was changed/)
    assert.equal(mails.get('old@example.org')?.source.includes('new@example.org'), false)
    const proof = mails.get('new@example.org') as ReceivedMail
    assert.ok(proof.text.includes(`${PUBLIC_URL}/verify-email#token=`))
    const token = tokenIn(proof)
    await assert.rejects(confirmEmail({ db, clock }, { token: token.toLowerCase() }), /Verification is not valid/)
    const user = await confirmEmail({ db, clock }, { token })
    assert.deepEqual([user.id, user.verified], [before.id, true])
    await assert.rejects(confirmEmail({ db, clock }, { token }), /Verification is not valid/)
  })

  it('proves no address that was changed again', async () => {
    await using server = await startMailServer()
    const bench = await invitationBench(await open(), { smtp_url: server.url })
    const { db, clock, organizationId, outbox, person } = bench
    const user = (await findUser(db, organizationId, await person('one@example.org'))) as User
    await db.write((tx) => outbox.queueEmailVerification(tx, user))
    await bench.bench.turn()
    const token = tokenIn(await server.next())
    await db.write((tx) =>
      tx.query.updateTable('users').set({ email: 'two@example.org' }).where('id', '=', user.id).execute(),
    )
    await assert.rejects(confirmEmail({ db, clock }, { token }), /Verification is not valid/)
    await db.write((tx) => outbox.queueEmailVerification(tx, user))
    await bench.bench.turn()
    assert.equal(server.mails.length, 1)
  })

  it('carries only the newest of several links to a new password, which sets it', async () => {
    await using server = await startMailServer()
    const bench = await invitationBench(await open(), { smtp_url: server.url })
    const { db, outbox, organizationId, person, passwords, signIn } = bench
    const user = (await findUser(db, organizationId, await person('ada@example.org'))) as User
    for (let i = 0; i < 3; i++) await db.write((tx) => outbox.queuePasswordReset(tx, user))
    await bench.bench.turn()
    assert.equal(server.mails.length, 1)
    const mail = await server.next()
    assert.match(mail.text, /reset-password#token=/)
    await passwords.confirmReset({ token: tokenIn(mail), password: 'another good password' })
    await signIn('ada@example.org', null, 'another good password')
  })

  it('is never queued without a mail server', async () => {
    const { db, clock, organizationId, pending, outbox } = await invitationBench(await open(), { smtp_url: null })
    const user = (await findUser(db, organizationId, await pending('ada@example.org'))) as User
    await db.write(async (tx) => {
      await outbox.queuePasswordReset(tx, user)
      await outbox.queueEmailVerification(tx, user)
    })
    assert.equal((await db.query.selectFrom('mails').selectAll().execute()).length, 0)
    assert.ok(clock.now() > 0)
  })

  it('is forgotten after thirty days, and a link when it has expired', async () => {
    await using server = await startMailServer()
    const bench = await invitationBench(await open(), { smtp_url: server.url })
    const { db, clock, organizationId, outbox, person } = bench
    const user = (await findUser(db, organizationId, await person('ada@example.org'))) as User
    await db.write((tx) => outbox.queuePasswordReset(tx, user))
    await bench.bench.turn()
    const counts = async () => [
      (await db.query.selectFrom('mails').selectAll().execute()).length,
      (await db.query.selectFrom('user_links').selectAll().execute()).length,
    ]
    assert.deepEqual(await counts(), [1, 1])
    await clock.advance(2 * 3_600_000)
    await bench.bench.turn()
    assert.deepEqual(await counts(), [1, 0])
    await clock.advance(31 * 86_400_000)
    await bench.bench.turn()
    assert.deepEqual(await counts(), [0, 0])
  })
})
