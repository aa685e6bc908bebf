import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { betweenQuestions } from '../support/between-questions.ts'
import { type MailServer, startMailServer, tokenIn } from '../support/mail-server.ts'
import { type People, peopleIn } from '../support/people.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const PATH = '/api/v2/user_invitations'
const PASSWORD = 'a password for tests'

describe('a server with a mail server', () => {
  let mail: MailServer
  let server: TestServer
  let db: Database
  let people: People
  let admin: TestClient
  before(async () => {
    mail = await startMailServer({ auth: { user: 'mailer', pass: 'smtp-password' } })
    server = await startServer({
      mode: 'serve',
      env: {
        COMMONPLACE_BASE_URL: 'https://commonplace.example.org',
        COMMONPLACE_USERS__SMTP_URL: mail.url,
        COMMONPLACE_LOG_LEVEL: 'debug',
      },
    })
    db = await openDatabase({ dataDir: server.dataDir, clock: new SystemClock(), log: silentLogger() })
    people = await peopleIn(db)
    admin = client(server)
  })
  after(async () => {
    await db.close()
    await server.stop()
    await mail.stop()
  })

  function invite(userId: string) {
    const user = { data: { id: userId, type: 'users' } }
    return admin.post(PATH, 201, { body: { data: [{ type: 'user_invitations', relationships: { user } }] } })
  }

  /** Asks until the mail is settled, which happens right after it arrived. */
  async function deliveryOf(id: string): Promise<string> {
    for (;;) {
      const { body } = await admin.get(`${PATH}/${id}`, 200)
      if (body.data.attributes.delivery !== 'queued') return body.data.attributes.delivery
      await betweenQuestions()
    }
  }

  test('sends the invitation at once, answers no link, and the link of the mail lets its reader in', async () => {
    const userId = await people.pending('ada@example.org')
    const { body, text } = await invite(userId)
    assert.equal(body.data[0].attributes.delivery, 'queued')
    assert.equal('meta' in body, false)
    assert.doesNotMatch(text, /token/)
    const received = await mail.next()
    assert.deepEqual([received.from, received.to], ['noreply@commonplace.example.org', ['ada@example.org']])
    assert.match(received.text, /https:\/\/commonplace\.example\.org\/invite#token=/)
    assert.equal(await deliveryOf(body.data[0].id), 'sent')
    const attributes = { token: tokenIn(received), password: PASSWORD }
    const acceptance = { body: { data: { type: 'invitation_acceptances', attributes } } }
    const accepted = await admin.as('none').post(`${PATH}/accept`, 200, acceptance)
    assert.equal(accepted.body.data.id, userId)
  })

  test('sends a link to a new password, which works once', async () => {
    const userId = await people.active('forgetful@example.org')
    const anybody = admin.as('none')
    const asked = { body: { data: { type: 'password_resets', attributes: { email: 'forgetful@example.org' } } } }
    await anybody.post('/api/v2/auth/password_resets', 202, asked)
    const attributes = { token: tokenIn(await mail.next()), password: PASSWORD }
    const confirmed = { body: { data: { type: 'password_resets', attributes } } }
    const { body } = await anybody.post('/api/v2/auth/password_resets/confirm', 200, confirmed)
    assert.equal(body.data.id, userId)
    await anybody.post('/api/v2/auth/password_resets/confirm', 404, confirmed)
  })

  test('tries ten tokens a minute from one address and no more', async () => {
    const body = { data: { type: 'invitation_tokens', attributes: { token: 'A'.repeat(43) } } }
    const statuses: number[] = []
    // Two windows at most: the minute may end in between.
    for (let i = 0; i < 21; i++) {
      const response = await fetch(`${server.url}${PATH}/lookup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      statuses.push(response.status)
    }
    assert.ok(statuses.includes(429))
    assert.ok(statuses.every((status) => status === 404 || status === 429))
  })

  test('never logs an address, a token, or the password of the mail server', () => {
    const lines = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
    assert.ok(lines.some((line) => line.includes('users.mail')))
    const secrets = /[a-z]@example\.org|smtp-password|mailer|token=/
    assert.deepEqual(
      lines.filter((line) => secrets.test(line)),
      [],
    )
  })
})
