import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VERSION } from '../../src/version.ts'
import { assertShape } from './public-schemas.ts'
import { dayFromNow, ENDPOINTS, eachPublicWorld, type Loose, PublicWorld } from './public-world.ts'

const ALWAYS_THERE = [
  'v2',
  'v1',
  'peers',
  'activity',
  'rules',
  'blocks',
  'description',
  'privacy',
  'languages',
] as const

/** What both writings say of the same thing. */
function assertAgree(v1: Loose, v2: Loose): void {
  const { noindex: _, ...account } = v2.contact.account ?? {}
  const { description_limit: __, ...media } = v2.configuration.media_attachments
  const { accounts, statuses, polls } = v2.configuration
  assert.deepEqual(
    {
      uri: v1.uri,
      title: v1.title,
      short_description: v1.short_description,
      email: v1.email,
      version: v1.version,
      streaming: v1.urls.streaming_api,
      thumbnail: v1.thumbnail,
      languages: v1.languages,
      registrations: v1.registrations,
      approval: v1.approval_required,
      configuration: v1.configuration,
      account: v1.contact_account ?? {},
      rules: v1.rules,
    },
    {
      uri: v2.domain,
      title: v2.title,
      short_description: v2.description,
      email: v2.contact.email,
      version: v2.version,
      streaming: v2.configuration.urls.streaming,
      thumbnail: v2.thumbnail.versions['@1x'],
      languages: v2.languages,
      registrations: v2.registrations.enabled,
      approval: v2.registrations.approval_required,
      configuration: { accounts, statuses, media_attachments: media, polls },
      account,
      rules: v2.rules,
    },
  )
}

eachPublicWorld('public documents', (world) => {
  test('a fresh server has every member of every document, and no other', async () => {
    for (const name of ALWAYS_THERE) {
      const answer = await world().get(ENDPOINTS[name])
      assertShape(name, answer.body)
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
      assert.equal(answer.headers.get('set-cookie'), null)
    }
    const { body: v2 } = await world().get(ENDPOINTS.v2)
    assert.equal(v2.version, VERSION)
    assert.equal(v2.domain, new URL(world().server.url).host.replace('127.0.0.1', 'localhost'))
    assert.equal(v2.configuration.urls.streaming, `ws://${v2.domain}`)
    assert.equal(v2.thumbnail.url, v2.thumbnail.versions['@1x'])
    assert.deepEqual(v2.icon.map(({ size }: Loose) => size.split('x')[0]).join(' '), '36 48 72 96 144 192 256 384 512')
    assert.equal(v2.configuration.statuses.max_characters, 2_000_000)
    assert.equal(v2.contact.account.username, 'admin')
    assert.equal(v2.contact.account.url, `http://${v2.domain}/@admin`)
    assert.deepEqual(v2.registrations, {
      enabled: false,
      approval_required: false,
      reason_required: false,
      message: null,
      min_age: null,
      url: null,
    })
    assertAgree((await world().get(ENDPOINTS.v1)).body, v2)
    assert.deepEqual((await world().get(ENDPOINTS.peers)).body, [])
    assert.deepEqual((await world().get(ENDPOINTS.rules)).body, [])
    assert.deepEqual((await world().get(ENDPOINTS.blocks)).body, [])
    assert.deepEqual((await world().get(ENDPOINTS.languages)).body, {})
    assert.equal((await world().get(ENDPOINTS.description)).body.content, '')
    assert.match((await world().get(ENDPOINTS.privacy)).body.content, /<h2>/)
    assert.deepEqual((await world().get(ENDPOINTS.terms, 404)).body, { error: 'Record not found' })
  })

  test('everything that the documents point to is there', async () => {
    const { body: v2 } = await world().get(ENDPOINTS.v2)
    const { account } = v2.contact
    const pictures = [...Object.values(v2.thumbnail.versions), ...v2.icon.map(({ src }: Loose) => src), account.header]
    for (const url of pictures as string[]) {
      const answer = await fetch(toServer(url))
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/png'], url)
    }
    for (const { src, size } of v2.icon) {
      const bytes = Buffer.from(await (await fetch(toServer(src))).arrayBuffer())
      assert.equal(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`, size)
    }
    assert.match((await fetch(toServer(account.avatar))).headers.get('content-type') ?? '', /^image\//)
    for (const url of [v2.configuration.urls.about, v2.configuration.urls.privacy_policy, account.url]) {
      assert.match((await fetch(toServer(url))).headers.get('content-type') ?? '', /^text\/html/)
    }
  })

  // The base address names localhost; the server listens on one of its addresses only.
  function toServer(url: string): string {
    return url.replace('//localhost:', '//127.0.0.1:')
  }

  test('week after week: Mondays at midnight UTC, newest first', async () => {
    const { body } = await world().get(ENDPOINTS.activity)
    const weeks = body.map(({ week }: Loose) => Number(week))
    assert.ok(weeks.every((week: number) => week % 604_800 === 345_600))
    assert.ok(weeks.every((week: number, index: number) => index === 0 || weeks[index - 1] - week === 604_800))
    const now = Date.now() / 1_000
    assert.ok(weeks[0] <= now && now < weeks[0] + 604_800)
    assert.equal(body[0].registrations, '1', 'the first administrator')
  })

  test('settings show in both writings at once', async () => {
    await world().set({
      domain: 'kb.example.org',
      title: 'Example <kb> & "more"',
      description: 'Notes of the example team.',
      legacy_description: '<p>Old <b>text</b><script>alert(1)</script></p>',
      languages: ['de', 'en-GB'],
      streaming_url: 'wss://stream.example.org',
      status_page_url: 'https://status.example.org',
      contact: {
        email: 'ops@example.org',
        fields: [
          { name: 'Site', value: 'https://example.org/?a=1&b=2' },
          { name: 'Hours', value: '<9 to 5>' },
        ],
      },
      registrations: {
        mode: 'approved',
        reason_required: true,
        min_age: 16,
        url: 'https://example.org/join',
        closed_message: 'Ask **us**.',
      },
      account: { discoverable: false, noindex: true },
      limits: {
        'statuses.max_characters': 500,
        'polls.max_options': 4,
        'accounts.max_note_length': 40,
      },
      compat: { mastodon_version: '4.5.0' },
      activity_round_to: 10,
    })
    const [{ body: v2 }, { body: v1 }] = [await world().get(ENDPOINTS.v2), await world().get(ENDPOINTS.v1)]
    assertShape('v2', v2)
    assertShape('v1', v1)
    assertAgree(v1, v2)
    assert.equal(v2.domain, 'kb.example.org')
    assert.equal(v2.title, 'Example <kb> & "more"')
    assert.equal(v2.version, `4.5.0 (compatible; Commonplace ${VERSION})`)
    assert.equal(v2.configuration.urls.streaming, 'wss://stream.example.org')
    assert.equal(v2.configuration.urls.status, 'https://status.example.org')
    assert.deepEqual(v2.languages, ['de', 'en-GB'])
    assert.deepEqual(v2.registrations, {
      enabled: true,
      approval_required: true,
      reason_required: true,
      message: null,
      min_age: 16,
      url: 'https://example.org/join',
    })
    assert.equal(v1.description, '<p>Old &lt;b&gt;text&lt;/b&gt;&lt;script&gt;alert(1)&lt;/script&gt;</p>')
    assert.equal(v2.configuration.statuses.max_characters, 500)
    assert.equal(v2.configuration.polls.max_options, 4)
    assert.equal(v2.configuration.accounts.max_note_length, 40)
    const unknown = { limits: { 'statuses.nothing': 7 } }
    const { body: refusal } = await world().admin.patch('/api/v1/admin/instance', 422, { body: unknown })
    assert.match(refusal.error, /statuses\.nothing.* is no limit .*`statuses\.max_characters`/)
    assert.deepEqual([v2.contact.account.discoverable, v2.contact.account.noindex], [false, true])
    assert.deepEqual(
      v2.contact.account.fields.map(({ value }: Loose) => value),
      [
        '<a href="https://example.org/?a=1&amp;b=2" rel="nofollow noopener noreferrer">https://example.org/?a=1&amp;b=2</a>',
        '&lt;9 to 5&gt;',
      ],
    )
    assert.equal((await world().get(ENDPOINTS.activity)).body[0].registrations, '0', 'rounded to tens')
    await world().set({ registrations: { mode: 'none' } })
    assert.equal((await world().get(ENDPOINTS.v2)).body.registrations.message, '<p>Ask <strong>us</strong>.</p>')
    await world().set({
      domain: null, title: null, description: null, legacy_description: null, languages: null, streaming_url: null, status_page_url: null,
      contact: null, registrations: null, account: null, limits: null, compat: null, activity_round_to: null,
    }) // biome-ignore format: one list
    assert.equal((await world().get(ENDPOINTS.v2)).body.title, 'Commonplace')
  })

  test('rules are in order, with hints and translations, and the same everywhere', async () => {
    const second = await world().addRule('Be honest')
    const translations = { 'zh-CN': { text: '友善' }, de: { text: 'Sei nett', hint: 'Immer' } }
    const first = await world().addRule('Be kind', { hint: 'Always.', priority: 0, translations })
    await world().admin.post(`/api/v1/admin/instance/rules/${first}/move`, 200, { body: { offset: -5 } })
    const { body } = await world().get(ENDPOINTS.rules)
    assertShape('rules', body)
    assert.deepEqual(Object.keys(body[0].translations), ['de', 'zh-CN'])
    assert.deepEqual(body, [
      {
        id: first,
        text: 'Be kind',
        hint: 'Always.',
        translations: { de: { text: 'Sei nett', hint: 'Immer' }, 'zh-CN': { text: '友善', hint: '' } },
      },
      { id: second, text: 'Be honest', hint: '', translations: {} },
    ])
    for (const path of [ENDPOINTS.v2, ENDPOINTS.v1]) assert.deepEqual((await world().get(path)).body.rules, body)
    await world().admin.delete(`/api/v1/admin/instance/rules/${first}`, 200)
    assert.deepEqual(
      (await world().get(ENDPOINTS.rules)).body.map(({ id }: Loose) => id),
      [second],
    )
  })

  test('documents are HTML of their markdown, with the name of the server in them', async () => {
    const put = (name: string, text: string) =>
      world().admin.put(`/api/v1/admin/instance/${name}`, 200, { body: { text } })
    const installed = (await world().get(ENDPOINTS.description)).body.updated_at
    const { domain } = (await world().get(ENDPOINTS.v2)).body
    await put('extended_description', '# Us\n\n<script>x</script> [a](javascript:x)')
    await put('privacy_policy', '%{domain} keeps *nothing*.')
    const { body: description } = await world().get(ENDPOINTS.description)
    assertShape('description', description)
    assert.equal(description.content, '<h1>Us</h1>\n<p>&lt;script&gt;x&lt;/script&gt; [a](javascript:x)</p>')
    assert.ok(description.updated_at > installed)
    assert.equal((await world().get(ENDPOINTS.privacy)).body.content, `<p>${domain} keeps <em>nothing</em>.</p>`)
    await put('extended_description', '')
    assert.deepEqual((await world().get(ENDPOINTS.description)).body, { updated_at: installed, content: '' })
    await put('privacy_policy', '')
    assert.match((await world().get(ENDPOINTS.privacy)).body.content, /<h2>/)
  })

  test('terms: the newest in effect, those of a day, and the ones to come', async () => {
    const [today, soon, later] = [dayFromNow(0), dayFromNow(10), dayFromNow(20)]
    await world().publishTerms('Soon on %{domain}', soon)
    const { domain, configuration } = (await world().get(ENDPOINTS.v2)).body
    assert.equal(configuration.urls.terms_of_service, `http://${domain}/terms-of-service`)
    const upcoming = (await world().get(ENDPOINTS.terms)).body
    assertShape('terms', upcoming)
    assert.deepEqual(
      { ...upcoming, updated_at: '' },
      {
        updated_at: '',
        content: `<p>Soon on ${domain}</p>`,
        effective_date: soon,
        effective: false,
        succeeded_by: null,
      },
    )
    await world().publishTerms('Later', later)
    assert.equal((await world().get(ENDPOINTS.terms)).body.succeeded_by, later)
    await world().publishTerms('Now', today)
    const current = (await world().get(ENDPOINTS.terms)).body
    assert.deepEqual([current.content, current.effective, current.succeeded_by], ['<p>Now</p>', true, soon])
    for (const [date, content] of [
      [today, '<p>Now</p>'],
      [soon, upcoming.content],
      [later, '<p>Later</p>'],
    ]) {
      for (const suffix of ['', '.json', '/']) {
        const { body } = await world().get(`${ENDPOINTS.terms}/${date}${suffix}`)
        assertShape('terms', body)
        assert.equal(body.content, content)
      }
    }
    for (const wrong of [dayFromNow(1), '2026-02-30', 'yesterday', '%00', '2026-1-1']) {
      assert.deepEqual((await world().get(`${ENDPOINTS.terms}/${wrong}`, 404)).body, { error: 'Record not found' })
    }
  })

  test('the contact is a user: named, shown as an account, and gone when disabled', async () => {
    const ada = await world().callers.make({ email: 'ada.l@example.org', name: 'Ada <b>', roles: ['read_only'] })
    await world().admin.patch(`/api/v2/users/${ada.userId}`, 200, {
      body: { data: { type: 'users', id: ada.userId, attributes: { title: 'Keeper of <notes>' } } },
    })
    await world().set({ contact: { user: 'ada.l@example.org' } })
    const { account } = (await world().get(ENDPOINTS.v2)).body.contact
    assert.equal(account.id, ada.userId)
    assert.deepEqual([account.username, account.acct, account.display_name], ['ada.l', 'ada.l', 'Ada <b>'])
    assert.equal(account.note, '<p>Keeper of &lt;notes&gt;</p>')
    assert.ok(!JSON.stringify(account).includes('example.org/'), 'no address of the person')
    assert.ok(!JSON.stringify(account).includes('ada.l@'))
    await world().admin.delete(`/api/v2/users/${ada.userId}`, 204)
    assert.equal((await world().get(ENDPOINTS.v2)).body.contact.account, null)
    const { body: v1 } = await world().get(ENDPOINTS.v1)
    assert.equal(v1.contact_account, null)
    assertShape('v1', v1)
    await world().set({ contact: { user: null } })
    assert.equal((await world().get(ENDPOINTS.v2)).body.contact.account.username, 'admin')
  })

  test('the languages that content may have are codes and names', async () => {
    const { body } = await world().get('/api/v1/instance/languages')
    assert.ok(body.length > 150)
    assert.deepEqual(
      body.find(({ code }: Loose) => code === 'de'),
      { code: 'de', name: 'German' },
    )
    assert.ok(body.every((one: object) => Object.keys(one).join() === 'code,name'))
  })
})

test('the key for push messages is the same after a restart, and its private half is not readable', async () => {
  const first = await PublicWorld.start()
  const keyOf = async (world: PublicWorld) => (await world.get(ENDPOINTS.v2)).body.configuration.vapid.public_key
  const key = await keyOf(first)
  const point = Buffer.from(key, 'base64url')
  assert.deepEqual([point.length, point[0]], [65, 4])
  const row = await first.callers.db.query.selectFrom('instance_secrets').selectAll().executeTakeFirstOrThrow()
  assert.match(row.sealed_value, /^v1\./)
  const { dataDir } = first.server
  await first[Symbol.asyncDispose]()
  await using second = await PublicWorld.start({ dataDir })
  assert.equal(await keyOf(second), key)
})
