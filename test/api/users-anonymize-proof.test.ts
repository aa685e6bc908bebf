// The promise of anonymization, checked from outside: a person uses everything there is, is anonymized, and then no
// byte of the database and of the log names it.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../../src/platform/storage/database.ts'
import type { Engine } from '../../src/platform/storage/engine.ts'
import { stepAt, totpCode } from '../../src/users/sign-in/totp.ts'
import { fromBase32 } from '../support/accounts.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import { type MailServer, startMailServer, tokenIn } from '../support/mail-server.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const PERSON = {
  name: 'Zybrînka Quoxvale',
  renamed: 'Zybrînka Quoxvale-Wumpf',
  email: 'Zybrinka.Quoxvale@Flomberg.example',
  secondEmail: 'zyq@grmpfdorf.example',
  thirdEmail: 'zyqu@flomberg.example',
  title: 'Chief Blorptologist',
  keyName: 'Quoxvale travel laptop',
  tokenName: 'zybri ci token',
  renamedKey: 'Quoxvale desk machine',
  address: '203.0.113.177',
  userAgent: 'WumpfBrowser/97.3',
}
const PASSWORD = 'a password for tests'

/** Every text, its parts and its usual disguises. */
function needles(): Buffer[] {
  const texts = Object.values(PERSON).flatMap((text) => [text, text.toLowerCase()])
  const parts = ['zybr', 'Zybr', 'quoxvale', 'Quoxvale', 'flomberg', 'grmpfdorf', 'lorptologist', 'WumpfBrowser']
  const all = [...texts, ...parts]
  return [
    ...all.map((text) => Buffer.from(text)),
    ...all.map((text) => Buffer.from(text, 'utf16le')),
    ...all.map((text) => Buffer.from(encodeURIComponent(text))),
    ...all.map((text) => Buffer.from(Buffer.from(text).toString('hex'))),
    ...all.flatMap(base64Forms),
    Buffer.from('Zybr\\u00eenka'),
  ].filter(({ length }) => length >= 4)
}

/** A text inside a longer one that is base64: three ways to begin, without the characters that its neighbours change. */
function base64Forms(text: string): Buffer[] {
  return [0, 1, 2].flatMap((shift) => {
    const coded = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)]).toString('base64url')
    const inner = coded.slice(shift === 0 ? 0 : shift + 1, -2)
    return inner.length < 8 ? [] : [Buffer.from(inner), Buffer.from(inner.replaceAll('-', '+').replaceAll('_', '/'))]
  })
}

function found(bytes: Buffer): string[] {
  return needles()
    .filter((needle) => bytes.includes(needle))
    .map((needle) => needle.toString())
}

/** The file, its log and everything else in the data directory. */
function filesOf(dataDir: string): Buffer {
  const names = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return Buffer.concat(names.map((one) => readFileSync(join(one.parentPath, one.name))))
}

async function rowsOf(db: Database): Promise<Buffer> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'`.execute(db.query)
  assert.ok(tables.length > 20)
  const texts: Buffer[] = []
  for (const { name } of tables) {
    const { rows } = await sql<object>`select * from ${sql.table(name)}`.execute(db.query)
    for (const value of rows.flatMap((row) => Object.values(row))) {
      texts.push(Buffer.isBuffer(value) ? value : Buffer.from(`${JSON.stringify(value)}\n${value}\n`))
    }
  }
  return Buffer.concat(texts)
}

/** So many others that pages are split around the person. */
async function crowd({ db, operator, users }: Callers, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const word = randomBytes(10).toString('hex')
    await users.create(operator, { email: `${word}@example.org`, name: `${word} ${n}` })
  }
  await db.ping()
}

/** Everything that a person can do and have done to it. */
async function live(server: TestServer, admin: TestClient, mail: MailServer): Promise<string> {
  const headers = { 'x-forwarded-for': PERSON.address, 'user-agent': PERSON.userAgent }
  const nobody = { ...admin.as('none') }
  const create = {
    data: { type: 'users', attributes: { email: PERSON.email, name: PERSON.name, title: PERSON.title } },
  }
  const keyed = { body: create, headers: { 'idempotency-key': 'create' } }
  const id: string = (await admin.post('/api/v2/users', 201, keyed)).body.data.id
  await admin.post('/api/v2/users', 409, { body: create, headers: { 'idempotency-key': 'create-again' } })
  const roles = (await admin.get('/api/v2/roles?filter=standard', 200)).body.data
  const member = { body: { data: { type: 'users', id } }, headers: { 'idempotency-key': 'member' } }
  await admin.post(`/api/v2/roles/${roles[0].id}/users`, 200, member)

  const invitation = [{ type: 'user_invitations', relationships: { user: { data: { type: 'users', id } } } }]
  await admin.post('/api/v2/user_invitations', 201, { body: { data: invitation } })
  const token = tokenIn(await mail.next())
  const accept = { type: 'invitation_acceptances', attributes: { token, password: PASSWORD, name: PERSON.renamed } }
  await nobody.post('/api/v2/user_invitations/accept', 200, { body: { data: accept }, headers })

  const signIn = (password: string, totp?: string) => ({
    body: { data: { type: 'sign_ins', attributes: { email: PERSON.email, password, totp } } },
    headers,
  })
  await nobody.post('/api/v2/auth/sign_in', 401, signIn('not the password'))
  const session = (await nobody.post('/api/v2/auth/sign_in', 200, signIn(PASSWORD))).body.meta.session
  const self = admin.as({ headers: { authorization: `Bearer ${session.token}`, ...headers } })
  const enrolment = (await self.post('/api/v2/current_user/totp', 201)).body.data.attributes
  const code = totpCode(fromBase32(enrolment.secret), stepAt(Date.now() * 1_000))
  const confirm = { data: { type: 'totp_enrollments', attributes: { code } } }
  await self.post('/api/v2/current_user/totp/confirm', 200, { body: confirm })

  const key = { data: { type: 'application_keys', attributes: { name: PERSON.keyName } } }
  const made = await self.post('/api/v2/current_user/application_keys', 201, {
    body: key,
    headers: { 'idempotency-key': 'key' },
  })
  const renamed = { data: { type: 'application_keys', id: made.body.data.id, attributes: { name: PERSON.renamedKey } } }
  await admin.patch(`/api/v2/application_keys/${made.body.data.id}`, 200, { body: renamed })
  const pair = { 'x-api-key': server.apiKey, 'x-application-key': made.body.data.attributes.key, ...headers }
  await admin.as({ headers: pair }).get('/api/v2/users', 200)
  const soon = new Date(Date.now() + 86_400_000).toISOString()
  const pat = { name: PERSON.tokenName, scopes: ['user_access_read'], expires_at: soon }
  const tokens = { body: { data: { type: 'personal_access_tokens', attributes: pat } } }
  const doomed = (await self.post('/api/v2/personal_access_tokens', 201, tokens)).body.data.id
  await self.post('/api/v2/personal_access_tokens', 201, tokens)
  await self.delete(`/api/v2/personal_access_tokens/${doomed}`, 204)
  await self.get('/api/v2/api_keys', 403)
  await self.get(`/api/v2/users?filter=${encodeURIComponent(PERSON.name)}`, 200)
  await self.get(`/api/v2/users/${id}/export`, 200)

  // From here on mail waits in the outbox.
  mail.refuse('not now')
  const move = {
    data: { type: 'users', id, attributes: { email: PERSON.secondEmail, title: `${PERSON.title} emerita` } },
  }
  await admin.patch(`/api/v2/users/${id}`, 200, { body: move })
  const contact = { user: PERSON.secondEmail, email: PERSON.secondEmail.toUpperCase() }
  await admin.patch('/api/v1/admin/instance', 200, { body: { contact } })
  const reset = { data: { type: 'password_resets', attributes: { email: PERSON.secondEmail } } }
  await nobody.post('/api/v2/auth/password_resets', 202, { body: reset, headers })
  await admin.post('/api/v2/users', 409, {
    body: { data: { type: 'users', attributes: { email: PERSON.secondEmail } } },
    headers: { 'idempotency-key': 'second' },
  })
  const away = { data: { type: 'users', id, attributes: { email: PERSON.thirdEmail } } }
  await admin.patch(`/api/v2/users/${id}`, 200, { body: away })
  return id
}

async function prove(engine: Engine): Promise<void> {
  await using mail = await startMailServer()
  await using server = await startServer({
    mode: 'serve',
    engine,
    env: {
      COMMONPLACE_USERS__SMTP_URL: mail.url,
      COMMONPLACE_USERS__RATE_LIMITS: '{"users_read": {"limit": 100000}, "users_write": {"limit": 100000}}',
      COMMONPLACE_SERVER__TRUSTED_PROXIES: '["127.0.0.1"]',
      COMMONPLACE_LOG_LEVEL: 'debug',
    },
  })
  await using callers = await openCallers(server)
  const admin = client(server)
  const bytes = async () => (engine === 'sqlite' ? filesOf(server.dataDir) : rowsOf(callers.db))
  await crowd(callers, 150)
  const id = await live(server, admin, mail)
  await crowd(callers, 150)
  const before = found(await bytes())
  for (const text of [PERSON.renamed, PERSON.secondEmail, PERSON.keyName, PERSON.address, PERSON.userAgent]) {
    assert.ok(before.includes(text), `the search must be able to find ${text}`)
  }

  const data = { type: 'anonymize_users_request', attributes: { user_ids: [id] } }
  const { body } = await admin.put('/api/v2/anonymize_users', 200, { body: { data } })
  assert.deepEqual(body.data.attributes.anonymized_user_ids, [id])
  assert.deepEqual(found(await bytes()), [], 'as soon as it is answered')
  await crowd(callers, 20)
  await server.kill()
  assert.deepEqual(found(await bytes()), [], 'after a crash')
  assert.deepEqual(found(Buffer.from(server.output())), [], 'in the log')
  if (engine === 'sqlite') assert.ok(existsSync(join(server.dataDir, 'commonplace.db-wal')))
}

describe('after anonymization nothing names the person', () => {
  test('in any byte of the SQLite files, nor in the log', () => prove('sqlite'))

  const unavailable = postgresUnavailable()
  const skip = unavailable !== null && `PostgreSQL: ${unavailable}`
  test('in any row of PostgreSQL, nor in the log', { skip }, () => prove('postgres'))
})
