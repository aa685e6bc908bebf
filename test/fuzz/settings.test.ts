import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { asYaml } from '../../src/cli/config.ts'
import { variablesOf } from '../../src/platform/config/environment.ts'
import type { LoadOptions } from '../../src/platform/config/load-settings.ts'
import { asText } from '../../src/platform/config/origins.ts'
import { type Setting, settingsIn } from '../../src/platform/config/setting.ts'
import { SettingsError } from '../../src/platform/config/settings-error.ts'
import { loadSettings, maskSecrets, ROOT, type Settings, SHORT_NAMES } from '../../src/settings.ts'
import { tempDir } from '../support/temp-dir.ts'

const folder = tempDir()

const keys = [...settingsIn(ROOT)]
const variables = [...variablesOf(ROOT, SHORT_NAMES).values()]
const mode = fc.constantFrom('dev' as const, 'serve' as const, 'cli' as const)

/** Either frozen settings, or a SettingsError that says something: never anything else. */
async function outcome(options: Partial<LoadOptions>): Promise<Settings | SettingsError> {
  try {
    const { settings } = await loadSettings({ mode: 'serve', env: {}, cwd: folder, ...options })
    assertFrozen(settings)
    return settings
  } catch (error) {
    assert.ok(error instanceof SettingsError, `${error instanceof Error ? error.stack : error}`)
    assert.ok(error.problems.length > 0 && error.problems.length <= 51)
    for (const { path, message, example } of error.problems) {
      assert.ok(path !== '' && message !== '' && example !== '', JSON.stringify({ path, message, example }))
      assert.ok(path.length + message.length + example.length < 6000, path)
      assert.doesNotMatch(path + message + example, /\p{Cc}/u)
    }
    return error
  } finally {
    assert.deepEqual(Object.keys(Object.prototype), [])
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
  }
}

function assertFrozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  assert.ok(Object.isFrozen(value))
  for (const inner of Object.values(value)) assertFrozen(inner)
}

function fromFile(content: string | Uint8Array, options: Partial<LoadOptions> = {}): Promise<Settings | SettingsError> {
  writeFileSync(join(folder, 'f.yaml'), content)
  return outcome({ ...options, configFile: 'f.yaml' })
}

// Names that are special somewhere, beside those that are meant.
const anyName = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'polluted',
    '<<',
    '',
    'admin_token_file',
    'secrets_file',
  ),
  fc.constantFrom(...keys.map(({ path }) => path.at(-1) as string)),
  fc.string({ maxLength: 12 }),
)

const anyValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      -1,
      1.5,
      4040,
      Number.POSITIVE_INFINITY,
      Number.NaN,
      2 ** 53,
      '',
      '10s',
      '0',
      'off',
      '127.0.0.1',
      '*',
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.double(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(anyName, tie('value')), { maxLength: 4 }).map(mapOf),
  ),
})).value

function mapOf(entries: [string, unknown][]): Record<string, unknown> {
  // Object.fromEntries defines `__proto__` as an own key, as JSON.parse does.
  return Object.fromEntries(entries)
}

/** A tree with the real keys, each with some value, right or wrong. */
function treeFor(setting: Setting): fc.Arbitrary<unknown> {
  if (setting.kind !== 'group') return fc.oneof({ arbitrary: fc.constant(setting.example), weight: 6 }, anyValue)
  const members = Object.entries(setting.members)
  return fc
    .subarray(members, { maxLength: Math.min(6, members.length) })
    .chain((chosen) =>
      fc.tuple(...chosen.map(([key, member]) => treeFor(member).map((value): [string, unknown] => [key, value]))),
    )
    .chain((entries) =>
      fc.array(fc.tuple(anyName, anyValue), { maxLength: 1 }).map((extra) => mapOf([...entries, ...extra])),
    )
}

test('no bytes in a settings file do more than stop the start', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), (bytes) => fromFile(bytes).then(() => {})),
    { numRuns: 300 },
  )
})

test('no text that looks like YAML does more than stop the start', async () => {
  const scrap = fc.constantFrom(
    'server',
    ': ',
    '\n',
    '  ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    '&a ',
    '*a',
    '!!set ',
    '"',
    "'",
    '|\n',
    '? ',
    '#',
    '%YAML 1.1',
    '---\n',
    '<<',
    ',',
    '\t',
    '10s',
    '\u2028',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(scrap, fc.string({ maxLength: 5 })), { maxLength: 40 }), (scraps) =>
      fromFile(scraps.join('')).then(() => {}),
    ),
    { numRuns: 500 },
  )
})

test('no tree of right and wrong values does more than stop the start', async () => {
  await fc.assert(
    fc.asyncProperty(treeFor(ROOT), mode, (tree, inMode) => fromFile(stringify(tree), { mode: inMode }).then(() => {})),
    { numRuns: 500 },
  )
})

test('no environment does more than stop the start', async () => {
  const name = fc.oneof(
    { arbitrary: fc.constantFrom(...variables.map((variable) => variable.name)), weight: 5 },
    fc.string({ maxLength: 20 }).map((text) => `COMMONPLACE_${text}`),
    fc.constantFrom(
      'COMMONPLACE_',
      'COMMONPLACE___PROTO__',
      'COMMONPLACE_SERVER____PROTO__',
      '__proto__',
      'COMMONPLACE_CONFIG',
    ),
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.json(),
    anyValue.map(asText),
    fc.constantFrom(folder, '/dev/null', '{"__proto__":{"polluted":1}}'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, text), { maxLength: 6 }), mode, (entries, inMode) =>
      outcome({ mode: inMode, env: Object.fromEntries(entries) }).then(() => {}),
    ),
    { numRuns: 500 },
  )
})

test('no flags do more than stop the start', async () => {
  const path = fc.oneof(
    fc.constantFrom(...keys.map((key) => key.path.join('.'))),
    fc.string({ maxLength: 20 }),
    anyName,
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(path, anyValue), { maxLength: 4 }), (entries) =>
      outcome({ flags: mapOf(entries) }).then(() => {}),
    ),
    { numRuns: 500 },
  )
})

test('what was accepted can be shown, and what is shown is accepted again', async () => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(fc.subarray(keys, { minLength: 1, maxLength: 8 }), mode, async (chosen, inMode) => {
      const env: Record<string, string> = {}
      for (const { path, setting } of chosen) {
        if (setting.kind !== 'group' && setting.secret === undefined)
          env[`COMMONPLACE_${path.join('__').toUpperCase()}`] = asText(setting.example)
      }
      const settings = await outcome({ mode: inMode, env })
      if (settings instanceof SettingsError) return
      accepted += 1
      assert.deepEqual(maskSecrets(settings), settings)
      const loaded = await loadSettings({ mode: inMode, env, cwd: folder })
      assert.deepEqual(await fromFile(asYaml(loaded), { mode: inMode }), settings)
    }),
    { numRuns: 100 },
  )
  assert.ok(accepted > 50, `only ${accepted} were accepted`)
})
