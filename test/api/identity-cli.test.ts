import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { firstStart } from '../../src/first-start.ts'
import { IdentityChanges } from '../../src/platform/auth/identity-changes.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { verifyPassword } from '../../src/users/sign-in/password.ts'
import { findPasswordHash } from '../../src/users/sign-in/store-passwords.ts'
import { driveCommands, type Ended } from '../support/drive-commands.ts'
import { authenticatorOf, bearer, firstStartSettings, requestWith } from '../support/identity.ts'
import { PROGRAM, YOUNG_MEMORY } from '../support/program.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'

/** The command in a process of its own, with this on its standard input. */
function commonplace(dataDir: string, args: string[], input: string | Buffer = ''): Promise<Ended> {
  const child = spawn(process.execPath, [...YOUNG_MEMORY, PROGRAM, ...args], {
    env: environment(dataDir),
    cwd: dataDir,
  })
  const ended = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text))
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, ...ended }))
  })
}

function environment(dataDir: string): NodeJS.ProcessEnv {
  return { ...process.env, COMMONPLACE_DATA_DIR: dataDir }
}

async function withDatabaseIn<T>(
  dataDir: string,
  work: (db: Awaited<ReturnType<typeof openDatabase>>) => Promise<T>,
): Promise<T> {
  const [clock, log] = [new SystemClock(), silentLogger()]
  await using db = await openDatabase({ dataDir, clock, log })
  return await work(db)
}

async function authenticates(dataDir: string, source: ReturnType<typeof bearer>): Promise<string> {
  return withDatabaseIn(dataDir, async (db) => {
    const authenticator = authenticatorOf({ db, clock: new SystemClock(), changes: new IdentityChanges(db) })
    const { kind } = await authenticator.authenticate(source)
    await authenticator.close()
    return kind
  })
}

describe('the commands user and token', () => {
  const dataDir = tempDir()
  const cli = driveCommands(dataDir)
  after(() => cli.close())

  async function ok(args: string[]): Promise<string> {
    const { status, stdout, stderr } = await cli.run(args)
    assert.equal(status, 0, `${args.join(' ')}: ${stderr}`)
    return stdout
  }

  before(() =>
    withDatabaseIn(dataDir, async (db) => {
      const [clock, log] = [new SystemClock(), silentLogger()]
      await migrate(db, { clock, log })
      await firstStart({ db, clock, log, settings: firstStartSettings(undefined, dataDir), mode: 'serve' })
    }),
  )

  test('a user is created, listed, disabled and enabled again', async () => {
    const created = JSON.parse(
      await ok(['user', 'create', 'Ada@example.org', '--active', '--role', 'standard', '--json']),
    )
    assert.deepEqual(
      [created.email, created.status, created.roles[0].name],
      ['ada@example.org', 'Active', 'Platform Standard Role'],
    )
    const listed = JSON.parse(await ok(['user', 'list', '--json']))
    assert.deepEqual(
      listed.map((user: { email: string }) => user.email),
      ['ada@example.org', 'admin@example.org'],
    )
    assert.match(
      await ok(['user', 'list']),
      /^EMAIL +STATUS +ROLES +ID\nada@example\.org +Active +Platform Standard Role +[0-9a-f-]{36}\n/,
    )
    assert.equal(await ok(['user', 'disable', 'ada@example.org']), 'disabled ada@example.org\n')
    assert.equal(JSON.parse(await ok(['user', 'disable', created.id, '--json'])).changed, false)
    assert.equal(JSON.parse(await ok(['user', 'list', '--status', 'Disabled', '--json'])).length, 1)
    assert.equal(await ok(['user', 'enable', 'ada@example.org']), 'ada@example.org is now Active\n')
  })

  test('a role that is named twice is given and told once', async () => {
    const twice = ['--role', 'standard', '--role', 'Platform Standard Role']
    const created = JSON.parse(await ok(['user', 'create', 'twice@example.org', ...twice, '--json']))
    assert.deepEqual(
      created.roles.map((role: { name: string }) => role.name),
      ['Platform Standard Role'],
    )
  })

  test('whoever may have no token gets a refusal and no promise', async () => {
    await ok(['user', 'create', 'gone@example.org', '--active'])
    await ok(['user', 'disable', 'gone@example.org'])
    const { status, stdout, stderr } = await cli.run(['token', 'create', '--user', 'gone@example.org'])
    assert.deepEqual([status, stdout], [1, ''])
    assert.doesNotMatch(stderr, /note:/)
  })

  test('a service account is named by its address while no other one has it', async () => {
    await ok(['user', 'create', 'bot@example.org', '--service-account'])
    assert.match(await ok(['token', 'create', '--user', 'bot@example.org']), /^\S+\n$/)
  })

  test('roles are given and taken', async () => {
    await ok(['user', 'create', 'role@example.org', '--active'])
    await ok(['user', 'add-role', 'role@example.org', 'Platform Admin Role'])
    assert.equal(JSON.parse(await ok(['user', 'add-role', 'role@example.org', 'admin', '--json'])).changed, false)
    assert.equal(JSON.parse(await ok(['user', 'remove-role', 'role@example.org', 'admin', '--json'])).changed, true)
  })

  test('a password comes from standard input and never from an argument', async () => {
    const { status, stderr } = await commonplace(dataDir, ['user', 'set-password', 'admin@example.org'])
    assert.equal(status, 2)
    assert.match(stderr, /--password-stdin/)
    const set = ['user', 'set-password', 'admin@example.org', '--password-stdin']
    assert.equal((await commonplace(dataDir, set, 'four words make it\n')).status, 0)
    await withDatabaseIn(dataDir, async (db) => {
      const { id } = await db.query
        .selectFrom('users')
        .select('id')
        .where('email', '=', 'admin@example.org')
        .executeTakeFirstOrThrow()
      assert.equal(await verifyPassword(await findPasswordHash(db, id), 'four words make it'), true)
    })
    const weak = await commonplace(dataDir, set, 'short\n')
    assert.equal(weak.status, 1)
    assert.match(weak.stderr, /at least 12 characters/)
    assert.doesNotMatch(weak.stderr, /\n\s+at /)
    const garbled = await commonplace(dataDir, set, Buffer.from('vier Wörter genügen', 'latin1'))
    assert.deepEqual([garbled.status, garbled.stderr], [1, 'commonplace: Standard input is not text in UTF-8\n'])
    const twice = await commonplace(dataDir, set, 'another four words\nanother four words\n')
    assert.deepEqual([twice.status, twice.stderr], [1, 'commonplace: Standard input holds more than one line\n'])
  })

  test('a token is printed once, works, and is gone after it was revoked', async () => {
    const args = [
      'token',
      'create',
      '--user',
      'admin@example.org',
      '--name',
      'ci',
      '--expires',
      '1h',
      '--scope',
      'notes_read',
    ]
    const token = (await ok(args)).trim()
    assert.match(token, /^pat_[A-Za-z0-9]{22}_[A-Za-z0-9_-]{43}$/)
    assert.equal(await authenticates(dataDir, bearer(token)), 'ok')
    const tokens = JSON.parse(await ok(['token', 'list', '--user', 'admin@example.org', '--json']))
    const listed = tokens.find(({ name }: { name: string }) => name === 'ci')
    assert.deepEqual([listed.kind, listed.scopes, listed.last4], ['token', ['notes_read'], token.slice(-4)])
    assert.equal((await ok(['token', 'list'])).includes(token), false)
    await ok(['token', 'revoke', listed.id])
    assert.equal(await authenticates(dataDir, bearer(token)), 'bad')
  })

  test('a key pair is printed once and works', async () => {
    const pair = JSON.parse(
      await ok(['token', 'create', '--kind', 'key-pair', '--user', 'admin@example.org', '--json']),
    )
    const headers = { 'x-api-key': pair.api_key, 'x-application-key': pair.application_key }
    assert.equal(await authenticates(dataDir, requestWith(headers)), 'ok')
    assert.match(await ok(['token', 'list']), /api key/)
  })

  test('what fails ends with 1 and a sentence, bad usage with 2', async () => {
    for (const [args, status, text] of [
      [['user', 'disable', 'nobody@example.org'], 1, /no user/],
      [['user', 'disable', 'admin@example.org'], 1, /last administrator/],
      [['user', 'create', 'not-an-address'], 1, /email/],
      [['user', 'create', 'admin@example.org'], 1, /already exists/],
      [['user', 'create', 'x@example.org', '--role', 'nothing'], 1, /no role/],
      [['token', 'revoke', 'nothing'], 1, /no token or key/],
      [['token', 'create', '--user', 'admin@example.org', '--scope', 'everything'], 1, /not a permission/],
      [['user', 'create'], 2, /missing required argument/],
      [['user', 'list', '--status', 'Sleeping'], 2, /Allowed choices/],
      [['token', 'create', '--user', 'admin@example.org', '--expires', '2y'], 2, /duration/],
      [['user', 'nonsense'], 2, /unknown command/],
    ] as const) {
      const ended = await cli.run(args)
      assert.equal(ended.status, status, `${args.join(' ')}: ${ended.stderr}`)
      assert.match(ended.stderr, text)
      assert.equal(ended.stdout, '')
    }
  })

  test('a database that was never started is told apart from one without the user', async () => {
    const { status, stderr } = await cli.run(['user', 'list', '--data-dir', tempDir()])
    assert.equal(status, 1)
    assert.match(stderr, /start the server once/)
  })

  test('every command explains itself', async () => {
    for (const args of [
      ['user'],
      ['token'],
      ['user', 'create'],
      ['user', 'set-password'],
      ['token', 'create'],
      ['token', 'revoke'],
    ]) {
      assert.match(await ok([...args, '--help']), /^Usage: commonplace /)
    }
  })
})
