import assert from 'node:assert/strict'
import { rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../../test/support/temp-dir.ts'
import { isAppError } from '../errors/app-error.ts'
import { duration, flag, group, integer, list, map, orNull, text } from './keys.ts'
import { type LoadOptions, loadSettings } from './load-settings.ts'
import { SettingsError } from './settings-error.ts'

const schema = group({
  server: group(
    {
      port: integer({ description: 'Port.', default: 4040, max: 65_535 }),
      host: text({ description: 'Host.', default: '0.0.0.0', byMode: { dev: '127.0.0.1' } }),
      ssl: flag({ description: 'TLS.', default: false }),
      proxies: list(text({ example: 'a' }), { description: 'Proxies.', default: [] }),
    },
    { checks: [({ port }, report) => (port === 13 ? report(['port'], 'must not be 13') : undefined)] },
  ),
  auth: group({
    token: orNull(text({ description: 'Token.', example: 'a-token', secret: 'all', maxLength: 20 })),
    secrets: list(text({ example: 'one', secret: 'all' }), { description: 'Secrets.', default: [] }),
  }),
  limits: map(group({ limit: integer({ example: 5 }), period: duration({ default: '1m' }) }), {
    description: 'Limits.',
    default: { read: { limit: 1 } },
    example: { read: { limit: 5 } },
    keys: /^[a-z]+$/,
    keyWhat: 'lower-case words',
  }),
})

function folder(files: Record<string, string> = {}): string {
  const path = tempDir()
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  return path
}

function load(options: Partial<LoadOptions> & { yaml?: string }) {
  const cwd = options.cwd ?? folder(options.yaml === undefined ? {} : { 'commonplace.yaml': options.yaml })
  return loadSettings(
    schema,
    { 'server.port': 'PORT', 'auth.token': 'TOKEN' },
    { mode: 'serve', env: {}, ...options, cwd },
  )
}

async function problemsOf(options: Parameters<typeof load>[0]) {
  const error = await load(options).then(
    () => assert.fail('the settings were accepted'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof SettingsError, String(error))
  return error.problems
}

test('flags win over the environment, the environment over the file, the file over defaults', async () => {
  const yaml = 'server: { port: 1, ssl: true }'
  const env = { COMMONPLACE_PORT: '2' }
  const flags = { 'server.port': '3' }
  assert.equal((await load({})).settings.server.port, 4040)
  assert.equal((await load({ yaml })).settings.server.port, 1)
  assert.equal((await load({ yaml, env })).settings.server.port, 2)
  const { settings, sources } = await load({ yaml, env, flags })
  assert.equal(settings.server.port, 3)
  assert.equal(settings.server.ssl, true)
  assert.deepEqual([...sources].slice(0, 3), [
    ['server.port', 'flag'],
    ['server.host', 'default'],
    ['server.ssl', 'file'],
  ])
})

test('a mode may have defaults of its own', async () => {
  assert.equal((await load({ mode: 'serve' })).settings.server.host, '0.0.0.0')
  assert.equal((await load({ mode: 'dev' })).settings.server.host, '127.0.0.1')
})

test('the file is the one of the flag, else of the variable, else of the working directory', async () => {
  const cwd = folder({
    'commonplace.yaml': 'server: {port: 1}',
    'b.yaml': 'server: {port: 2}',
    'c.yaml': 'server: {port: 3}',
  })
  const env = { COMMONPLACE_CONFIG: 'b.yaml' }
  assert.equal((await load({ cwd })).settings.server.port, 1)
  assert.equal((await load({ cwd, env: { COMMONPLACE_CONFIG: '' } })).settings.server.port, 1)
  assert.equal((await load({ cwd, env })).settings.server.port, 2)
  const { settings, file } = await load({ cwd, env, configFile: 'c.yaml' })
  assert.equal(settings.server.port, 3)
  assert.equal(file, join(cwd, 'c.yaml'))
})

test('a working directory that is gone is named', async (t) => {
  const home = process.cwd()
  t.after(() => process.chdir(home))
  const gone = tempDir()
  process.chdir(gone)
  rmdirSync(gone)
  await assert.rejects(
    loadSettings(schema, {}, { mode: 'serve', env: {} }),
    (error) => isAppError(error, 'failed_precondition') && /^The working directory is gone/.test(error.message),
  )
})

test('the environment reads text by the kind of the key', async () => {
  const { settings } = await load({
    env: {
      COMMONPLACE_SERVER__PORT: '8080',
      COMMONPLACE_SERVER__SSL: 'yes',
      COMMONPLACE_SERVER__PROXIES: '["a","b"]',
      COMMONPLACE_AUTH__TOKEN: '',
      COMMONPLACE_LIMITS: '{"write":{"limit":2,"period":"5s"}}',
      PATH: '/bin',
    },
  })
  assert.deepEqual(settings.server, { port: 8080, host: '0.0.0.0', ssl: true, proxies: ['a', 'b'] })
  assert.equal(settings.auth.token, null)
  assert.deepEqual({ ...settings.limits }, { read: { limit: 1, period: 60_000 }, write: { limit: 2, period: 5000 } })
})

test('a group may be given as JSON, and the more precise variable wins', async () => {
  const env = { COMMONPLACE_SERVER__PORT: '2', COMMONPLACE_SERVER: '{"port":1,"ssl":true}' }
  const { settings } = await load({ env })
  assert.deepEqual([settings.server.port, settings.server.ssl], [2, true])
})

test('a map adds to the entries below it, and an empty map clears them', async () => {
  assert.deepEqual(Object.keys((await load({ yaml: 'limits: { write: { limit: 2 } }' })).settings.limits), [
    'read',
    'write',
  ])
  assert.deepEqual(Object.keys((await load({ yaml: 'limits: {}' })).settings.limits), [])
})

test('a secret may be the content of a file, a list of secrets one per line', async () => {
  const cwd = folder({
    's.txt': '  s3cret\n',
    'l.txt': 'one\r\n\ntwo\n',
    'commonplace.yaml': 'auth: { token: below, secrets_file: l.txt }',
  })
  const { settings, sources } = await load({ cwd, env: { COMMONPLACE_TOKEN_FILE: 's.txt' } })
  assert.deepEqual(settings.auth, { token: 's3cret', secrets: ['one', 'two'] })
  assert.equal(sources.get('auth.token'), 'environment')
  const { settings: overridden } = await load({ cwd, env: { COMMONPLACE_AUTH__TOKEN: 'above' } })
  assert.equal(overridden.auth.token, 'above')
})

test('a secret file that is missing, doubled or holds a bad secret is a problem that shows no secret', async () => {
  const cwd = folder({ 'long.txt': 'topsecret'.repeat(9) })
  const [missing] = await problemsOf({ env: { COMMONPLACE_TOKEN_FILE: '/nowhere/at/all' } })
  assert.deepEqual(missing, {
    path: 'auth.token_file',
    message: 'names a file that does not exist (COMMONPLACE_TOKEN_FILE).',
    example: 'COMMONPLACE_TOKEN_FILE=/run/secrets/token',
  })
  const [doubled] = await problemsOf({ yaml: 'auth: { token: topsecret, token_file: a }' })
  assert.match(doubled?.message ?? '', /both given/)
  const [bad] = await problemsOf({ cwd, env: { COMMONPLACE_TOKEN_FILE: 'long.txt' } })
  assert.match(bad?.message ?? '', /must be text of at most 20 characters/)
  assert.doesNotMatch(JSON.stringify([doubled, bad]), /topsecret/)
})

test('a secret file without a secret in it is a problem, that of a list as well', async () => {
  const cwd = folder({ 'empty.txt': ' \n\n' })
  const problems = await problemsOf({ cwd, env: { COMMONPLACE_AUTH__SECRETS_FILE: 'empty.txt' } })
  assert.deepEqual(problems, [
    {
      path: 'auth.secrets_file',
      message: 'names a file that is empty (COMMONPLACE_AUTH__SECRETS_FILE).',
      example: 'COMMONPLACE_AUTH__SECRETS_FILE=/run/secrets/secrets',
    },
  ])
})

test('all problems come at once, each with its place and something valid', async () => {
  const yaml = 'server:\n  prot: 1\n  ssl: maybe\nport: 1\nlimits: { A: { limit: 1 }, read: {} }\nauth: 5\n'
  const env = { COMMONPLACE_PROT: '1', COMMONPLACE_SERVER__PORT: 'x', COMMONPLACE_SERVER__PROXIES: '[' }
  const problems = await problemsOf({ yaml, env, flags: { 'server.host': 7 } })
  assert.deepEqual(
    problems.map(({ path, message, example }) => [path, message.replace(/\/\S+\//, ''), example]),
    [
      ['COMMONPLACE_PROT', "is not a setting's variable; did you mean COMMONPLACE_PORT?", 'COMMONPLACE_PORT=4040'],
      [
        'server.proxies',
        'is not valid JSON, which lists and maps need in the environment (COMMONPLACE_SERVER__PROXIES).',
        'COMMONPLACE_SERVER__PROXIES=["a"]',
      ],
      ['auth', 'must be a map of its keys, not 5 (commonplace.yaml:6).', 'auth: { token: a-token }'],
      ['port', 'is not a setting (commonplace.yaml:4); did you mean `server.port`?', 'server: { port: 4040 }'],
      ['server.prot', 'is not a setting (commonplace.yaml:2); did you mean `port`?', 'server: { port: 4040 }'],
      [
        'server.port',
        'must be a whole number from 0 to 65535, not "x" (COMMONPLACE_SERVER__PORT).',
        'COMMONPLACE_SERVER__PORT=4040',
      ],
      ['server.host', 'must be text of at most 1000 characters on one line, not 7 (--host).', '--host 0.0.0.0'],
      ['server.ssl', 'must be `true` or `false`, not "maybe" (commonplace.yaml:3).', 'server: { ssl: false }'],
      ['limits.read.limit', 'is missing (commonplace.yaml:5).', 'limits: { read: { limit: 5 } }'],
      [
        'limits',
        'must have keys that are lower-case words, not "A" (commonplace.yaml:5).',
        'limits: { read: { limit: 5 } }',
      ],
    ],
  )
})

test('a check between members speaks up beside other problems, unless its own members are wrong', async () => {
  const both = await problemsOf({ yaml: 'server: { port: 13, ssl: 1 }' })
  assert.deepEqual(
    both.map(({ path }) => path),
    ['server.ssl', 'server.port'],
  )
  const one = await problemsOf({ yaml: 'server: { port: thirteen }' })
  assert.deepEqual(
    one.map(({ path }) => path),
    ['server.port'],
  )
})

test('variables that contradict each other, or reach into a map, are problems', async () => {
  const [contradiction] = await problemsOf({ env: { COMMONPLACE_PORT: '1', COMMONPLACE_SERVER__PORT: '2' } })
  assert.match(contradiction?.message ?? '', /set differently by COMMONPLACE_PORT and COMMONPLACE_SERVER__PORT/)
  await load({ env: { COMMONPLACE_PORT: '1', COMMONPLACE_SERVER__PORT: '1' } })
  const [inside] = await problemsOf({ env: { COMMONPLACE_LIMITS__READ: '{}' } })
  assert.match(inside?.message ?? '', /sets `limits` as a whole/)
  const [linked] = await problemsOf({ env: { COMMONPLACE_SERVICE_HOST: '10.0.0.1' } })
  assert.match(linked?.message ?? '', /enableServiceLinks/)
})

test("variables of tests and of the settings file are nobody's problem", async () => {
  await load({ env: { COMMONPLACE_TEST_POSTGRES_URL: 'postgres://x', COMMONPLACE_CONFIG: '', OTHER: '1' } })
})

test('names that are special to JavaScript are ordinary unknown names', async () => {
  const problems = await problemsOf({
    yaml: '__proto__: {x: 1}\nconstructor: 1\nserver: { __proto__: {ssl: true}, toString: 1 }',
  })
  assert.deepEqual(
    problems.map(({ path }) => path),
    ['__proto__', 'constructor', 'server.__proto__', 'server.toString'],
  )
  assert.equal(({} as Record<string, unknown>).x, undefined)
  const { settings } = await load({ env: { COMMONPLACE_LIMITS: '{"constructor":{"limit":1}}' } })
  assert.equal(settings.limits.toString, undefined)
  assert.deepEqual(Object.keys(settings.limits), ['read', 'constructor'])
})

test('a secret given by a variable and by the file of another one is refused', async () => {
  const env = { COMMONPLACE_TOKEN: 'a-token-of-twelve', COMMONPLACE_TOKEN_FILE: '/run/secrets/token' }
  const [problem] = await problemsOf({ env })
  assert.match(problem?.message ?? '', /^is set by COMMONPLACE_TOKEN and by COMMONPLACE_TOKEN_FILE; keep one of them/)
  assert.doesNotMatch(problem?.message ?? '', /a-token-of/)
  const [onlyFile] = await problemsOf({ env: { ...env, COMMONPLACE_TOKEN: '' } })
  assert.match(onlyFile?.message ?? '', /names a file that does not exist/)
})

test('thousands of problems are cut short', async () => {
  const yaml = Array.from({ length: 5000 }, (_, index) => `k${index}: 1`).join('\n')
  await assert.rejects(load({ yaml }), (error: SettingsError) => {
    assert.deepEqual([error.problems.length, error.more], [50, 4950])
    const lines = error.message.split('\n')
    assert.equal(lines[0], 'The settings have 5000 problems:')
    assert.equal(lines.at(-1), '  … and 4950 more that are not shown; correct these first.')
    assert.equal(lines.length, 1 + 2 * 50 + 1)
    return true
  })
})

test('credentials inside an address are not shown, nor are control characters', async () => {
  const [problem] = await problemsOf({ yaml: 'server: { port: "https://ada:hunter2@example.org/\\e[31m" }' })
  assert.match(problem?.message ?? '', /not "https:\/\/\*\*\*@example\.org\/\\u001b\[31m"/)
})

test('settings cannot be changed, however deep', async () => {
  const { settings } = await load({})
  assert.ok(
    Object.isFrozen(settings) && Object.isFrozen(settings.server.proxies) && Object.isFrozen(settings.limits.read),
  )
})
