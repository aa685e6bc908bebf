import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertSays, CallbacksApi, errorOf, type Wish } from './callbacks-api.ts'

const OFF = { off: { enabled: false } }

/** One wrong thing each, in the order in which they are looked for: the status, the code, and what the message says. */
interface Check {
  title: string
  wrong: Wish
  status?: number
  code?: number
  says: string[]
}

const url = (text: string) => ({ callback: { nexus: { url: text } } })
const nexus = (more: Wish) => ({ callback: { nexus: { url: 'http://127.0.0.1:9/', ...more } } })
const attributes = (indexedFields: Wish) => ({ searchAttributes: { indexedFields } })

function failureWith(causes: number): Wish {
  let failure: Wish = { message: 'the first' }
  for (let n = 0; n < causes; n++) failure = { message: `number ${n}`, cause: failure }
  return failure
}

const CHECKS: Check[] = [
  { title: 'no identity', wrong: { identity: '' }, says: ['identity', 'required'] },
  { title: 'a long identity', wrong: { identity: 'ü'.repeat(501) }, says: ['identity', '1002', '1000'] },
  { title: 'a long request id', wrong: { requestId: 'r'.repeat(1001) }, says: ['request_id', '1001', '1000'] },
  { title: 'no callback', wrong: { callback: null }, says: ['callback', 'not set'] },
  { title: 'no variant', wrong: { callback: {} }, status: 501, code: 12, says: ['callback'] },
  { title: 'an internal callback', wrong: { callback: { internal: { data: 'AA==' } } }, says: ['internal'] },
  { title: 'a long url', wrong: url(`http://127.0.0.1/${'x'.repeat(1000)}`), says: ['url length', '1017', '1000'] },
  { title: 'an empty url', wrong: url(''), says: ['not set'] },
  { title: 'another scheme', wrong: url('ftp://example.org/'), says: ['scheme'] },
  { title: 'no host', wrong: url('http://'), says: ['missing host'] },
  { title: 'a user in the url', wrong: url('http://ada:secret@127.0.0.1/'), says: ['user'] },
  { title: 'a denied address', wrong: url('http://169.254.169.254/'), says: ['not allowed'] },
  { title: 'a denied port', wrong: url('http://127.0.0.1:25/'), says: ['port'] },
  { title: 'a port that nothing listens at', wrong: url('http://127.0.0.1:0/'), says: ['port 0'] },
  { title: 'an illegal header name', wrong: nexus({ header: { 'a b': 'x' } }), says: ['header name'] },
  { title: 'a line break in a header', wrong: nexus({ header: { a: 'x\r\ny: z' } }), says: ['header', 'CR'] },
  { title: 'a control character in the token', wrong: nexus({ token: 'a\nb' }), says: ['token'] },
  { title: 'large headers', wrong: nexus({ header: { a: 'x'.repeat(8192) } }), says: ['header size', '8193', '8192'] },
  {
    title: 'a negative timeout',
    wrong: { scheduleToCloseTimeout: '-1s' },
    says: ['schedule_to_close_timeout', 'negative'],
  },
  { title: 'a negative delay', wrong: { startDelay: '-1s' }, says: ['start_delay', 'negative'] },
  { title: 'no completion', wrong: { completion: null }, says: ['completion'] },
  { title: 'an empty completion', wrong: { completion: {} }, says: ['completion'] },
  {
    title: 'a large completion',
    wrong: { completion: { success: 'x'.repeat(2_097_152) } },
    says: ['size exceeds limit', '2097152'],
  },
  { title: 'too many causes', wrong: { completion: { failure: failureWith(21) } }, says: ['20', 'causes'] },
  {
    title: 'too many attributes',
    wrong: attributes(Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`A${n}`, 1]))),
    says: ['101', '100'],
  },
  {
    title: 'a long attribute',
    wrong: attributes({ CustomText: 'x'.repeat(2047) }),
    says: ['CustomText', '2049', '2048'],
  },
  {
    title: 'large attributes in all',
    wrong: attributes(Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`A${n}`, 'x'.repeat(1998)]))),
    says: ['42000', '40960'],
  },
  { title: 'an attribute that is not there', wrong: attributes({ Nothing: 1 }), says: ['Nothing'] },
  { title: 'an attribute of another type', wrong: attributes({ CustomInt: 'seven' }), says: ['CustomInt', 'Int'] },
  { title: 'an attribute of the system', wrong: attributes({ RunId: 'x' }), says: ['RunId'] },
]

describe('a start that is wrong', () => {
  let callbacks: CallbacksApi
  before(async () => {
    callbacks = await CallbacksApi.start({
      env: {
        COMMONPLACE_CALLBACKS__NAMESPACES: JSON.stringify(OFF),
        COMMONPLACE_CALLBACKS__ALLOWED_ADDRESSES: JSON.stringify([
          { pattern: 'secure.example.org' },
          { pattern: '*.example.com', allow_insecure: true },
          { pattern: '127.0.0.1*', allow_insecure: true },
          { pattern: '169.254.169.254', allow_insecure: true },
        ]),
      },
    })
  })
  after(() => callbacks[Symbol.asyncDispose]())

  for (const { title, wrong, status = 400, code = 3, says } of CHECKS) {
    test(`is told so: ${title}`, async () => {
      const error = await callbacks.refusal('wrong', callbacks.wish(wrong), status)
      assert.equal(error.code, code)
      assert.deepEqual(error.details, [])
      assertSays(error, ...says)
      errorOf(await callbacks.api.get(callbacks.at('wrong'), 404))
    })
  }

  test('is told the first thing only, in the order of the contract', async () => {
    // What comes later in the order is wrong, too: headers beside the url would hide each other otherwise.
    const later: Wish = { identity: 'test', requestId: '' }
    for (const { wrong, status = 400, says } of [...CHECKS].reverse()) {
      Object.assign(later, wrong)
      assertSays(await callbacks.refusal('wrong', callbacks.wish(later), status), ...says)
    }
  })

  test('is told so: an address that no rule names, and plain http where a rule wants more', async () => {
    assertSays(await callbacks.refusal('wrong', callbacks.wish(url('https://other.example.net/'))), 'does not match')
    assertSays(await callbacks.refusal('wrong', callbacks.wish(url('http://secure.example.org/'))), 'insecure')
    assertSays(await callbacks.refusal('wrong', callbacks.wish(url('https://a.example.com:8443/x'))), 'does not match')
  })

  test('is told so: a long id, and one with a character that no database keeps', async () => {
    assertSays(await callbacks.refusal('x'.repeat(1001), callbacks.wish()), 'callback_id', '1001', '1000')
    assertSays(await callbacks.refusal('a\0b', callbacks.wish()), 'callback_id', 'NUL')
    await callbacks.startRun('x'.repeat(1000))
  })

  test('is told that callbacks are off before anything else', async () => {
    const { body } = await callbacks.api.post('/namespaces/off/callbacks/x', 501, { body: {} })
    assert.equal(body.code, 12)
  })

  test('hears of an unknown namespace last, with the name in a detail', async () => {
    const at = '/namespaces/nowhere/callbacks/x'
    for (const { wrong, status = 400 } of CHECKS) {
      errorOf(await callbacks.api.post(at, status, { body: callbacks.wish(wrong) }))
    }
    const error = errorOf(await callbacks.api.post(at, 404, { body: callbacks.wish() }))
    assert.equal(error.code, 5)
    assertSays(error, 'nowhere')
    assert.deepEqual(error.details, [
      {
        '@type': 'type.googleapis.com/temporal.api.errordetails.v1.NamespaceNotFoundFailure',
        namespace: 'nowhere',
      },
    ])
  })

  test('is told where in the body the trouble is', async () => {
    for (const [wish, ...says] of [
      [{ nothing: 1 }, 'nothing', 'not a known field'],
      [{ callback: { nexus: { url: 7 } } }, 'callback.nexus.url', 'text'],
      [{ callback: { nexus: { url: 'x' }, internal: {} } }, 'callback', 'only one'],
      [{ completion: { success: 1, failure: {} } }, 'completion', 'only one'],
      [{ requestId: 'a', request_id: 'b' }, 'request_id', 'requestId'],
      [{ scheduleToCloseTimeout: '1h' }, 'scheduleToCloseTimeout', 'duration'],
      [{ scheduleToCloseTimeout: '315576000001s' }, 'scheduleToCloseTimeout'],
    ] as [Wish, ...string[]][]) {
      assertSays(await callbacks.refusal('wrong', callbacks.wish(wish)), ...says)
    }
    for (const body of ['{', '[]', '"x"', 'null', '\xff']) {
      const options = { body: Buffer.from(body, 'latin1'), headers: { 'content-type': 'application/json' } }
      assert.equal(errorOf(await callbacks.api.post(callbacks.at('wrong'), 400, options)).code, 3)
    }
  })

  test('takes an empty payload for a payload', async () => {
    await callbacks.startRun('empty', { completion: { success: { data: '' } } })
    await callbacks.closed('empty')
    assert.deepEqual((await callbacks.describe('empty', '?includeInput=true')).input, { success: {} })
  })
})
