import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Script } from 'node:vm'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { addPerson } from '../support/add-person.ts'
import { browserUnavailable, launchBrowser } from '../support/browser.ts'
import { type MailServer, type ReceivedMail, startMailServer } from '../support/mail-server.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const PASSWORD = 'a password for tests'
const PAGES = ['/invite', '/reset-password', '/setup', '/verify-email']
const unavailable = browserUnavailable()

/** Two servers: one that sends no mail and needs no sign-in, and one as in production. */
let dev: TestServer
let server: TestServer
let mail: MailServer
before(async () => {
  mail = await startMailServer()
  const env = { COMMONPLACE_USERS__SMTP_URL: mail.url, COMMONPLACE_USERS__RATE_LIMITS: '{}' }
  ;[dev, server] = await Promise.all([startServer({ mode: 'dev' }), startServer({ mode: 'serve', env })])
})
after(async () => {
  await Promise.all([dev?.stop(), server?.stop()])
  await mail?.stop()
})

// NOTE Not waitForFunction: it evaluates text inside the page, which the page's own policy forbids.
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setImmediate()
}

describe('pages behind links', () => {
  for (const path of PAGES) {
    test(`${path} is kept nowhere, tells nobody where it was, and runs only our script`, async () => {
      const { headers, body } = await client(server, 'none').get<string>(path, 200)
      assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('referrer-policy'), 'no-referrer')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('x-frame-options'), 'DENY')
      assert.equal(headers.get('set-cookie'), null)
      const policy = new Map(
        headers
          .get('content-security-policy')
          ?.split('; ')
          .map((rule): [string, string] => [rule.split(' ', 1)[0] as string, rule.slice(rule.indexOf(' ') + 1)]),
      )
      assert.equal(policy.get('default-src'), "'none'")
      assert.equal(policy.get('script-src'), "'self'")
      assert.equal(policy.get('connect-src'), "'self'")
      assert.equal(policy.get('frame-ancestors'), "'none'")
      assert.equal(policy.get('form-action'), "'none'")
      assert.deepEqual(body.match(/<script[^>]*>/g), ['<script src="/pages/account.js" defer>'])
      assert.doesNotMatch(body, / on\w+=|https?:/)
    })
  }

  test('script and style are files of ours that a browser keeps until they change', async () => {
    const anybody = client(server, 'none')
    for (const [path, type] of [
      ['/pages/account.js', 'text/javascript'],
      ['/pages/account.css', 'text/css'],
    ] as const) {
      const { headers, text } = await anybody.get(path, 200)
      assert.equal(headers.get('content-type'), `${type}; charset=utf-8`)
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('cache-control'), 'no-cache')
      await anybody.get(path, 304, { headers: { 'if-none-match': headers.get('etag') as string } })
      if (type === 'text/javascript') assert.ok(new Script(text))
    }
  })

  test('the pages ask for the password length that the settings want, and for none where there are no passwords; nor is there a link to choose one', async () => {
    const settings = { COMMONPLACE_USERS__PASSWORD_MIN_LENGTH: '17', COMMONPLACE_USERS__LOGIN_METHODS: '["oidc"]' }
    await using other = await startServer({ mode: 'serve', env: settings })
    const anybody = client(other, 'none')
    assert.match((await anybody.get('/reset-password', 200)).text, /data-shortest="17".*At least 17 characters/s)
    assert.doesNotMatch((await anybody.get('/invite', 200)).text, /type="password"|data-shortest/)
    await other.says(/warn.*users\.login_methods names oidc, which this version does not have/)
    assert.doesNotMatch(other.output(), /\/setup#token/)
  })
})

describe('pages behind links in a real browser', { skip: unavailable !== null && unavailable }, () => {
  let browser: Browser
  let administrator: TestClient
  const complaints: string[] = []
  const requested: string[] = []
  const tokens: string[] = []

  before(async () => {
    browser = await launchBrowser()
    administrator = client(dev)
  })
  after(() => browser?.close())

  /** Opens a link as somebody who clicked it, in a browser of their own. */
  async function follow(link: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage()
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => requested.push(request.url()))
    const token = link.split('#token=')[1]
    if (token) tokens.push(token)
    await page.goto(link)
    return page
  }

  /** Refusals that a test provokes are told on the console by the browser itself. */
  function forgive(status: number | string): void {
    const at = complaints.findIndex((text) => text.includes('Failed to load resource') && text.includes(`${status}`))
    assert.notEqual(at, -1, `no complaint about ${status} in ${complaints.join()}`)
    complaints.splice(at, 1)
  }

  async function choosePassword(page: Page, password: string, again = password): Promise<void> {
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByLabel('Password, again').fill(again)
    await page.getByLabel('Password, again').press('Enter')
  }

  async function invite(email: string): Promise<string> {
    const created = { data: { type: 'users', attributes: { email } } }
    const { body: user } = await administrator.post('/api/v2/users', 201, { body: created })
    const relationships = { user: { data: { type: 'users', id: user.data.id } } }
    const { body } = await administrator.post('/api/v2/user_invitations', 201, {
      body: { data: [{ type: 'user_invitations', relationships }] },
    })
    return Object.values(body.meta.accept_links as Record<string, string>)[0] as string
  }

  function linkIn({ text }: ReceivedMail): string {
    return /http\S+#token=[\w-]{43}/.exec(text)?.[0] as string
  }

  function signIn(email: string, password: string, status: number) {
    const body = { data: { type: 'sign_ins', attributes: { email, password } } }
    return client(server, 'none').post('/api/v2/auth/sign_in', status, { body })
  }

  const alertOf = (page: Page) => page.getByRole('alert')
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 2 }).waitFor()

  test('whoever is invited chooses name and password by keyboard alone, and is signed in', async () => {
    const page = await follow(await invite('ada@example.org'))
    await page.getByText('You are invited to join').waitFor()
    assert.equal(new URL(page.url()).hash, '')
    assert.equal(await page.getByLabel('Email address').inputValue(), 'ada@example.org')
    await page.getByLabel('Your name (optional)').focus()
    await page.keyboard.type('Ada')
    await page.keyboard.press('Tab')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Tab')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await heading(page, 'Welcome')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Welcome')
    assert.match(await page.locator('main').innerText(), /ada@example\.org is active/)
    assert.equal(await page.locator('input').count(), 0)
    const session = await page.request.get(new URL('/api/v2/auth/session', page.url()).href)
    const { data, meta } = await session.json()
    assert.deepEqual([data.attributes.email, data.attributes.name], ['ada@example.org', 'Ada'])
    assert.notEqual(meta.session, null)
  })

  test('who has a second factor from before is asked for a code of it, and tries again after a wrong one', async () => {
    const page = await follow(await invite('again@example.org'))
    const code = page.getByLabel('Code of your second factor')
    await page.getByText('You are invited to join').waitFor()
    assert.equal(await code.isVisible(), false)
    const [recoveryCode] = await giveSecondFactor(dev, 'again@example.org')
    await choosePassword(page, PASSWORD)
    await alertOf(page).getByText('This account has a second factor').waitFor()
    assert.equal(await page.evaluate('document.activeElement.id'), 'totp')
    forgive(401)
    await code.fill('aaaa-aaaa-aaaa-aaaa')
    await code.press('Enter')
    await alertOf(page).getByText('This code is wrong').waitFor()
    forgive(401)
    await code.fill(recoveryCode as string)
    await code.press('Enter')
    await heading(page, 'Welcome')
  })

  test('a used or invented link says what to do, and a page without its link does, too', async () => {
    const link = await invite('used@example.org')
    const page = await follow(link)
    await choosePassword(page, PASSWORD)
    await heading(page, 'Welcome')
    for (const bad of [link, `${link.slice(0, -43)}${randomBytes(32).toString('base64url')}`]) {
      const second = await follow(bad)
      await heading(second, 'This link does not work')
      assert.match(await second.locator('main').innerText(), /ask whoever invited you for another invitation/)
      assert.equal(await second.locator('form').isVisible(), false)
      forgive(404)
    }
    const bare = await follow(dev.url)
    for (const path of PAGES) {
      await bare.goto(dev.url + path)
      await heading(bare, 'Open this page by its link')
      assert.equal(await bare.locator('form').isVisible(), false)
    }
  })

  test('a link opened over another one in the same tab counts, and so does nothing but a link', async () => {
    const page = await follow(await invite('first@example.org'))
    await page.getByText('You are invited to join').waitFor()
    await page.getByRole('link', { name: 'Skip to the content' }).focus()
    await page.keyboard.press('Enter')
    assert.equal(await page.getByLabel('Email address').inputValue(), 'first@example.org')
    const other = await invite('second@example.org')
    tokens.push(other.split('#token=')[1] as string)
    await page.goto(other)
    await until(async () => (await page.locator('#email').inputValue()) === 'second@example.org')
  })

  test('bad passwords are refused in words, at their field, and a good one still gets in', async () => {
    const email = 'longer@example.org'
    const page = await follow(await invite(email))
    const refused = async (text: RegExp, label: string) => {
      await alertOf(page).getByText(text).waitFor()
      const field = page.getByLabel(label, { exact: true })
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
      assert.equal(await page.evaluate('document.activeElement.id'), await field.getAttribute('id'))
    }
    await page.getByText('You are invited to join').waitFor()
    await page.getByRole('button', { name: 'Accept the invitation' }).click()
    await refused(/^Choose a password\.$/, 'Password')
    await choosePassword(page, 'too short')
    await refused(/at least 12 characters; this one has 9\.$/, 'Password')
    await choosePassword(page, PASSWORD, `${PASSWORD}s`)
    await refused(/^The two passwords differ/, 'Password, again')
    await choosePassword(page, 'password1234')
    await refused(/^The password is one of the first that anybody would try\.$/, 'Password')
    forgive(400)
    await choosePassword(page, email)
    await refused(/^The password must not be the email address\.$/, 'Password')
    forgive(400)
    await page.getByLabel('Your name (optional)').fill('<b>'.repeat(100))
    await choosePassword(page, PASSWORD)
    await refused(/^The name /, 'Your name (optional)')
    forgive(400)
    await page.getByLabel('Your name (optional)').fill('')
    await page.getByLabel('Show what I type').check()
    assert.equal(await page.getByLabel('Password', { exact: true }).getAttribute('type'), 'text')
    await choosePassword(page, PASSWORD)
    await heading(page, 'Welcome')
  })

  test('what is between the browser and the server may fail, and the person tries again', async () => {
    const link = await invite('patient@example.org')
    const page = await (await browser.newContext()).newPage()
    await page.route('**/lookup', (route) => route.abort(), { times: 1 })
    await page.goto(link)
    await alertOf(page).getByText('The server could not be reached').waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('You are invited to join').waitFor()
    assert.equal(await alertOf(page).innerText(), '')
    for (const [answer, text] of [
      [{ status: 502, body: '<h1>Bad gateway</h1>' }, /status 502 and no explanation.*Try again in a few minutes/s],
      [
        { status: 429, json: { errors: ['Rate limit exceeded, retry in 7 seconds'] } },
        /^Rate limit exceeded, retry in 7 seconds\.$/,
      ],
      [{ status: 500, json: { errors: ['Internal error (request r-1)'] } }, /Internal error \(request r-1\)/],
    ] as const) {
      await page.route('**/accept', (route) => route.fulfill(answer), { times: 1 })
      await choosePassword(page, PASSWORD)
      await page.locator('button[type=submit]:not([aria-disabled])').waitFor()
      assert.match(await alertOf(page).innerText(), text)
    }
    await choosePassword(page, PASSWORD)
    await heading(page, 'Welcome')
  })

  test('the link of the first start lets the first administrator choose a password', async () => {
    const link = /http\S+\/setup#token=[\w-]{43}/.exec(server.output())?.[0] as string
    const page = await follow(link)
    await choosePassword(page, PASSWORD)
    await heading(page, 'The server is yours')
    assert.match(await page.locator('main').innerText(), /Sign in as admin@localhost\.localdomain/)
    await signIn('admin@localhost.localdomain', PASSWORD, 200)
    const again = await follow(link)
    await choosePassword(again, PASSWORD)
    await heading(again, 'This link does not work')
    forgive(404)
  })

  test('a forgotten password is replaced through the link of the mail', async () => {
    await addPerson(server, { email: 'forgetful@example.org', password: PASSWORD })
    const body = { data: { type: 'password_resets', attributes: { email: 'forgetful@example.org' } } }
    await client(server, 'none').post('/api/v2/auth/password_resets', 202, { body })
    const page = await follow(linkIn(await mail.next()))
    await choosePassword(page, 'quite another password')
    await heading(page, 'The password is changed')
    assert.match(await page.locator('main').innerText(), /forgetful@example\.org/)
    await signIn('forgetful@example.org', PASSWORD, 401)
    await signIn('forgetful@example.org', 'quite another password', 200)
  })

  test('a new address is confirmed by pressing a button, not by opening the link', async () => {
    const id = await addPerson(server, { email: 'before@example.org', password: PASSWORD })
    const body = { data: { type: 'users', id, attributes: { email: 'after@example.org' } } }
    await client(server).patch(`/api/v2/users/${id}`, 200, { body })
    const mails = [await mail.next(), await mail.next()]
    const link = linkIn(mails.find(({ to }) => to.includes('after@example.org')) as ReceivedMail)
    const isVerified = async () =>
      (await client(server).get(`/api/v2/users/${id}`, 200)).body.data.attributes.verified as boolean
    const page = await follow(link)
    const button = page.getByRole('button', { name: 'Confirm the address' })
    await button.waitFor()
    assert.equal(await isVerified(), false)
    await button.click()
    await heading(page, 'The address is confirmed')
    assert.equal(await isVerified(), true)
  })

  test('without JavaScript a page says what to do', async () => {
    const page = await follow(`${dev.url}/invite#token=${'a'.repeat(43)}`, { javaScriptEnabled: false })
    assert.match(await page.locator('main').innerText(), /This page needs JavaScript.*open the link again/s)
    assert.equal(await page.locator('form').isVisible(), false)
  })

  test('the pages fit a narrow screen, and every field has a label', async () => {
    const page = await follow(await invite('a-rather-long-address-of-somebody@subdomain.of.example.org'), {
      viewport: { width: 320, height: 640 },
      colorScheme: 'dark',
    })
    await page.getByText('You are invited to join').waitFor()
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    assert.ok(Number(overflow) <= 1, `the page is ${overflow} pixels too wide`)
    assert.equal(
      await page.evaluate('[...document.querySelectorAll("input")].every(({ labels }) => labels.length)'),
      true,
    )
  })

  test('the browser has nothing to complain about', () => {
    assert.deepEqual(complaints, [])
  })

  test('no token is in the address of a request, and nobody else is asked for anything', () => {
    const own = [dev, server].flatMap(({ port }) => [`http://localhost:${port}/`, `http://127.0.0.1:${port}/`])
    assert.deepEqual(
      requested.filter((url) => !own.some((start) => url.startsWith(start))),
      [],
    )
    assert.ok(tokens.length > 8)
    // A browser tells its tests about the fragment of a page, which it sends to nobody.
    const sent = requested.map((url) => url.split('#')[0]).join('\n')
    for (const token of tokens) assert.equal(sent.includes(token), false)
    for (const { output } of [dev, server]) {
      const log = output().replace(/^choose a password .*$/m, '')
      for (const token of tokens) assert.equal(log.includes(token), false)
    }
  })
})
