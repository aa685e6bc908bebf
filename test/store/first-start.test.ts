import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type FirstStartOptions, firstStart } from '../../src/first-start.ts'
import { IdentityChanges } from '../../src/platform/auth/identity-changes.ts'
import { PERMISSIONS } from '../../src/platform/auth/permissions.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { createLogger } from '../../src/platform/logging/logger.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { publishSecrets, settlePendingSecrets, writePendingSecrets } from '../../src/users/first-start-file.ts'
import { eachDatabase } from '../support/each-database.ts'
import { ADMIN, authenticatorOf, bearer, firstStartSettings, requestWith } from '../support/identity.ts'
import { SOURCE_FLAGS } from '../support/program.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'

const CHILD = fileURLToPath(new URL('../support/first-start-child.ts', import.meta.url))

function start(db: Database, options: Partial<FirstStartOptions> = {}) {
  return firstStart({
    db,
    clock: new SystemClock(),
    log: silentLogger(),
    settings: firstStartSettings(),
    mode: 'serve',
    ...options,
  })
}

function secretsIn(dataDir: string): Record<string, string> {
  return JSON.parse(readFileSync(join(dataDir, 'first-start.json'), 'utf8'))
}

function tokenWorks(db: Database, token: string) {
  const changes = new IdentityChanges(db)
  return authenticatorOf({ db, changes, clock: new SystemClock() })
    .authenticate(bearer(token))
    .then(({ kind }) => kind === 'ok')
    .finally(() => changes.close())
}

function pendingIn(dataDir: string): string[] {
  return readdirSync(dataDir).filter((name) => name.endsWith('.pending'))
}

function signalOf(args: string[]): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    child.on('error', reject)
    child.on('close', (_status, signal) => resolve(signal))
  })
}

async function count(
  db: Database,
  table: 'organizations' | 'users' | 'roles' | 'permissions' | 'projects' | 'namespaces',
) {
  const { n } = await db.query
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

eachDatabase('first start', ({ engine, open, openAgain, placeOf }) => {
  test('creates everything a server needs, once', async () => {
    const db = await open()
    const first = await start(db)
    assert.equal(first.created, true)
    const again = await start(db)
    assert.deepEqual(again, { installationId: first.installationId, created: false, secretsFile: null, introduced: [] })
    assert.deepEqual(
      [
        await count(db, 'organizations'),
        await count(db, 'users'),
        await count(db, 'roles'),
        await count(db, 'permissions'),
      ],
      [1, 1, 3, PERMISSIONS.length],
    )
    const user = await db.query.selectFrom('users').selectAll().executeTakeFirstOrThrow()
    assert.deepEqual(
      [user.email, user.handle, user.status, user.verified, user.service_account],
      ['admin@example.org', 'admin@example.org', 'Active', 1, 0],
    )
    const project = await db.query.selectFrom('projects').selectAll().executeTakeFirstOrThrow()
    assert.deepEqual([project.name, project.is_default], ['main', 1])
  })

  test('the administrator gets in with the token and the key pair of the settings', async () => {
    const db = await open()
    await start(db)
    const changes = new IdentityChanges(db)
    const authenticator = authenticatorOf({ db, changes, clock: new SystemClock() })
    const keys = { 'x-api-key': ADMIN.api_key, 'x-application-key': ADMIN.application_key }
    for (const request of [bearer(ADMIN.admin_token), requestWith(keys)]) {
      const answer = await authenticator.authenticate(request)
      assert.ok(answer.kind === 'ok' && answer.principal.permissions.has('admin'))
      assert.equal(answer.principal.permissions.size, PERMISSIONS.length)
    }
    await authenticator.close()
  })

  test('no file is written when every secret is given', async () => {
    const db = await open()
    const dataDir = tempDir()
    const { secretsFile } = await start(db, { settings: firstStartSettings(ADMIN, dataDir) })
    assert.equal(secretsFile, null)
    assert.deepEqual(readdirSync(dataDir), [])
  })

  test('made-up secrets are in a file that only its owner can read, and they work', async () => {
    const db = await open()
    const dataDir = tempDir()
    const { secretsFile, installationId } = await start(db, { settings: firstStartSettings({}, dataDir) })
    assert.equal(secretsFile, join(dataDir, 'first-start.json'))
    assert.deepEqual(readdirSync(dataDir), ['first-start.json'])
    assert.equal(statSync(secretsFile as string).mode & 0o777, 0o600)
    const secrets = secretsIn(dataDir)
    assert.equal(secrets.installation_id, installationId)
    assert.match(secrets.api_key as string, /^[0-9a-f]{32}$/)
    assert.match(secrets.application_key as string, /^[0-9a-f]{40}$/)
    assert.equal(await tokenWorks(db, secrets.admin_token as string), true)
  })

  test('only what was made up is in the file', async () => {
    const db = await open()
    const dataDir = tempDir()
    await start(db, { settings: firstStartSettings({ admin_token: ADMIN.admin_token }, dataDir) })
    assert.deepEqual(Object.keys(secretsIn(dataDir)).toSorted(), [
      ...['admin_email', 'api_key', 'application_key', 'created_at', 'installation_id'],
    ])
  })

  test('the log names the file and no secret', async () => {
    const db = await open()
    const dataDir = tempDir()
    const lines: string[] = []
    const log = createLogger({
      level: 'trace',
      format: 'json',
      destination: { write: (line: string) => void lines.push(line) },
    })
    await start(db, { log, settings: firstStartSettings({}, dataDir) })
    const text = lines.join('')
    assert.match(text, /first-start\.json/)
    const { admin_token, api_key, application_key } = secretsIn(dataDir)
    for (const secret of [admin_token, api_key, application_key, 'admin@example.org']) {
      assert.equal(text.includes(secret as string), false)
    }
  })

  test('processes that start together make one installation and one file', async () => {
    const db = await open()
    const others = await Promise.all([1, 2, 3].map(() => openAgain(db)))
    const starts = [db, ...others].map((database) => ({ database, dataDir: tempDir() }))
    const results = await Promise.all(
      starts.map(({ database, dataDir }) => start(database, { settings: firstStartSettings({}, dataDir) })),
    )
    const winners = results.filter((result) => result.created)
    assert.equal(winners.length, 1)
    assert.equal(new Set(results.map((result) => result.installationId)).size, 1)
    assert.deepEqual([await count(db, 'users'), await count(db, 'roles'), await count(db, 'projects')], [1, 3, 1])
    const files = starts.flatMap(({ dataDir }) => readdirSync(dataDir).map((name) => join(dataDir, name)))
    assert.deepEqual(files, [winners[0]?.secretsFile])
    const { admin_token } = JSON.parse(readFileSync(files[0] as string, 'utf8'))
    assert.equal(await tokenWorks(db, admin_token), true)
  })

  test('processes that share the data directory as well leave the one file that works', async () => {
    const db = await open()
    const others = await Promise.all([1, 2, 3].map(() => openAgain(db)))
    const settings = firstStartSettings({})
    await Promise.all([db, ...others].map((database) => start(database, { settings })))
    assert.deepEqual(readdirSync(settings.storage.data_dir), ['first-start.json'])
    assert.equal(await tokenWorks(db, secretsIn(settings.storage.data_dir).admin_token as string), true)
  })

  for (const stage of ['before the transaction', 'before the commit', 'after the commit']) {
    test(`a process killed ${stage} leaves secrets that work after the next start`, async () => {
      const db = await open()
      const place = placeOf(db)
      assert.equal(await signalOf([...SOURCE_FLAGS, CHILD, JSON.stringify({ place, stage })]), 'SIGKILL')
      assert.equal(pendingIn(place.dataDir).length, 1)
      assert.equal(await count(db, 'users'), stage === 'after the commit' ? 1 : 0)
      const { created, secretsFile } = await start(db, { settings: firstStartSettings({}, place.dataDir) })
      assert.equal(created, stage !== 'after the commit')
      assert.equal(secretsFile, join(place.dataDir, 'first-start.json'))
      assert.equal(await tokenWorks(db, secretsIn(place.dataDir).admin_token as string), true)
      assert.deepEqual(pendingIn(place.dataDir), [])
    })
  }

  test('a data directory that cannot be written stops the start before anything is created', async () => {
    const db = await open()
    const file = join(tempDir(), 'a-file')
    writeFileSync(file, '')
    await assert.rejects(
      start(db, { settings: firstStartSettings({}, join(file, 'data')) }),
      /data directory .* storage\.data_dir/,
    )
    assert.equal(await count(db, 'organizations'), 0)
  })

  test('a data directory that is made for the secrets alone is closed to others, too', async () => {
    const dataDir = join(tempDir(), 'new', 'data')
    await start(await open(), { settings: firstStartSettings({}, dataDir) })
    assert.equal(statSync(dataDir).mode & 0o777, 0o700)
  })

  test('a bad administrator address or token stops the start with its setting', async () => {
    const db = await open()
    const bad = { ...ADMIN, admin_email: 'nobody' }
    await assert.rejects(start(db, { settings: firstStartSettings(bad) }), /auth\.admin_email/)
    const session = { ...ADMIN, admin_token: `ses_${'a'.repeat(43)}` }
    await assert.rejects(start(db, { settings: firstStartSettings(session) }), /auth\.admin_token/)
    assert.equal(await count(db, 'organizations'), 0)
  })

  test('a secret that is set later is left out and said so', async () => {
    const db = await open()
    await start(db)
    const lines: string[] = []
    const log = createLogger({
      level: 'warn',
      format: 'json',
      destination: { write: (line: string) => void lines.push(line) },
    })
    const other = 'another-token-0123456789-abcdefghijklm'
    await start(db, { log, settings: firstStartSettings({ ...ADMIN, admin_token: other }) })
    assert.equal(lines.length, 1)
    assert.match(lines[0] as string, /auth\.admin_token is ignored/)
    assert.equal(lines.join('').includes(other), false)
    assert.deepEqual([await tokenWorks(db, other), await tokenWorks(db, ADMIN.admin_token)], [false, true])
  })

  test('dev gives the default namespace one search attribute of each type, serve none', async () => {
    for (const [mode, expected] of [
      ['dev', 7],
      ['serve', 0],
    ] as const) {
      const db = await open()
      await start(db, { mode })
      const { search_attributes: text, name } = await db.query
        .selectFrom('namespaces')
        .selectAll()
        .executeTakeFirstOrThrow()
      assert.equal(name, 'default')
      assert.equal(Object.keys(JSON.parse(text)).length, expected)
    }
  })

  test('namespaces of the settings exist after every start, and nothing stored is overwritten', async () => {
    const db = await open()
    const namespaces = { orders: { search_attributes: { Region: 'Keyword' } } }
    await start(db, { settings: firstStartSettings(ADMIN, tempDir(), namespaces) })
    const changed = { orders: { search_attributes: { Region: 'Text', Amount: 'Double' } }, bills: {} }
    const second = { settings: firstStartSettings(ADMIN, tempDir(), changed) }
    const others = [db, await openAgain(db), await openAgain(db)]
    await Promise.all(others.map((database) => start(database, second)))
    const rows = await db.query.selectFrom('namespaces').select(['name', 'search_attributes']).orderBy('name').execute()
    assert.deepEqual(
      rows.map((row) => [row.name, JSON.parse(row.search_attributes)]),
      [
        ['bills', {}],
        ['default', {}],
        ['orders', { Region: 'Keyword', Amount: 'Double' }],
      ],
    )
  })

  test('what the database holds is never overwritten', async () => {
    const db = await open()
    await start(db)
    await db.write(async (tx) => {
      await tx.query.updateTable('users').set({ name: 'Changed', email: 'new@example.org' }).execute()
      await tx.query.updateTable('projects').set({ name: 'notes', is_default: 0 }).execute()
    })
    await start(db, { settings: firstStartSettings({ ...ADMIN, admin_email: 'other@example.org' }) })
    const user = await db.query.selectFrom('users').selectAll().executeTakeFirstOrThrow()
    assert.deepEqual([user.name, user.email, await count(db, 'users')], ['Changed', 'new@example.org', 1])
    assert.deepEqual([await count(db, 'projects'), await count(db, 'namespaces')], [1, 1])
  })

  if (engine === 'sqlite') {
    test('secrets of another database in the same directory are kept under their own name', async () => {
      const dataDir = tempDir()
      const settings = firstStartSettings({}, dataDir)
      const first = await start(await open(), { settings })
      const old = readFileSync(join(dataDir, 'first-start.json'), 'utf8')
      const db = await open()
      await start(db, { settings })
      assert.equal(readFileSync(join(dataDir, `first-start.${first.installationId}.json`), 'utf8'), old)
      assert.equal(await tokenWorks(db, secretsIn(dataDir).admin_token as string), true)
    })

    test('a file that is not ours is set aside, not lost', async () => {
      const dataDir = tempDir()
      writeFileSync(join(dataDir, 'first-start.json'), 'not JSON')
      await start(await open(), { settings: firstStartSettings({}, dataDir) })
      const names = readdirSync(dataDir).toSorted()
      assert.equal(names.length, 2)
      assert.match(names[0] as string, /^first-start\.before-/)
      assert.equal(readFileSync(join(dataDir, names[0] as string), 'utf8'), 'not JSON')
    })

    test('secrets whose pending file somebody removed are written again from memory', async () => {
      const dataDir = tempDir()
      const id = '00000000-0000-7000-8000-000000000002'
      const secrets = { installation_id: id, created_at: '', admin_email: '', admin_token: 'x' }
      await writePendingSecrets(dataDir, secrets)
      await settlePendingSecrets(dataDir, '00000000-0000-7000-8000-000000000003')
      assert.deepEqual(readdirSync(dataDir), [])
      await publishSecrets(dataDir, secrets)
      assert.equal(secretsIn(dataDir).installation_id, id)
    })
  }
})
