// The published clients, unmodified, against a server of ours: each reads every endpoint in every mode.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { cachedClient } from '../support/client-cache.ts'
import { dayFromNow, type Loose, PublicWorld } from './public-world.ts'
import { TestProvider } from './translation-provider.ts'

const masto = await cachedClient('masto', '8.0.0')
const megalodon = await cachedClient('megalodon', '10.3.0')
const skip = masto.unavailable ?? megalodon.unavailable ?? false

interface Mode {
  settings: object
  /** What even a user does not get, by name. */
  hidden?: string[]
  /** What a stranger is refused with a readable error. */
  refused?: string[]
}

const CLOSED = ['v1', 'peers', 'activity']
const MODES: Record<string, Mode> = {
  'as installed': { settings: {} },
  'whitelist mode': { settings: { whitelist_mode: true }, refused: CLOSED },
  'peers and activity off': {
    settings: { peers: { enabled: false }, activity_api: false },
    hidden: ['peers', 'activity'],
  },
  'all at once': {
    settings: { whitelist_mode: true, peers: { enabled: false }, activity_api: false, show_domain_blocks: 'disabled' },
    hidden: ['peers', 'activity', 'domainBlocks'],
    refused: CLOSED,
  },
  'blocks for users': { settings: { show_domain_blocks: 'users' }, refused: ['domainBlocks'] },
  'blocks for nobody': { settings: { show_domain_blocks: 'disabled' }, hidden: ['domainBlocks'] },
  'comments for users': { settings: { show_domain_blocks_rationale: 'users' } },
  'comments for nobody': { settings: { show_domain_blocks_rationale: 'disabled' } },
  'signing up by approval': { settings: { registrations: { mode: 'approved', reason_required: true, min_age: 16 } } },
  'closed with a message': { settings: { registrations: { mode: 'none', closed_message: 'Ask us.' } } },
  'claiming a version': { settings: { compat: { mastodon_version: '4.5.0' }, nodeinfo: { enabled: true } } },
  'several languages': { settings: { languages: ['de', 'en-GB'], title: 'Größe', description: 'ü' } },
}

/** What the client's own types promise to whoever uses it; the others are documents. */
const READ: Record<string, (answer: Loose) => void> = {
  v2(answer) {
    const { thumbnail, contact, icon, configuration, rules } = answer
    for (const text of [
      thumbnail.blurhash,
      thumbnail.description,
      contact.account.acct,
      configuration.vapid.publicKey,
    ]) {
      assert.equal(typeof text, 'string')
    }
    assert.deepEqual(Object.keys(thumbnail.versions), ['1x', '2x'])
    assert.equal(icon.length, 9)
    assert.equal(Object.keys(configuration.accounts).length, 9)
    assert.equal(configuration.translation.enabled, true)
    assert.equal(rules[0].hint, '')
  },
  v1({ urls, stats, contactAccount }) {
    assert.match(urls.streamingApi, /^ws:/)
    assert.equal(typeof stats.userCount, 'number')
    assert.equal(typeof contactAccount.statusesCount, 'number')
  },
  peers: (answer) => assert.deepEqual(answer, ['one.social', 'two.social']),
  activity: (answer) => assert.equal(answer.length, 12),
  rules: (answer) => assert.equal(answer[0].translations.zhCn.text, '友善'),
  domainBlocks: (answer) => assert.equal(answer[0].domain, 'blocked.example.net'),
  translationLanguages: (answer) => assert.deepEqual(answer.en, ['de', 'zh-Hans']),
  languages: (answer) => assert.ok(answer.length > 100),
}

describe('published clients', { skip }, () => {
  let world: PublicWorld
  let provider: TestProvider
  let token: string
  before(async () => {
    world = await PublicWorld.start()
    provider = await TestProvider.start({ '/languages': [{ code: 'en', targets: ['de', 'zh-Hans'] }] })
    token = (await world.callers.make({ roles: [] })).token
    await world.addRule('Be kind', { translations: { 'zh-CN': { text: '友善' } } })
    await world.block('blocked.example.net', { severity: 'suspend', public_comment: 'spam' })
    await world.declarePeers('one.social', 'two.social')
    await world.publishTerms('Terms', dayFromNow(0))
    await world.set({ translation: { provider: 'libretranslate', endpoint: provider.url } })
  })
  after(async () => {
    await world[Symbol.asyncDispose]()
    await provider[Symbol.asyncDispose]()
  })

  async function inMode(name: string, use: (mode: Mode) => Promise<void>): Promise<void> {
    const mode = MODES[name] as Mode
    await world.set(mode.settings)
    try {
      await use(mode)
    } finally {
      await world.set(Object.fromEntries(Object.keys(mode.settings).map((key) => [key, null])))
    }
  }

  /** Everything that masto can ask for, by the names of its own interface. */
  function mastoCalls(accessToken?: string): Record<string, () => Promise<Loose>> {
    const { createRestAPIClient } = (masto as { load(): unknown }).load() as Loose
    const { v1, v2 } = createRestAPIClient({ url: world.server.url, accessToken })
    return {
      v2: () => v2.instance.fetch(),
      v1: () => v1.instance.fetch(),
      peers: () => pages(v1.instance.peers.list()),
      activity: () => pages(v1.instance.activity.list()),
      rules: () => v1.instance.rules.list(),
      domainBlocks: () => v1.instance.domainBlocks.fetch(),
      extendedDescription: () => v1.instance.extendedDescription.fetch(),
      privacyPolicy: () => v1.instance.privacyPolicy.fetch(),
      termsOfService: () => v1.instance.termsOfService.fetch(),
      languages: () => v1.instance.languages.list(),
      translationLanguages: () => v1.instance.translationLanguages.list(),
    }
  }

  /** All pages; a stray link would make it go on for ever. */
  async function pages(paginator: AsyncIterable<unknown[]>): Promise<unknown[]> {
    const all: unknown[] = []
    for await (const page of paginator) {
      all.push(...page)
      assert.ok(all.length < 100)
    }
    return all
  }

  for (const name of Object.keys(MODES)) {
    test(`masto reads everything: ${name}`, async () => {
      await inMode(name, async ({ hidden = [], refused = [] }) => {
        for (const [call, run] of Object.entries(mastoCalls(token))) {
          if (hidden.includes(call)) await assert.rejects(run(), { name: 'MastoUnexpectedError' }, call)
          else assertRead(call, await run())
        }
        for (const [call, run] of Object.entries(mastoCalls())) {
          if (refused.includes(call)) await assert.rejects(run(), { name: 'MastoHttpError', statusCode: 401 }, call)
          else if (hidden.includes(call)) await assert.rejects(run(), { name: 'MastoUnexpectedError' }, call)
          else assertRead(call, await run())
        }
      })
    })

    test(`megalodon reads everything: ${name}`, async () => {
      await inMode(name, async ({ hidden = [], refused = [] }) => {
        const { default: generator } = (megalodon as { load(): unknown }).load() as Loose
        const calls = (client: Loose): Record<string, () => Promise<Loose>> => ({
          v1: () => client.getInstance(),
          peers: () => client.getInstancePeers(),
          activity: () => client.getInstanceActivity(),
        })
        for (const [call, run] of Object.entries(calls(generator('mastodon', world.server.url, token)))) {
          if (hidden.includes(call)) await assert.rejects(run(), ({ response }) => response.status === 404, call)
          else assertMegalodon(call, await run())
        }
        for (const [call, run] of Object.entries(calls(generator('mastodon', world.server.url)))) {
          const status = refused.includes(call) ? 401 : hidden.includes(call) ? 404 : 200
          if (status === 200) assertMegalodon(call, await run())
          else await assert.rejects(run(), ({ response }) => response.status === status, call)
        }
      })
    })
  }

  function assertRead(call: string, answer: Loose): void {
    const check = READ[call]
    if (check !== undefined) check(answer)
    else {
      assert.equal(typeof answer.content, 'string')
      assert.ok(!Number.isNaN(Date.parse(answer.updatedAt)))
    }
  }

  function assertMegalodon(call: string, { data }: Loose): void {
    if (call !== 'v1') assertRead(call, data)
    else {
      assert.match(data.urls.streaming_api, /^ws:/)
      assert.equal(typeof data.stats.domain_count, 'number')
      assert.equal(typeof data.configuration.statuses.max_characters, 'number')
      assert.equal(data.rules[0].text, 'Be kind')
      assert.equal(data.contact_account.username, 'admin')
    }
  }

  test('masto tells its user what the server said', async () => {
    await inMode('blocks for users', async () => {
      const { domainBlocks } = mastoCalls()
      await assert.rejects((domainBlocks as () => Promise<Loose>)(), { message: 'The access token is invalid' })
    })
    await inMode('whitelist mode', async () => {
      const { peers } = mastoCalls()
      await assert.rejects((peers as () => Promise<Loose>)(), { message: 'This API requires an authenticated user' })
    })
  })

  test('megalodon recognises the server when it claims to be compatible, and does not break when it does not', async () => {
    const { detector } = (megalodon as { load(): unknown }).load() as Loose
    // The documents name localhost, where this server listens on one address only.
    const base = (await world.get('/api/v2/instance')).body.configuration.urls.about.replace('/about', '')
    await inMode('claiming a version', async () => assert.equal(await detector(base), 'mastodon'))
    await world.set({ nodeinfo: { enabled: true } })
    await assert.rejects(detector(base), /Unknown SNS/)
    await world.set({ nodeinfo: null })
  })
})
