import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { FetchJson } from '../../platform/outbound/fetch-json.ts'
import { languageCode } from '../../platform/text/language-code.ts'
import { fetchLanguages, providerAddress, type TranslationSettings } from './providers.ts'

const DEEPL: TranslationSettings = { provider: 'deepl', endpoint: null, api_key: 'k', plan: 'free' }
const LIBRE: TranslationSettings = {
  provider: 'libretranslate',
  endpoint: 'https://translate.example.org/base/',
  api_key: null,
  plan: 'free',
}

function answering(answers: Record<string, unknown>, seen: unknown[] = []): FetchJson {
  return async (url, options) => {
    seen.push([url, options.headers])
    return answers[url]
  }
}

describe('the languages of a translation service', () => {
  test('DeepL: two lists, the unlisted targets in front, the key in a header', async () => {
    const seen: unknown[] = []
    const fetchJson = answering(
      {
        'https://api-free.deepl.com/v2/languages?type=source': [{ language: 'EN' }, { language: 'UK' }],
        'https://api-free.deepl.com/v2/languages?type=target': [{ language: 'EN-GB' }, { language: 'ZH' }],
      },
      seen,
    )
    assert.deepEqual(await fetchLanguages(fetchJson, DEEPL), {
      en: ['pt', 'en-GB', 'zh'],
      uk: ['en', 'pt', 'en-GB', 'zh'],
      und: ['en', 'pt', 'en-GB', 'zh'],
    })
    assert.deepEqual(
      seen.map((call) => (call as [string, object])[1]),
      [{ authorization: 'DeepL-Auth-Key k' }, { authorization: 'DeepL-Auth-Key k' }],
    )
  })

  test('LibreTranslate: pairs without themselves, and the sorted union for any source', async () => {
    const fetchJson = answering({
      'https://translate.example.org/base/languages': [
        { code: 'en', name: 'English', targets: ['de', 'en', 'es'] },
        { code: 'da', name: 'Danish', targets: ['en', 'pt'] },
      ],
    })
    assert.deepEqual(await fetchLanguages(fetchJson, LIBRE), {
      en: ['de', 'es'],
      da: ['en', 'pt'],
      und: ['de', 'en', 'es', 'pt'],
    })
  })

  test('an endpoint replaces the host of either provider', () => {
    assert.equal(providerAddress(DEEPL), 'https://api-free.deepl.com')
    assert.equal(providerAddress({ ...DEEPL, plan: 'pro' }), 'https://api.deepl.com')
    assert.equal(providerAddress({ ...DEEPL, endpoint: 'https://proxy.example.org/' }), 'https://proxy.example.org')
    assert.equal(providerAddress({ ...LIBRE, provider: null }), null)
  })

  test('whatever a service answers, the list is one of codes, or there is none', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.constantFrom(DEEPL, LIBRE), async (answer, settings) => {
        const languages = await fetchLanguages(async () => answer, settings).catch(() => null)
        for (const [source, targets] of Object.entries(languages ?? {})) {
          for (const code of [source, ...targets]) assert.equal(languageCode(code), code)
        }
      }),
    )
    for (const answer of [null, {}, [], 'x', [{ code: 7 }]]) {
      await assert.rejects(fetchLanguages(async () => answer, LIBRE))
    }
  })
})
