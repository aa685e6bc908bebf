import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { loadSettings } from '../../platform/config/load-settings.ts'
import type { InstanceSettings } from '../settings.ts'
import { instanceSettings } from '../settings.ts'
import { settingChanges } from './audited-settings.ts'
import { layOver, layUsableOver } from './effective-settings.ts'
import { SETTING_KEYS } from './setting-keys.ts'
import { patchSettings, type StoredValues } from './settings-patch.ts'

let base: InstanceSettings
before(async () => {
  base = (await loadSettings(instanceSettings, {}, { mode: 'serve', env: {}, cwd: '/nowhere' })).settings
})

const stored = (values: Record<string, unknown>): StoredValues => new Map(Object.entries(values))
const entries = (values: StoredValues) => Object.fromEntries(values)

function effective(values: StoredValues): InstanceSettings {
  const result = layOver(base, values)
  assert.ok('settings' in result, JSON.stringify(result))
  return result.settings
}

function problemsOf(values: StoredValues): string[] {
  const result = layOver(base, values)
  return 'problems' in result ? result.problems.map(({ path, message }) => `${path} ${message}`) : []
}

describe('a merge patch over the stored values', () => {
  test('sets what it names, drops what is null, and leaves the rest', () => {
    const before = stored({ title: 'A', 'contact.email': 'a@example.org', languages: ['de'] })
    const patch = { title: null, contact: { fields: [] }, peers: { enabled: false } }
    const { stored: after, given, problems } = patchSettings(before, patch)
    assert.deepEqual(problems, [])
    assert.deepEqual(given, ['contact.fields', 'peers.enabled'])
    assert.deepEqual(entries(after), {
      'contact.email': 'a@example.org',
      'contact.fields': [],
      languages: ['de'],
      'peers.enabled': false,
    })
    assert.deepEqual(entries(before), { title: 'A', 'contact.email': 'a@example.org', languages: ['de'] })
  })

  test('null drops a whole group', () => {
    const before = stored({ 'contact.email': 'a@example.org', 'contact.fields': [], title: 'A' })
    assert.deepEqual(entries(patchSettings(before, { contact: null }).stored), { title: 'A' })
  })

  test('an empty text clears: to nothing where a key may have no value, else to an empty text', () => {
    const { stored: after } = patchSettings(stored({}), { description: '', status_page_url: '', domain: '' })
    assert.deepEqual(entries(after), { description: '', status_page_url: null, domain: null })
    assert.equal(effective(after).status_page_url, null)
  })

  test('a map is changed entry by entry, and dropped with its last one', () => {
    const before = stored({ limits: { 'statuses.max_characters': 1, 'polls.max_options': 2 } })
    const one = patchSettings(before, { limits: { 'polls.max_options': null, 'a.b': 3 } }).stored
    assert.deepEqual(entries(one), { limits: { 'statuses.max_characters': 1, 'a.b': 3 } })
    const none = patchSettings(one, { limits: { 'statuses.max_characters': null, 'a.b': null } }).stored
    assert.deepEqual(entries(none), {})
  })

  test('a masked secret that comes back is the one that is there', () => {
    const before = stored({ 'translation.api_key': 'secret' })
    assert.deepEqual(entries(patchSettings(before, { translation: { api_key: '***' } }).stored), entries(before))
  })

  test('names every key that is none, and every group that is no object', () => {
    const patch = { titel: 'x', contact: { foo: null }, peers: 5, limits: [], translation: { api_key_file: '/etc/x' } }
    const { problems, stored: after } = patchSettings(stored({}), patch)
    assert.deepEqual(
      problems.map(({ field, text }) => `${field} ${text}`),
      [
        'titel is not a setting; did you mean title?',
        'contact.foo is not a setting',
        'peers must be an object',
        'limits must be an object',
        'translation.api_key_file can be set in the settings file only',
      ],
    )
    assert.deepEqual(entries(after), {})
    for (const body of [null, 5, 'x', [], [{}]]) assert.equal(patchSettings(stored({}), body).problems.length, 1)
  })

  test('of a patch full of keys that are none it looks at no more than are told', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`titel${index}`, index]))
    for (const patch of [many, { contact: many }, { contact: many, ...many }]) {
      assert.equal(patchSettings(stored({}), patch).problems.length, 100)
    }
    const { problems, given } = patchSettings(stored({}), { limits: many })
    assert.deepEqual(problems, [{ field: 'limits', text: 'must have at most 100 members', code: 'ERR_TOO_LONG' }])
    assert.deepEqual(given, [])
  })

  test('whatever the patch, it ends, and only known keys are stored', () => {
    fc.assert(
      fc.property(
        fc.object({ key: fc.oneof(fc.constantFrom('title', 'contact', 'email', 'limits'), fc.string()) }),
        (patch) => {
          for (const key of patchSettings(stored({}), patch).stored.keys()) assert.ok(SETTING_KEYS.has(key))
        },
      ),
    )
  })
})

describe('the settings in effect', () => {
  test('are the stored values over the others', () => {
    const settings = effective(stored({ title: 'A', 'rate_limits.per_ip': 7, 'peers.declared': ['Example.NET'] }))
    assert.deepEqual([settings.title, settings.rate_limits.per_ip, settings.rate_limits.per_user], ['A', 7, 1500])
    assert.deepEqual(settings.peers.declared, ['example.net'])
    assert.deepEqual(effective(stored({})), base)
  })

  test('a wrong value is judged as in the settings file', () => {
    assert.deepEqual(problemsOf(stored({ title: 5, 'registrations.mode': 'maybe', languages: [] })), [
      'title must be text of at most 200 characters on one line, not 5.',
      'languages must have 1 to 200 items, not 0.',
      'registrations.mode must be one of `none`, `approved`, `open`, not "maybe".',
    ])
    assert.deepEqual(problemsOf(stored({ 'translation.provider': 'libretranslate' })), [
      'translation.endpoint is needed for `libretranslate`.',
    ])
    assert.ok(
      !problemsOf(stored({ 'translation.api_key': 5 }))
        .join()
        .includes('5'),
    )
  })

  test('a limit that there is none of is refused, and those that there are are named', () => {
    const [problem, other] = problemsOf(stored({ limits: { 'statuses.foo': 3, 'statuses.max_characters': 3 } }))
    assert.match(
      problem ?? '',
      /^limits\["statuses\.foo"\] is no limit .*`statuses\.max_characters`, `statuses\.max_media_attachments`/,
    )
    const [wild] = problemsOf(stored({ limits: { 'nothing.known': 3 } }))
    assert.match(wild ?? '', /`accounts\.max_note_length`.*`polls\.max_options`/)
    assert.doesNotMatch(wild ?? '', /supported_mime_types/)
    assert.equal(other, undefined)
  })

  test('stored values that have become wrong are left out, and the others stay', () => {
    const { usable, settings } = layUsableOver(
      base,
      stored({ title: 5, description: 'D', 'translation.provider': 'libretranslate' }),
    )
    assert.deepEqual(entries(usable), { description: 'D' })
    assert.deepEqual(settings, effective(usable))
  })

  test('what changed is told by key, without secrets', () => {
    const after = effective(stored({ title: 'A', 'translation.api_key': 'secret', 'rate_limits.per_token': 9 }))
    const changes = JSON.stringify(settingChanges(base, after))
    assert.deepEqual(JSON.parse(changes), {
      settings: {
        old: ['title: "Commonplace"', 'translation.api_key: null', 'rate_limits.per_token: 300'],
        new: ['title: "A"', 'translation.api_key: "***" (changed)', 'rate_limits.per_token: 9'],
      },
    })
    assert.ok(!changes.includes('secret"'))
    assert.equal(settingChanges(base, effective(stored({ title: base.title }))), undefined)
  })
})
