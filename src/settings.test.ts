import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { renderReference } from '../scripts/settings-reference.ts'
import { tempDir } from '../test/support/temp-dir.ts'
import { policyOf } from './callbacks/settings.ts'
import { fromText, variablesOf } from './platform/config/environment.ts'
import { asText, Origins } from './platform/config/origins.ts'
import { Problems } from './platform/config/problems.ts'
import { INVALID, SettingsReader } from './platform/config/read-settings.ts'
import { defaultOf, type Mode, type Setting, settingsIn } from './platform/config/setting.ts'
import { type Problem, SettingsError } from './platform/config/settings-error.ts'
import { parseEmail } from './platform/text/email.ts'
import { loadSettings, maskSecrets, ROOT, SHORT_NAMES } from './settings.ts'

const MODES: Mode[] = ['dev', 'serve', 'cli']

function folder(yaml?: string): string {
  const path = tempDir()
  if (yaml !== undefined) writeFileSync(join(path, 'commonplace.yaml'), yaml)
  return path
}

function load(mode: Mode, env: Record<string, string> = {}, yaml?: string) {
  return loadSettings({ mode, env, cwd: folder(yaml) })
}

async function problemPaths(mode: Mode, env: Record<string, string>, yaml?: string): Promise<string[]> {
  return (await problemsOf(mode, env, yaml)).map(({ path }) => path)
}

async function problemsOf(mode: Mode, env: Record<string, string>, yaml?: string): Promise<readonly Problem[]> {
  const error = await load(mode, env, yaml).then(
    () => assert.fail('accepted'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof SettingsError, String(error))
  return error.problems
}

function read(setting: Setting, raw: unknown, mode: Mode): unknown {
  return new SettingsReader({ mode, cwd: '/' }, new Origins(), new Problems()).read(setting, raw, ['key'])
}

/** Every setting there is, what is inside lists and maps included. */
function* everySetting(setting: Setting, path: string): Generator<[string, Setting]> {
  yield [path, setting]
  if (setting.kind === 'list') yield* everySetting(setting.item, `${path}[]`)
  if (setting.kind === 'map') yield* everySetting(setting.entry, `${path}.*`)
  if (setting.kind !== 'group') return
  for (const [key, member] of Object.entries(setting.members))
    yield* everySetting(member, path === '' ? key : `${path}.${key}`)
}

test('every key says what it is for and has a valid example', () => {
  for (const [path, setting] of everySetting(ROOT, '')) {
    const isNamed = path !== '' && !/(\[\]|\.\*)$/.test(path)
    if (isNamed) assert.match(setting.description, /^.+\.$/, path)
    if (setting.kind === 'group') continue
    assert.notEqual(read(setting, setting.example, 'serve'), INVALID, `${path}: ${asText(setting.example)}`)
    assert.ok(setting.example !== null && setting.example !== '', path)
  }
})

test('every default is valid in every mode', () => {
  for (const { path, setting } of settingsIn(ROOT)) {
    if (setting.kind === 'group') continue
    for (const mode of MODES) assert.notEqual(read(setting, defaultOf(setting, mode), mode), INVALID, path.join('.'))
  }
})

test('the environment reaches every key, with the same result as the file', async () => {
  for (const { name, path, setting, isFile } of variablesOf(ROOT, SHORT_NAMES).values()) {
    if (setting.kind === 'group' || isFile) continue
    const wanted = read(setting, setting.example, 'cli')
    const given = fromText(setting, asText(setting.example))
    assert.deepEqual(read(setting, given?.raw, 'cli'), wanted, name)
    assert.equal(
      name,
      SHORT_NAMES[path.join('.') as keyof typeof SHORT_NAMES] === name.slice(12)
        ? name
        : `COMMONPLACE_${path.join('__').toUpperCase()}`,
    )
  }
})

test('defaults are those of the contract', async () => {
  const { settings, file } = await load('serve')
  assert.equal(file, null)
  assert.deepEqual([settings.server.host, settings.server.port, settings.server.grpc_port], ['0.0.0.0', 4040, 4041])
  assert.equal(settings.server.shutdown_timeout, 10_000)
  assert.equal(settings.auth.admin_email, 'admin@localhost.localdomain')
  assert.equal(settings.telemetry.log_level, 'info')
  assert.equal(settings.telemetry.log_format, 'json')
  assert.deepEqual(settings.users.rate_limits.users_read, { limit: 600, period: 60_000 })
  assert.deepEqual(settings.instance.rate_limits, { window_seconds: 300, per_ip: 300, per_token: 300, per_user: 1500 })
  assert.deepEqual(settings.callbacks.allowed_addresses, [{ pattern: '*', allow_insecure: false }])
  assert.deepEqual(settings.callbacks.retry, {
    initial_interval: 1000,
    max_interval: 3_600_000,
    coefficient: 2,
    jitter: 0.2,
  })
  assert.equal(settings.callbacks.destination.rps, 0)
})

test('dev listens on loopback only, reaches loopback, limits nothing and logs for people', async () => {
  const { settings } = await load('dev')
  assert.equal(settings.server.host, '127.0.0.1')
  assert.deepEqual({ ...settings.users.rate_limits }, {})
  assert.equal(settings.instance.rate_limits.per_ip, 0)
  assert.deepEqual(settings.callbacks.allowed_addresses, [{ pattern: '*', allow_insecure: true }])
  assert.deepEqual(settings.callbacks.allowed_private_cidrs, ['127.0.0.0/8', '::1'])
  assert.equal(settings.telemetry.log_format, 'readable')
  for (const host of ['127.0.0.2', '::1', 'localhost']) await load('dev', { COMMONPLACE_HOST: host })
  for (const host of ['0.0.0.0', '::', '192.168.1.1', 'example.org']) {
    assert.deepEqual(await problemPaths('dev', { COMMONPLACE_HOST: host }), ['server.host'])
    await load('serve', { COMMONPLACE_HOST: host })
  }
})

test('dev keeps the limits that a settings file sets', async () => {
  const { settings } = await load('dev', {}, 'users: { rate_limits: { users_read: { limit: 3, period: 10s } } }')
  assert.deepEqual({ ...settings.users.rate_limits }, { users_read: { limit: 3, period: 10_000 } })
})

test('two listeners cannot share a port, unless any free one will do', async () => {
  assert.deepEqual(await problemPaths('serve', { COMMONPLACE_PORT: '4041' }), ['server.grpc_port'])
  assert.deepEqual(await problemPaths('serve', { COMMONPLACE_SERVER__METRICS_PORT: '4040' }), ['server.metrics_port'])
  await load('serve', { COMMONPLACE_PORT: '0', COMMONPLACE_GRPC_PORT: '0', COMMONPLACE_SERVER__METRICS_PORT: '0' })
})

test('bad values of the short names are refused', async () => {
  const bad = {
    COMMONPLACE_PORT: '65536',
    COMMONPLACE_BASE_URL: 'https://kb.example.org/path',
    COMMONPLACE_DATABASE_URL: 'mysql://localhost/x',
    COMMONPLACE_ADMIN_EMAIL: 'nobody',
    COMMONPLACE_ADMIN_TOKEN: 'too short',
    COMMONPLACE_API_KEY: 'f'.repeat(31),
    COMMONPLACE_APPLICATION_KEY: 'g'.repeat(40),
    COMMONPLACE_LOG_LEVEL: 'loud',
  }
  const paths = await problemPaths('serve', bad)
  assert.deepEqual(
    paths,
    Object.keys(SHORT_NAMES).filter((path) => !['server.host', 'server.grpc_port', 'storage.data_dir'].includes(path)),
  )
})

test('the first administrator has an address that the first start takes, or the settings are refused', async () => {
  const long = `a@${'x'.repeat(252)}`
  const odd = ['a@b', 'a@exa_mple.org', 'a@b..c', 'a@b.', 'a\u200b@b', 'é@ö.example', `${long}x`]
  for (const address of [...odd, long, 'a@[1.2.3.4]', 'a+b@c-d.org']) {
    const isTaken = parseEmail(address) !== undefined
    const loading = load('serve', { COMMONPLACE_ADMIN_EMAIL: address })
    assert.equal(await loading.then(Boolean, () => false), isTaken, address)
  }
})

test('a path with a ~ that no shell has read is refused: it would be a folder of that name', async () => {
  for (const data_dir of ['~', '~/data', '']) {
    assert.deepEqual(await problemPaths('serve', { COMMONPLACE_DATA_DIR: data_dir }), ['storage.data_dir'], data_dir)
    assert.deepEqual(await problemPaths('serve', {}, `storage: { data_dir: '${data_dir}' }`), ['storage.data_dir'])
  }
  const { settings } = await load('serve', { COMMONPLACE_DATA_DIR: './data~/~x' })
  assert.match(settings.storage.data_dir, /data~/)
})

test('the key of a service is one that a header can hold, and is not shown', async () => {
  const key = 'sk-\u200b123'
  const yaml = `
instance: { translation: { api_key: '${key}' } }
knowledge: { embedding_api_key: '${key}', reranker_api_key: '${key}' }
`
  const problems = await problemsOf('serve', {}, yaml)
  assert.deepEqual(
    problems.map(({ path }) => path),
    ['instance.translation.api_key', 'knowledge.embedding_api_key', 'knowledge.reranker_api_key'],
  )
  for (const { message } of problems) assert.ok(!message.includes('sk-'), message)
})

test('a version to claim is one that clients can read', async () => {
  const claimed = (version: string) => `instance: { compat: { mastodon_version: '${version}' } }`
  for (const version of ['4.5', 'latest', 'v4.5.0', '4.5.0 (compatible)', '4.5.0\\n']) {
    assert.deepEqual(await problemPaths('serve', {}, claimed(version)), ['instance.compat.mastodon_version'], version)
  }
  for (const version of ['4.5.0', '4.6.0-alpha.1+glitch', '4.5.0rc1']) await load('serve', {}, claimed(version))
})

test('one value of a pair may be lowered alone: the default of the other one contradicts nothing', async () => {
  const yaml = `
users: { session_max: 30m }
callbacks:
  retry: { max_interval: 200ms }
  blob_size: { error: 1000 }
  namespaces: { orders: { retry: { max_interval: 100ms }, blob_size: { error: 500 } } }
`
  const { settings } = await load('serve', {}, yaml)
  assert.equal(settings.users.session_max, 1_800_000)
  const { retry, blob_size } = policyOf(settings.callbacks, 'orders')
  assert.deepEqual([retry.initial_interval, retry.max_interval, blob_size.error], [1_000, 100, 500])
})

test('values that contradict each other are refused', async () => {
  const yaml = `
users: { session_idle: 2h, session_max: 1h }
knowledge: { embedding_provider: none, semantic_search_enabled: true }
instance: { translation: { provider: libretranslate } }
callbacks:
  retry: { initial_interval: 2h }
  blob_size: { warn: 3, error: 2 }
  schedule_to_close: { default: 2d, max: 1d }
  retention: 1h
`
  assert.deepEqual(await problemPaths('serve', {}, yaml), [
    'users.session_idle',
    'instance.translation.endpoint',
    'knowledge.semantic_search_enabled',
    'callbacks.retry.initial_interval',
    'callbacks.schedule_to_close.default',
    'callbacks.blob_size.warn',
    'callbacks.retention',
  ])
})

test('the example for a value that contradicts another one fits that one', async () => {
  const examples = async (env: Record<string, string>, yaml?: string) =>
    (await problemsOf('serve', env, yaml)).map(({ example }) => example)
  const port = { COMMONPLACE_PORT: '4041', COMMONPLACE_GRPC_PORT: '4041' }
  assert.deepEqual(await examples(port), ['COMMONPLACE_GRPC_PORT=4042'])
  assert.deepEqual(await examples({ COMMONPLACE_PORT: '65535', COMMONPLACE_GRPC_PORT: '65535' }), [
    'COMMONPLACE_GRPC_PORT=0',
  ])
  const metrics = { COMMONPLACE_PORT: '9464', COMMONPLACE_SERVER__METRICS_PORT: '9464', COMMONPLACE_GRPC_PORT: '9465' }
  assert.deepEqual(await examples(metrics), ['COMMONPLACE_SERVER__METRICS_PORT=9466'])
  const yaml = `
users: { session_idle: 50m, session_max: 45m }
callbacks:
  retry: { initial_interval: 700ms, max_interval: 500ms }
  blob_size: { warn: 3, error: 2 }
  schedule_to_close: { default: 2d, max: 1d }
  namespaces: { orders: { schedule_to_close: { default: 2h, max: 1h } } }
`
  assert.deepEqual(await examples({}, yaml), [
    'users: { session_idle: 45m }',
    'callbacks: { retry: { initial_interval: 500ms } }',
    'callbacks: { schedule_to_close: { default: 1d } }',
    'callbacks: { blob_size: { warn: 2 } }',
    'callbacks: { namespaces: { orders: { schedule_to_close: { default: 1h } } } }',
  ])
})

test('a namespace overrides what it names and inherits the rest', async () => {
  const yaml = `
callbacks:
  request_timeout: 5s
  namespaces:
    orders: { search_attributes: { CustomerId: Keyword }, retention: 7d, retry: { max_interval: 5m } }
`
  const { settings } = await load('serve', {}, yaml)
  const policy = policyOf(settings.callbacks, 'orders')
  assert.deepEqual([policy.request_timeout, policy.retention], [5000, 604_800_000])
  assert.deepEqual(policy.retry, { ...settings.callbacks.retry, max_interval: 300_000 })
  assert.ok(!('namespaces' in policy) && !('search_attributes' in policy))
  assert.deepEqual({ ...settings.callbacks.namespaces.orders?.search_attributes }, { CustomerId: 'Keyword' })
  for (const name of ['unknown', 'constructor', '__proto__'])
    assert.equal(policyOf(settings.callbacks, name).retention, 2_592_000_000)
  const inverted =
    'callbacks: { retry: { initial_interval: 1m }, namespaces: { orders: { retry: { max_interval: 1s } } } }'
  assert.deepEqual(await problemPaths('serve', {}, inverted), ['callbacks.namespaces.orders.retry.initial_interval'])
})

test('signing secrets have the form and length that receivers expect', async () => {
  const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`
  const env = (value: string) => ({ COMMONPLACE_CALLBACKS__SIGNING_SECRETS: JSON.stringify([value]) })
  for (const bytes of [24, 25, 32, 64]) await load('serve', env(secret(bytes)))
  for (const bad of [secret(23), secret(65), 'whsec_', secret(32).slice(6), `${secret(32)}!`]) {
    assert.deepEqual(await problemPaths('serve', env(bad)), ['callbacks.signing_secrets[0]'])
  }
})

test('a signing secret that stands where its list belongs is not shown', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const yaml = `callbacks: { signing_secrets: ${secret}, namespaces: { orders: { signing_secrets: ${secret} } } }`
  const problems = await problemsOf('serve', {}, yaml)
  assert.deepEqual(
    problems.map(({ path }) => path),
    ['callbacks.signing_secrets', 'callbacks.namespaces.orders.signing_secrets'],
  )
  for (const { message } of problems) assert.match(message, /^must be a list \(/)
  assert.ok(!JSON.stringify(problems).includes(secret))
})

test('masked settings show no secret but keep the rest', async () => {
  const hidden = [
    'a'.repeat(32),
    'b'.repeat(32),
    'c'.repeat(40),
    'pa55word',
    'qu3ry',
    'm41l',
    `whsec_${'A'.repeat(32)}`,
  ]
  const { settings } = await load('serve', {
    COMMONPLACE_ADMIN_TOKEN: hidden[0] as string,
    COMMONPLACE_API_KEY: hidden[1] as string,
    COMMONPLACE_APPLICATION_KEY: hidden[2] as string,
    COMMONPLACE_DATABASE_URL: 'postgres://ada:pa55word@db.example.org/kb?password=qu3ry',
    COMMONPLACE_USERS__SMTP_URL: 'smtp://mailer:m41l@mail.example.org',
    COMMONPLACE_CALLBACKS__NAMESPACES: JSON.stringify({ orders: { signing_secrets: [hidden[6]] } }),
  })
  const masked = maskSecrets(settings)
  const shown = JSON.stringify(masked)
  for (const secret of hidden) assert.ok(!shown.includes(secret), secret)
  assert.equal(masked.storage.database_url, 'postgres://ada:***@db.example.org/kb?password=***')
  assert.deepEqual(masked.server, settings.server)
  assert.equal(maskSecrets((await load('serve')).settings).auth.admin_token, null)
})

test('docs/settings.md is what the settings say now', () => {
  const page = readFileSync(new URL('../docs/settings.md', import.meta.url), 'utf8')
  assert.equal(page, renderReference(), 'run `node scripts/settings-reference.ts`')
})
