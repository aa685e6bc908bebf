import assert from 'node:assert/strict'
import { test } from 'node:test'
import { putSetting, readSettingRows } from '../../src/instance/settings/store-settings.ts'
import { eachDatabase } from '../support/each-database.ts'
import { adminWorld, anotherProcess, auditOf, nextChange, refusal } from './admin-world.ts'

eachDatabase('settings of the instance', ({ open, openAgain }) => {
  test('stored values lie over the file and the defaults, and null gives the file its say again', async () => {
    const db = await open()
    const { settings, operator } = await adminWorld(db, { yaml: 'instance: { title: From the file, languages: [de] }' })
    assert.equal((await settings.get(operator)).title, 'From the file')
    const patched = await settings.patch(operator, { title: 'Stored', contact: { email: 'ops@example.org' } })
    assert.deepEqual([patched.title, patched.contact.email, patched.languages], ['Stored', 'ops@example.org', ['de']])
    assert.deepEqual(await settings.get(operator), patched)
    const dropped = await settings.patch(operator, { title: null })
    assert.deepEqual([dropped.title, dropped.contact.email], ['From the file', 'ops@example.org'])
    const sources = await settings.sources(operator)
    assert.deepEqual([sources.title, sources['contact.email'], sources.domain], ['file', 'stored', 'default'])
  })

  test('a language has one spelling, however the file or a change spells it, and stands in the list once', async () => {
    const db = await open()
    const yaml = 'instance: { languages: [DE, pt-br, de, pt_BR] }'
    const { settings, operator } = await adminWorld(db, { yaml })
    assert.deepEqual((await settings.get(operator)).languages, ['de', 'pt-BR'])
    const { languages } = await settings.patch(operator, { languages: ['EN_us', 'zh-hans', 'en-US', 'En'] })
    assert.deepEqual(languages, ['en-US', 'zh-Hans', 'en'])
    const events = (await auditOf(db, 'instance_settings')).length
    assert.deepEqual((await settings.patch(operator, { languages: ['en-us', 'ZH_Hans', 'en'] })).languages, languages)
    assert.equal((await auditOf(db, 'instance_settings')).length, events)
  })

  test('a key that the environment fixes is refused, and can only be dropped', async () => {
    const db = await open()
    const before = await adminWorld(db)
    await before.settings.patch(before.operator, { title: 'Stored' })
    const world = await anotherProcess(before, db, { env: { COMMONPLACE_INSTANCE__TITLE: 'Fixed' } })
    const { operator } = before
    assert.equal((await world.settings.get(operator)).title, 'Stored')
    assert.deepEqual(await refusal(world.settings.patch(operator, { title: 'New', description: 'D' })), {
      title: 'ERR_FIXED',
    })
    assert.equal((await world.settings.get(operator)).description, '', 'nothing of it was applied')
    const refused = () => world.settings.patch(operator, { title: 'New' })
    await assert.rejects(refused, /title is fixed by .*, and a stored value lies over it: send null to drop that/)
    assert.equal((await world.settings.patch(operator, { title: null })).title, 'Fixed')
    await assert.rejects(refused, /title is fixed by the environment of the server: change it there/)
  })

  test('one wrong key keeps all others from being stored', async () => {
    const db = await open()
    const { settings, operator } = await adminWorld(db)
    const patch = { title: 'New', foo: 1, languages: ['x y'], whitelist_mode: 'yes', peers: { sources: ['nobody'] } }
    assert.deepEqual(await refusal(settings.patch(operator, patch)), {
      foo: 'ERR_UNKNOWN',
      'languages[0]': 'ERR_INVALID',
      whitelist_mode: 'ERR_INVALID',
      'peers.sources[0]': 'ERR_INVALID',
    })
    assert.equal((await settings.get(operator)).title, 'Commonplace')
    assert.deepEqual(await auditOf(db, 'instance_settings'), [])
  })

  test('a change is heard of at once, here and in another process', async () => {
    const db = await open()
    const world = await adminWorld(db)
    const other = await anotherProcess(world, await openAgain(db))
    assert.equal((await other.keeper.current()).whitelist_mode, false)
    const heard = nextChange(other)
    await world.settings.patch(world.operator, { whitelist_mode: true })
    assert.equal(world.keeper.known().whitelist_mode, true)
    if (db.engine === 'sqlite') return
    await heard
    assert.equal((await other.keeper.current()).whitelist_mode, true)
  })

  test('nobody is told the former value while the new one is being read', async () => {
    const db = await open()
    const { keeper, settings, operator, changes } = await adminWorld(db)
    await keeper.current()
    const told: Promise<boolean>[] = []
    changes.listen(() => void told.push(keeper.current().then(({ whitelist_mode: isOn }) => isOn)))
    await settings.patch(operator, { whitelist_mode: true })
    assert.ok(told.length > 0)
    for (const isOn of await Promise.all(told)) assert.equal(isOn, true)
  })

  test('reads the database only after a change', async () => {
    const db = await open()
    const { keeper, settings, operator } = await adminWorld(db)
    const known = await keeper.current()
    assert.equal(await keeper.current(), known)
    await settings.patch(operator, { description: 'D' })
    const changed = await keeper.current()
    assert.equal(changed.description, 'D')
    assert.equal(await keeper.current(), changed)
  })

  test('a secret is stored encrypted, shown masked, and left alone when the mask comes back', async () => {
    const db = await open()
    const { settings, operator, keeper } = await adminWorld(db)
    const shown = await settings.patch(operator, { translation: { api_key: 'very-secret' } })
    assert.equal(shown.translation.api_key, '***')
    const rows = await db.query.selectFrom('instance_settings').selectAll().execute()
    const events = await auditOf(db, 'instance_settings')
    assert.ok(!JSON.stringify([rows, events]).includes('very-secret'))
    await settings.patch(operator, { ...shown, title: 'T' })
    assert.equal((await keeper.current()).translation.api_key, 'very-secret')
  })

  test('a key is sent to another address by who gives it only', async () => {
    const db = await open()
    const { settings, operator } = await adminWorld(db)
    const translation = (patch: object | null) => settings.patch(operator, { translation: patch })
    const refused = async (patch: object) => Object.keys(await refusal(translation(patch))).join()
    const elsewhere = { endpoint: 'http://elsewhere.example.org' }
    await translation({ provider: 'deepl', api_key: 'very-secret' })
    assert.equal(await refused(elsewhere), 'translation.endpoint')
    assert.equal(await refused({ ...elsewhere, api_key: '***' }), 'translation.endpoint')
    await assert.rejects(translation(elsewhere), /endpoint needs translation\.api_key in the same request/)
    await translation({ ...elsewhere, api_key: 'very-secret' })
    await translation({ ...elsewhere, api_key: '***', plan: 'pro' })
    assert.equal(await refused({ provider: 'libretranslate' }), 'translation.provider')
    await translation({ provider: null })
    await translation({ endpoint: 'http://another.example.org' })
    assert.equal(await refused({ provider: 'deepl' }), 'translation.provider')
    await translation({ provider: 'deepl', endpoint: null })
    await translation({ ...elsewhere, api_key: '' })
    await translation(null)
  })

  test('a key of the settings file is sent to addresses of the settings file only', async () => {
    const db = await open()
    const yaml =
      'instance: { translation: { provider: deepl, endpoint: "https://a.example.org", api_key: very-secret } }'
    const { settings, operator } = await adminWorld(db, { yaml })
    const translation = (patch: object) => settings.patch(operator, { translation: patch })
    const elsewhere = { endpoint: 'http://elsewhere.example.org' }
    assert.deepEqual(await refusal(translation(elsewhere)), { 'translation.endpoint': 'ERR_FIXED' })
    await translation({ ...elsewhere, api_key: 'of-my-own' })
    assert.deepEqual(await refusal(translation({ api_key: null })), { 'translation.api_key': 'ERR_INVALID' })
    await translation({ api_key: '' })
    assert.deepEqual(await refusal(translation({ api_key: null })), { 'translation.api_key': 'ERR_INVALID' })
    await translation({ api_key: null, endpoint: null })
  })

  test('what is shown can be sent back without any effect', async () => {
    const db = await open()
    const { settings, operator } = await adminWorld(db, {
      yaml: 'instance: { limits: { statuses.max_characters: 9 } }',
    })
    const shown = await settings.get(operator)
    assert.deepEqual(await settings.patch(operator, shown), shown)
    assert.deepEqual(await auditOf(db, 'instance_settings'), [])
  })

  test('every change is in the log with the old and the new value, and nothing that changed nothing', async () => {
    const db = await open()
    const { settings, operator } = await adminWorld(db)
    await settings.patch(operator, { title: 'A', rate_limits: { per_token: 5 }, limits: { 'polls.max_options': 1 } })
    await settings.patch(operator, { title: 'A' })
    await settings.patch(operator, {})
    const [event, ...others] = await auditOf(db, 'instance_settings')
    assert.deepEqual([event?.action, event?.actor_kind, others], ['settings.changed', 'system', []])
    assert.deepEqual(event?.changes.settings, {
      old: ['title: "Commonplace"', 'limits: {}', 'rate_limits.per_token: 300'],
      new: ['title: "A"', 'limits: {"polls.max_options":1}', 'rate_limits.per_token: 5'],
    })
  })

  test('stored values that this version cannot use have no effect, and do not keep others from being changed', async () => {
    const db = await open()
    const { settings, operator, keeper, clock } = await adminWorld(db)
    await db.write(async (tx) => {
      await putSetting(tx, 'title', '5', clock.now())
      await putSetting(tx, 'of.another.version', '"x"', clock.now())
      await putSetting(tx, 'translation.api_key', '"not encrypted"', clock.now())
    })
    assert.equal((await keeper.current()).title, 'Commonplace')
    assert.equal((await settings.patch(operator, { description: 'D' })).description, 'D')
    await settings.patch(operator, { title: null, translation: null })
    const kept = (await readSettingRows(db)).map(({ key }) => key)
    assert.deepEqual(kept, ['description', 'of.another.version'], 'and null removes them')
  })

  test('of stored limits those that this version does not know have no effect, and the others have', async () => {
    const db = await open()
    const { settings, operator, keeper, clock } = await adminWorld(db)
    const limits = { 'statuses.max_characters': 1234, 'of.no_use': 5 }
    await db.write((tx) => putSetting(tx, 'limits', JSON.stringify(limits), clock.now()))
    const known = { 'statuses.max_characters': 1234 }
    assert.deepEqual({ ...(await keeper.current()).limits }, known)
    const after = await settings.patch(operator, { limits: { 'polls.max_options': 1 } })
    assert.deepEqual({ ...after.limits }, { ...known, 'polls.max_options': 1 })
  })

  test('the contact must be a user', async () => {
    const db = await open()
    const { settings, operator, administratorId } = await adminWorld(db)
    assert.deepEqual(await refusal(settings.patch(operator, { contact: { user: 'nobody' } })), {
      'contact.user': 'ERR_NOT_FOUND',
    })
    for (const user of [administratorId, 'ADMIN@example.org', 'admin']) {
      assert.equal((await settings.patch(operator, { contact: { user } })).contact.user, user)
    }
  })

  test('of many changes at once none is lost', async () => {
    const db = await open()
    const { settings, operator } = await adminWorld(db)
    const keys = ['description', 'legacy_description', 'title', 'streaming_url', 'status_page_url'] as const
    const values: Record<(typeof keys)[number], string> = {
      description: 'D',
      legacy_description: 'L',
      title: 'T',
      streaming_url: 'wss://kb.example.org',
      status_page_url: 'https://status.example.org',
    }
    await Promise.all(keys.map((key) => settings.patch(operator, { [key]: values[key] })))
    const after = await settings.get(operator)
    assert.deepEqual(Object.fromEntries(keys.map((key) => [key, after[key]])), values)
  })
})
