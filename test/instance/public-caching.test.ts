import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { dayFromNow, ENDPOINTS, eachPublicWorld, type Loose, PUBLIC_CACHE } from './public-world.ts'

interface Raw {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}

/** As it travels: fetch would unpack it. */
function raw(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('end', () =>
        resolve({ status: response.statusCode as number, headers: response.headers, bytes: Buffer.concat(chunks) }),
      )
    })
      .once('error', reject)
      .end()
  })
}

eachPublicWorld('caching of the public face', (world) => {
  test('what a caller has is not sent again, however it says so', async () => {
    await world().publishTerms('Terms', dayFromNow(0))
    for (const path of [...Object.values(ENDPOINTS), '/api/v1/instance/languages', '/about', '/openapi.json']) {
      const { headers } = await world().get(path)
      const etag = headers.get('etag') as string
      assert.match(etag, /^W\/"[\w-]{20,}"$/, path)
      for (const known of [etag, etag.slice(2), '*', `"x", ${etag} , W/"y"`]) {
        const answer = await world().get(path, 304, { headers: { 'if-none-match': known } })
        assert.equal(answer.text, '')
        for (const name of ['etag', 'cache-control', 'vary', 'last-modified', 'access-control-allow-origin']) {
          assert.equal(answer.headers.get(name), headers.get(name), `${path} ${name}`)
        }
        assert.equal(answer.headers.get('content-type'), null)
      }
      for (const other of ['"x"', 'W/"x"', 'nonsense', '""']) {
        await world().get(path, 200, { headers: { 'if-none-match': other } })
      }
    }
  })

  test('HEAD says what GET says, without the body', async () => {
    for (const path of Object.values(ENDPOINTS)) {
      const [head, get] = [await raw(world().server.url + path, {}, 'HEAD'), await raw(world().server.url + path)]
      assert.equal(head.bytes.length, 0)
      for (const name of ['x-request-id', 'date']) {
        delete head.headers[name]
        delete get.headers[name]
      }
      assert.deepEqual(head.headers, get.headers, path)
      assert.equal(head.headers['content-length'], String(get.bytes.length))
    }
  })

  test('documents with a time of their own are asked for by it; the tag wins', async () => {
    for (const path of [ENDPOINTS.description, ENDPOINTS.privacy, ENDPOINTS.terms]) {
      const { headers } = await world().get(path)
      const modified = headers.get('last-modified') as string
      const etag = headers.get('etag') as string
      const ask = (given: Record<string, string>, status: number) => world().get(path, status, { headers: given })
      await ask({ 'if-modified-since': modified }, 304)
      await ask({ 'if-modified-since': new Date(Date.parse(modified) - 1_000).toUTCString() }, 200)
      await ask({ 'if-modified-since': 'yesterday' }, 200)
      await ask({ 'if-modified-since': modified, 'if-none-match': '"other"' }, 200)
      await ask({ 'if-modified-since': new Date(0).toUTCString(), 'if-none-match': etag }, 304)
    }
    assert.equal((await world().get(ENDPOINTS.rules)).headers.get('last-modified'), null)
  })

  test('the date of a document does not go back when it is cleared', async () => {
    const dateOf = async (path: string) => Date.parse((await world().get(path)).headers.get('last-modified') as string)
    for (const [path, name] of [
      [ENDPOINTS.description, 'extended_description'],
      [ENDPOINTS.privacy, 'privacy_policy'],
    ] as const) {
      const write = (text: string) => world().admin.put(`/api/v1/admin/instance/${name}`, 200, { body: { text } })
      await write('Written')
      const written = await dateOf(path)
      await write('')
      assert.ok((await dateOf(path)) >= written, path)
    }
  })

  test('long answers travel compressed, with the same tag; short ones as they are', async () => {
    const url = world().server.url + ENDPOINTS.v2
    const plain = await raw(url)
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync }
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.equal(plain.headers.vary, 'Accept-Encoding')
    for (const [accepted, coding] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
    ] as const) {
      // Twice: made, and kept.
      for (let time = 0; time < 2; time++) {
        const packed = await raw(url, { 'accept-encoding': accepted })
        assert.equal(packed.headers['content-encoding'], coding)
        assert.equal(packed.headers['content-length'], String(packed.bytes.length))
        assert.ok(packed.bytes.length < plain.bytes.length / 2)
        assert.deepEqual(unpack[coding](packed.bytes), plain.bytes)
        assert.equal(packed.headers.etag, plain.headers.etag)
      }
    }
    const short = await raw(world().server.url + ENDPOINTS.rules, { 'accept-encoding': 'br' })
    assert.deepEqual([short.headers['content-encoding'], short.headers.vary], [undefined, undefined])
    const known = await raw(url, { 'accept-encoding': 'br', 'if-none-match': plain.headers.etag as string })
    assert.deepEqual([known.status, known.headers['content-encoding']], [304, undefined])
  })

  test('one copy serves everybody: language, token and cookie change nothing', async () => {
    // Else they are counted again in the middle of it: there is one user more, who was here today.
    await world().set({ cache: { counter_seconds: 86_400 } })
    const { token } = await world().callers.make({ roles: [] })
    const sent = { 'accept-language': 'de', authorization: `Bearer ${token}`, cookie: 'a=b' }
    for (const path of Object.values(ENDPOINTS)) {
      const { text } = await world().get(path)
      for (const [name, value] of Object.entries(sent)) {
        const answer = await world().get(path, 200, { headers: { [name]: value } })
        assert.equal(answer.text, text, path)
        assert.equal(answer.headers.get('cache-control'), PUBLIC_CACHE)
        assert.ok(!/Authorization|Cookie|Accept-Language/i.test(answer.headers.get('vary') ?? ''), path)
      }
    }
    await world().set({ cache: { counter_seconds: null } })
  })

  test('a change is seen by the next question, and its answer has another tag', async () => {
    const changes: [path: string, change: () => Promise<unknown>][] = [
      [ENDPOINTS.v2, () => world().set({ title: 'Another' })],
      [ENDPOINTS.v1, () => world().set({ contact: { email: 'ops@example.org' } })],
      [ENDPOINTS.rules, () => world().addRule('New')],
      [ENDPOINTS.v2, () => world().addRule('Newer')],
      [ENDPOINTS.blocks, () => world().block('blocked.example.net')],
      [ENDPOINTS.peers, () => world().declarePeers('new.peer.social')],
      [ENDPOINTS.v1, () => world().declarePeers('newer.peer.social')],
      [ENDPOINTS.peers, () => world().block('new.peer.social')],
      [ENDPOINTS.terms, () => world().publishTerms('Next', dayFromNow(3))],
      [
        ENDPOINTS.privacy,
        () => world().admin.put('/api/v1/admin/instance/privacy_policy', 200, { body: { text: 'New' } }),
      ],
      [
        ENDPOINTS.description,
        () =>
          world()
            .set({ domain: 'x.example.org' })
            .then(() => describe('%{domain}')),
      ],
      [ENDPOINTS.activity, () => world().set({ activity_round_to: 1000 })],
    ]
    const describe = (text: string) =>
      world().admin.put('/api/v1/admin/instance/extended_description', 200, { body: { text } })
    for (const [path, change] of changes) {
      const before = await world().get(path)
      await change()
      const after = await world().get(path)
      assert.notEqual(after.text, before.text, path)
      assert.notEqual(after.headers.get('etag'), before.headers.get('etag'), path)
    }
  })

  test('a contact is shown under the new name and title at once, however long counts are kept', async () => {
    await world().set({ cache: { counter_seconds: 86_400 } })
    const { account } = (await world().get(ENDPOINTS.v2)).body.contact
    const attributes = { name: 'Grace Hopper', title: 'Keeper of the server' }
    const change = { data: { type: 'users', id: account.id, attributes } }
    await world().admin.patch(`/api/v2/users/${account.id}`, 200, { body: change })
    const { contact } = (await world().get(ENDPOINTS.v2)).body
    assert.equal(contact.account.display_name, 'Grace Hopper')
    assert.equal(contact.account.note, '<p>Keeper of the server</p>')
    assert.equal((await world().get(ENDPOINTS.v1)).body.contact_account.display_name, 'Grace Hopper')
    assert.match((await world().get(`/@${account.username}`)).text, /Grace Hopper/)
    await world().set({ cache: { counter_seconds: null } })
  })

  test('questions that race with changes never see an older state than the last change that was answered', async () => {
    await world().set({ title: 'Title 0' })
    let answered = 0
    let isDone = false
    const readers = Array.from({ length: 4 }, async () => {
      while (!isDone) {
        const least = answered
        const [{ body: v2 }, { body: rules }] = await Promise.all([
          world().get(ENDPOINTS.v2),
          world().get(ENDPOINTS.rules),
        ])
        const seen = Number(v2.title.slice('Title '.length))
        assert.ok(seen >= least, `${seen} after ${least}`)
        assert.ok(Array.isArray(rules))
      }
    })
    for (let step = 1; step <= 15; step++) {
      await world().set({ title: `Title ${step}` })
      answered = step
    }
    isDone = true
    await Promise.all(readers)
  })

  test('notes and users are counted within seconds at the latest, and never backwards', async () => {
    await world().set({ cache: { counter_seconds: 0 } })
    const projects = (await world().admin.get('/v2/projects', 200)).body.projects as Loose[]
    const before = (await world().get(ENDPOINTS.v1)).body.stats
    await world().admin.post(`/v2/${projects[0].external_id}/knowledge/entities`, 201, {
      body: { title: 'Counted', directory: '', content: 'text' },
    })
    await world().callers.make({ roles: [] })
    const { body } = await world().get(ENDPOINTS.v1)
    assert.equal(body.stats.status_count, before.status_count + 1)
    assert.equal(body.stats.user_count, before.user_count + 1)
    assert.equal(body.contact_account.statuses_count, 1)
    assert.equal(body.contact_account.last_status_at, dayFromNow(0))
    assert.equal(
      (await world().get(ENDPOINTS.activity)).body[0].statuses,
      '0',
      'rounded to thousands by the test before',
    )
    await world().set({ activity_round_to: null })
    assert.equal((await world().get(ENDPOINTS.activity)).body[0].statuses, '1')
  })
})
