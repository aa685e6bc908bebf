import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseEmail } from '../../platform/text/email.ts'
import { MailFailure } from './mail-failure.ts'
import { mailDomain, senderOf } from './sender.ts'
import { compose, type MailMessage, parseSmtpUrl } from './smtp.ts'

const MESSAGE: MailMessage = {
  messageId: '<1@example.org>',
  from: { name: 'Commonplace', address: 'noreply@example.org' },
  to: 'ada@example.org',
  subject: 'Hello',
  text: 'Hello',
  html: '<p>Hello</p>',
  date: new Date(0),
}

async function headersOf(message: MailMessage): Promise<string[]> {
  const { source } = await compose(message)
  const head = source.toString('utf8').split('\r\n\r\n', 1)[0] as string
  return head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
}

test('an SMTP address says where, how and as whom', () => {
  assert.deepEqual(parseSmtpUrl('smtp://m%40x:p%3Aw%2F@mail.example.org'), {
    host: 'mail.example.org',
    port: 587,
    secure: false,
    requireTls: true,
    credentials: { user: 'm@x', pass: 'p:w/' },
  })
  assert.deepEqual(parseSmtpUrl('smtps://[::1]'), {
    host: '::1',
    port: 465,
    secure: true,
    requireTls: false,
    credentials: null,
  })
})

test('a password is sent unencrypted only within this machine, or when the operator says so', () => {
  assert.equal(parseSmtpUrl('smtp://a:b@127.0.0.1:25').requireTls, false)
  assert.equal(parseSmtpUrl('smtp://a:b@mail.example.org:25').requireTls, true)
  assert.equal(parseSmtpUrl('smtp://a:b@mail.example.org:25?require_tls=false').requireTls, false)
  assert.equal(parseSmtpUrl('smtp://mail.example.org:25?require_tls=true').requireTls, true)
})

test('the sender is the set one, or made from the public address', () => {
  assert.deepEqual(senderOf('Our Place <hello@example.org>', 'https://x.example.org'), {
    name: 'Our Place',
    address: 'hello@example.org',
  })
  assert.deepEqual(senderOf('hello@example.org', 'https://x.example.org'), { name: '', address: 'hello@example.org' })
  assert.equal(senderOf(null, 'https://x.example.org:8443').address, 'noreply@x.example.org')
  assert.equal(mailDomain('http://127.0.0.1:4040'), '[127.0.0.1]')
  assert.equal(mailDomain('http://[::1]:4040'), '[IPv6:::1]')
})

test('nothing that a person chose adds a header or a recipient', async () => {
  const names = (await headersOf(MESSAGE)).map((line) => line.split(':')[0])
  const text = fc.string({
    unit: fc.constantFrom('\r', '\n', '\0', ':', ' ', ',', '<', '>', '@', 'B', 'c', 'ä'),
    maxLength: 80,
  })
  await fc.assert(
    fc.asyncProperty(text, text, async (subject, name) => {
      const message = { ...MESSAGE, subject: `Hi ${subject}`, from: { ...MESSAGE.from, name } }
      const lines = await headersOf(message)
      assert.deepEqual(
        lines.map((line) => line.split(':')[0]),
        names,
      )
      assert.deepEqual((await compose(message)).envelope, { from: 'noreply@example.org', to: ['ada@example.org'] })
    }),
    { numRuns: 50 },
  )
})

test('whatever counts as an address is one recipient at the same host, or none', async () => {
  const local = fc.string({ unit: fc.constantFrom(...'ab.,;:<>()[]\\"\'@é+% '), minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(local, async (part) => {
      const to = parseEmail(`${part}@example.org`)
      if (to === undefined) return
      const sent = await compose({ ...MESSAGE, to }).catch((error: unknown) => error)
      if (sent instanceof MailFailure) return
      const { envelope } = sent as Awaited<ReturnType<typeof compose>>
      assert.equal((envelope.to as string[]).length, 1)
      assert.match((envelope.to as string[])[0] as string, /@example\.org$/)
    }),
    { numRuns: 100 },
  )
})

test('a failure repeats numbers and codes of the server, never its words', () => {
  const error = Object.assign(new Error('Recipient <ada@example.org> rejected'), {
    code: 'EENVELOPE',
    responseCode: 550,
    response: '550 <ada@example.org> unknown',
    command: 'RCPT TO:<ada@example.org>',
  })
  assert.equal(MailFailure.of(error).message, 'The mail server refused the sender or the recipient (550)')
  assert.equal(
    MailFailure.of(Object.assign(new Error('x'), { code: 'ECONNREFUSED' })).message.endsWith('(ECONNREFUSED)'),
    true,
  )
  for (const odd of [undefined, null, 'text', { code: 'ada@example.org', responseCode: 'ada@example.org' }]) {
    assert.equal(MailFailure.of(odd).message, 'The mail server cannot be reached or broke off')
  }
  assert.equal(MailFailure.of(error).cause, undefined)
})
