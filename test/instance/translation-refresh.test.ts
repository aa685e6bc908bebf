import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TranslationService } from '../../src/instance/translation/translation-service.ts'
import type { Recurring } from '../../src/platform/jobs/recurring.ts'
import { eachDatabase } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { adminWorld } from './admin-world.ts'
import { localFetchJson, TestProvider } from './translation-provider.ts'

const DAY_MS = 86_400_000
const ENDPOINT = 'instance:\n  translation:\n    provider: libretranslate\n    endpoint: '

eachDatabase('background refresh of translation languages', ({ open }) => {
  test('the list is kept for a week, then asked for again; a failure is tried again and loses nothing', async () => {
    await using provider = await TestProvider.start({ '/languages': [{ code: 'en', targets: ['de'] }] })
    const world = await adminWorld(await open(), { yaml: ENDPOINT + provider.url })
    const fetchJson = localFetchJson(world.clock)
    const service = new TranslationService({ ...world, log: silentLogger(), settings: world.keeper, fetchJson })
    let job: Recurring | undefined
    service.schedule({
      recurring: (recurring) => {
        job = recurring
      },
    })
    const run = () => (job as Recurring).run(undefined as never, undefined as never)
    const read = async () => service.readLanguages(world.db, await world.keeper.current())
    assert.equal(await read(), undefined)
    await run()
    assert.deepEqual(await read(), { en: ['de'], und: ['de'] })
    await world.clock.advance(6 * DAY_MS)
    await run()
    assert.equal(provider.asked.length, 1)
    await world.clock.advance(DAY_MS + 1_000)
    provider.answers = { '/languages': 500 }
    await assert.rejects(run(), 'so that it is tried again')
    assert.deepEqual(await read(), { en: ['de'], und: ['de'] })
    provider.answers = { '/languages': [{ code: 'fr', targets: ['de'] }] }
    await run()
    assert.deepEqual(await read(), { fr: ['de'], und: ['de'] })
  })

  test('whoever asks together asks once, and a failure is remembered for half a minute', async () => {
    await using provider = await TestProvider.start({ '/languages': 500 })
    const world = await adminWorld(await open(), { yaml: ENDPOINT + provider.url })
    const fetchJson = localFetchJson(world.clock)
    const service = new TranslationService({ ...world, log: silentLogger(), settings: world.keeper, fetchJson })
    const settings = await world.keeper.current()
    const ask = () => service.fetchFirst(settings)
    assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [undefined, undefined, undefined])
    assert.equal(await ask(), undefined)
    assert.equal(provider.asked.length, 1)
    await world.clock.advance(30_000)
    provider.answers = { '/languages': [{ code: 'en', targets: ['de'] }] }
    assert.deepEqual(await ask(), { en: ['de'], und: ['de'] })
    assert.equal(provider.asked.length, 2)
  })

  test('a service that never answers is given up after five seconds', async () => {
    await using provider = await TestProvider.start({ '/languages': 'hang' })
    const world = await adminWorld(await open(), { yaml: ENDPOINT + provider.url })
    const fetchJson = localFetchJson(world.clock)
    const service = new TranslationService({ ...world, log: silentLogger(), settings: world.keeper, fetchJson })
    const asked = provider.nextQuestion()
    const answer = service.fetchFirst(await world.keeper.current())
    await asked
    await world.clock.advance(5_000)
    assert.equal(await answer, undefined)
  })
})
