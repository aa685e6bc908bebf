import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dayFromNow, ENDPOINTS, PublicWorld } from './public-world.ts'

const PAGES = ['/about', '/privacy-policy', '/terms-of-service', '/@admin']
const EVIL = '<script>alert("x")</script>'

let world: PublicWorld
before(async () => {
  world = await PublicWorld.start()
})
after(() => world[Symbol.asyncDispose]())

/** What a person with any browser or screen reader needs. */
function assertReadable(text: string, path: string): void {
  assert.match(text, /^<!doctype html>\n<html lang="en">/, path)
  assert.match(text, /<title>[^<]+<\/title>/, path)
  assert.equal(text.match(/<h1>/g)?.length, 1, path)
  assert.match(text, /<main id="content">/, path)
  assert.match(text, /<a class="skip" href="#content">/, path)
  assert.match(text, /<nav aria-label="[^"]+">/, path)
  assert.ok(!/<script|<img|\son\w+=|javascript:/i.test(text), path)
}

test('a page that has nothing to show says so, as a page', async () => {
  for (const path of ['/terms-of-service', '/@nobody', '/@Admin', '/@%3Cb%3E']) {
    const answer = await world.get(path, 404)
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(answer.headers.get('cache-control'), 'private, no-store')
    assertReadable(answer.text, path)
  }
  assert.ok(!(await world.get('/about')).text.includes('/terms-of-service'))
})

test('the documentation says that what a page lacks is told as a page', async () => {
  const { paths } = JSON.parse((await world.get('/openapi.json')).text)
  for (const path of ['/terms-of-service', '/@{username}']) {
    assert.deepEqual(Object.keys(paths[path].get.responses[404].content), ['text/html; charset=utf-8'])
  }
})

test('the pages show what the interface says, and nothing that an administrator wrote is markup', async () => {
  await world.set({
    title: `Kb ${EVIL}`,
    description: `Short ${EVIL}`,
    contact: { email: 'ops@example.org', fields: [{ name: EVIL, value: EVIL }] },
  })
  await world.addRule(`Be kind ${EVIL}`, { hint: `Always ${EVIL}` })
  await world.publishTerms(`Terms of %{domain} ${EVIL}`, dayFromNow(0))
  await world.publishTerms('Next', dayFromNow(5))
  const body = { text: `# Long\n\n${EVIL}` }
  await world.admin.put('/api/v1/admin/instance/extended_description', 200, { body })
  const pages = new Map<string, string>()
  for (const path of PAGES) {
    const answer = await world.get(path)
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.match(answer.headers.get('etag') ?? '', /^W\//)
    assertReadable(answer.text, path)
    pages.set(path, answer.text)
  }
  const about = pages.get('/about') as string
  for (const part of ['Be kind', 'Always', 'Long', 'mailto:ops@example.org', '/@admin', 'Short']) {
    assert.ok(about.includes(part), part)
  }
  const content = (await world.get(ENDPOINTS.terms)).body.content
  assert.ok(pages.get('/terms-of-service')?.includes(content))
  assert.ok(pages.get('/terms-of-service')?.includes(dayFromNow(5)), 'what comes next is announced')
  assert.ok(pages.get('/privacy-policy')?.includes('<h3>What is stored</h3>'))
})

test('only the contact has a page', async () => {
  const other = await world.callers.make({ email: 'other@example.org', roles: ['read_only'] })
  await world.get('/@other', 404)
  await world.set({ contact: { user: other.userId } })
  await world.get('/@other')
  await world.get('/@admin', 404)
  await world.set({ contact: { user: null } })
  await world.get('/@other', 404)
})

test('in whitelist mode the pages stay and tell no numbers', async () => {
  assert.match((await world.get('/about')).text, /id="numbers"/)
  await world.set({ whitelist_mode: true })
  for (const path of PAGES) await world.get(path)
  assert.ok(!(await world.get('/about')).text.includes('id="numbers"'))
  await world.set({ whitelist_mode: null })
})

test('a change shows at once', async () => {
  await world.set({ title: 'Renamed' })
  for (const path of PAGES) assert.match((await world.get(path)).text, /<title>[^<]*Renamed<\/title>/)
})
