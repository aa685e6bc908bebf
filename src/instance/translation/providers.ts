import type { FetchJson } from '../../platform/outbound/fetch-json.ts'
import { languageCode } from '../../platform/text/language-code.ts'
import type { InstanceSettings } from '../settings.ts'
import { ANY_SOURCE, languageCodes, languageMap, type TranslationLanguages, withoutItself } from './languages.ts'

export type TranslationSettings = InstanceSettings['translation']

const TIMEOUT_MS = 5_000
const DEEPL_HOSTS = { free: 'https://api-free.deepl.com', pro: 'https://api.deepl.com' }
/** Accepted as targets, though the provider lists only their regional forms. */
const DEEPL_UNLISTED = ['en', 'pt']

/** Where the provider is asked; null without one. */
export function providerAddress({ provider, endpoint, plan }: TranslationSettings): string | null {
  if (provider === null) return null
  const address = endpoint ?? (provider === 'deepl' ? DEEPL_HOSTS[plan] : null)
  return address === null ? null : address.replace(/\/+$/, '')
}

/** Rejects when the provider cannot be reached or says something that nobody can use. */
export async function fetchLanguages(
  fetchJson: FetchJson,
  settings: TranslationSettings,
): Promise<TranslationLanguages> {
  const address = providerAddress(settings)
  if (address === null) return {}
  return settings.provider === 'deepl' ? askDeepl(fetchJson, address, settings) : askLibreTranslate(fetchJson, address)
}

async function askDeepl(
  fetchJson: FetchJson,
  address: string,
  { api_key: key }: TranslationSettings,
): Promise<TranslationLanguages> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `DeepL-Auth-Key ${key}` }
  const [sources, listed] = await Promise.all(
    ['source', 'target'].map(async (type) =>
      members(await fetchJson(`${address}/v2/languages?type=${type}`, { headers, timeoutMs: TIMEOUT_MS })).map(
        ({ language }) => language,
      ),
    ),
  )
  const targets = languageCodes([...DEEPL_UNLISTED, ...(listed as unknown[])])
  const codes = languageCodes(sources as unknown[])
  if (codes.length === 0) throw new Error('The translation service listed no language')
  return languageMap([
    ...codes.map((code): [string, string[]] => [code, withoutItself(code, targets)]),
    [ANY_SOURCE, targets],
  ])
}

async function askLibreTranslate(fetchJson: FetchJson, address: string): Promise<TranslationLanguages> {
  const list = members(await fetchJson(`${address}/languages`, { headers: {}, timeoutMs: TIMEOUT_MS }))
  const pairs = new Map<string, string[]>()
  const all = new Set<string>()
  for (const { code, targets } of list.slice(0, 1_000)) {
    const source = languageCode(code)
    if (source === undefined || source === ANY_SOURCE) continue
    const known = languageCodes(Array.isArray(targets) ? targets : [])
    for (const target of known) all.add(target)
    pairs.set(source, withoutItself(source, known))
  }
  if (pairs.size === 0) throw new Error('The translation service listed no language')
  return languageMap([...pairs, [ANY_SOURCE, [...all].sort()]])
}

function members(answer: unknown): Record<string, unknown>[] {
  if (!Array.isArray(answer)) throw new Error('The translation service answered with something other than a list')
  return answer.filter((member) => typeof member === 'object' && member !== null)
}
