import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { browserUnavailable, launchBrowser } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/start-server.ts'

const unavailable = browserUnavailable()

describe('pages in a real browser', { skip: unavailable !== null && unavailable }, () => {
  let server: TestServer
  let browser: Browser
  const complaints: string[] = []
  const foreign: string[] = []

  before(async () => {
    ;[server, browser] = await Promise.all([startServer({ mode: 'dev' }), launchBrowser()])
  })

  after(async () => {
    await browser?.close()
    await server?.stop()
  })

  async function open(path: string, options: { javaScriptEnabled?: boolean } = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage()
    page.on('console', (message) => message.type() === 'error' && complaints.push(`${path}: ${message.text()}`))
    page.on('pageerror', (error) => complaints.push(`${path}: ${error.message}`))
    page.on('request', (request) => request.url().startsWith(server.url) || foreign.push(request.url()))
    await page.goto(new URL(path, server.url).href)
    return page
  }

  test('the landing page leads to the documentation', async () => {
    const page = await open('/')
    await page.getByRole('link', { name: 'How to call it' }).click()
    await page.waitForURL('**/docs')
    assert.match(await page.title(), /Commonplace/)
  })

  test('the documentation shows every operation of the OpenAPI document, without JavaScript', async () => {
    const page = await open('/docs', { javaScriptEnabled: false })
    const text = (await page.locator('body').innerText()).replaceAll(/\s+/g, ' ')
    const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Record<string, object> }
    assert.ok(Object.keys(paths).length > 3)
    for (const path of Object.keys(paths)) assert.ok(text.includes(path), `${path} is missing`)
  })

  test('the pages fit a narrow screen', async () => {
    const page = await open('/docs')
    await page.setViewportSize({ width: 360, height: 740 })
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    assert.ok(Number(overflow) <= 1, `the page is ${overflow} pixels too wide`)
  })

  test('no page asks another server for anything or breaks its own security policy', () => {
    assert.deepEqual({ foreign, complaints }, { foreign: [], complaints: [] })
  })
})
