import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENDPOINTS, eachPublicWorld, PublicWorld } from './public-world.ts'
import { TestProvider } from './translation-provider.ts'

const REFRESH = '/api/v1/admin/instance/translation_languages/refresh'
const LIBRE = {
  '/languages': [
    { code: 'en', name: 'English', targets: ['de', 'en', 'es'] },
    { code: 'da', name: 'Danish', targets: ['en', 'pt'] },
  ],
}
const LIBRE_LIST = { en: ['de', 'es'], da: ['en', 'pt'], und: ['de', 'en', 'es', 'pt'] }
const DEEPL = {
  '/v2/languages?type=source': [{ language: 'EN' }, { language: 'UK' }],
  '/v2/languages?type=target': [{ language: 'EN-GB' }, { language: 'ZH' }],
}
const DEEPL_LIST = { en: ['pt', 'en-GB', 'zh'], uk: ['en', 'pt', 'en-GB', 'zh'], und: ['en', 'pt', 'en-GB', 'zh'] }
const UNREACHABLE = { error: 'Remote data could not be fetched' }

eachPublicWorld('translation languages', (world) => {
  const languages = async (status = 200) => (await world().get(ENDPOINTS.languages, status)).body
  const isEnabled = async () => (await world().get(ENDPOINTS.v2)).body.configuration.translation.enabled

  test('the list of LibreTranslate is fetched once and kept, also when the service is gone', async () => {
    assert.deepEqual([await languages(), await isEnabled()], [{}, false])
    const provider = await TestProvider.start(LIBRE)
    await world().set({ translation: { provider: 'libretranslate', endpoint: provider.url } })
    assert.equal(await isEnabled(), true)
    assert.deepEqual(await languages(), LIBRE_LIST)
    assert.deepEqual(await languages(), LIBRE_LIST)
    assert.equal(provider.asked.filter(({ path }) => path === '/languages').length, 1)
    await provider[Symbol.asyncDispose]()
    assert.deepEqual(await languages(), LIBRE_LIST)
    const refused = await world().admin.post(REFRESH, 503)
    assert.deepEqual(refused.body, UNREACHABLE)
    assert.equal(refused.headers.get('cache-control'), 'private, no-store')
    assert.deepEqual(await languages(), LIBRE_LIST, 'the last good list stays')
  })

  test('DeepL gets its key in a header, and nobody else ever sees it', async () => {
    await using provider = await TestProvider.start(DEEPL)
    const key = 'a-key-that-nobody-may-see'
    await world().set({ translation: { provider: 'deepl', endpoint: `${provider.url}/`, api_key: key } })
    assert.deepEqual(await languages(), DEEPL_LIST)
    assert.ok(provider.asked.every(({ authorization }) => authorization === `DeepL-Auth-Key ${key}`))
    provider.answers = {}
    await world().admin.post(REFRESH, 503)
    const settings = await world().admin.get('/api/v1/admin/instance', 200)
    assert.ok(!settings.text.includes(key))
    assert.ok(!world().server.output().includes(key))
    const rows = await world().callers.db.query.selectFrom('translation_lists').selectAll().execute()
    assert.ok(!JSON.stringify(rows).includes(key))
    assert.equal(rows.length, 1, 'lists of former providers are dropped')
  })

  test('another provider, address or key has another list', async () => {
    await using provider = await TestProvider.start({ ...LIBRE, ...DEEPL })
    await world().set({ translation: { provider: 'deepl', endpoint: provider.url, api_key: 'one' } })
    assert.deepEqual(await languages(), DEEPL_LIST)
    provider.answers = { ...LIBRE, ...DEEPL, '/v2/languages?type=source': [{ language: 'FR' }] }
    await world().set({ translation: { api_key: 'two' } })
    assert.deepEqual(Object.keys(await languages()), ['fr', 'und'])
    await world().set({ translation: { provider: 'libretranslate', api_key: 'two' } })
    assert.deepEqual(await languages(), LIBRE_LIST)
    await world().set({ translation: null })
    assert.deepEqual(await languages(), {})
  })

  test('an administrator refreshes it by hand, and it is written down', async () => {
    await using provider = await TestProvider.start(LIBRE)
    await world().set({ translation: { provider: 'libretranslate', endpoint: provider.url } })
    assert.deepEqual(await languages(), LIBRE_LIST)
    provider.answers = { '/languages': [{ code: 'fr', targets: ['en'] }] }
    const { body } = await world().admin.post(REFRESH, 200)
    assert.deepEqual(body, { fr: ['en'], und: ['en'] })
    assert.deepEqual(await languages(), body)
    const audited = await world()
      .callers.db.query.selectFrom('audit_events')
      .select('action')
      .where('target_type', '=', 'instance_translation')
      .execute()
    assert.deepEqual([...new Set(audited.map(({ action }) => action))], ['instance_translation.refreshed'])
    await world().stranger.post(REFRESH, 401)
    await (await world().callers.make({ roles: ['standard'] })).client.post(REFRESH, 403)
    await world().set({ translation: null })
    assert.deepEqual((await world().admin.post(REFRESH, 200)).body, {})
  })

  test('a service that is out of order is 503 here, and nothing elsewhere', async () => {
    const bad: [what: string, answers: Record<string, unknown>][] = [
      ['an error', { '/languages': 500 }],
      ['a redirect', { '/languages': 302, '/elsewhere': LIBRE['/languages'] }],
      ['nonsense', { '/languages': 'no list' }],
      ['an empty list', { '/languages': [] }],
      ['too much', { '/languages': ['x'.repeat(2_000_000)] }],
    ]
    for (const [what, answers] of bad) {
      await using provider = await TestProvider.start(answers)
      await world().set({ translation: { provider: 'libretranslate', endpoint: provider.url } })
      const refused = await world().get(ENDPOINTS.languages, 503)
      assert.deepEqual(refused.body, UNREACHABLE, what)
      assert.equal(refused.headers.get('cache-control'), 'private, no-store')
      assert.ok(refused.headers.has('retry-after'))
      const asked = provider.asked.length
      await world().get(ENDPOINTS.languages, 503)
      assert.equal(provider.asked.length, asked, 'it is left alone for a while')
      assert.ok(
        provider.asked.every(({ path }) => path !== '/elsewhere'),
        'a redirect is not followed',
      )
    }
  })

  test('while a service does not answer, everything else does', async () => {
    await using provider = await TestProvider.start({ '/languages': 'hang' })
    await world().set({ translation: { provider: 'libretranslate', endpoint: provider.url } })
    const asked = provider.nextQuestion()
    const waiting = languages(503)
    await asked
    for (const [name, path] of Object.entries(ENDPOINTS)) {
      if (name !== 'languages' && name !== 'terms') await world().get(path)
    }
    assert.deepEqual(await waiting, UNREACHABLE)
    await world().set({ translation: null })
  })
})

test('the last good list survives a restart while the service is away', async () => {
  const provider = await TestProvider.start(LIBRE)
  const env = {
    COMMONPLACE_INSTANCE__TRANSLATION__PROVIDER: 'libretranslate',
    COMMONPLACE_INSTANCE__TRANSLATION__ENDPOINT: provider.url,
  }
  const first = await PublicWorld.start({ env })
  assert.deepEqual((await first.get(ENDPOINTS.languages)).body, LIBRE_LIST)
  const { dataDir } = first.server
  await first[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
  await using second = await PublicWorld.start({ env, dataDir })
  assert.deepEqual((await second.get(ENDPOINTS.languages)).body, LIBRE_LIST)
})
