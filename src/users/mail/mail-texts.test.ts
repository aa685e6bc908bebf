import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { escapeHtml } from '../../platform/http/pages/escape-html.ts'
import { emailChangedText, emailVerificationText, invitationText, passwordResetText, shown } from './mail-texts.ts'

const LINK = `https://commonplace.example.org/invite#token=${'a'.repeat(43)}`
const EXPIRES = Date.UTC(2030, 0, 1, 9, 30) * 1_000

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({
    unit: fc.constantFrom('<', '>', '"', "'", '&', '\r', '\n', '\0', '\u202e', ';', 'a', '/', '='),
    maxLength: 50,
  }),
)

test('an invitation names who invites, to what, until when, and where to click, in both bodies', () => {
  const mail = invitationText({
    organization: { name: 'Example & Co' },
    inviter: 'Ada',
    link: LINK,
    expiresAt: EXPIRES,
  })
  assert.equal(mail.subject, 'Ada invites you to Example & Co')
  for (const part of ['Ada', 'Example & Co', 'Tuesday, 1 January 2030, 09:30 UTC', LINK]) {
    assert.ok(mail.text.includes(part), part)
    assert.ok(mail.html.includes(escapeHtml(part)), part)
  }
})

test('an invitation without a person behind it comes from an administrator', () => {
  const mail = invitationText({ organization: { name: 'Example' }, inviter: null, link: LINK, expiresAt: EXPIRES })
  assert.match(mail.text, /^An administrator invites you to join Example\./)
})

test('the other mails say what happened and carry their link once in the text', () => {
  const input = { organization: { name: 'Example' }, link: LINK, expiresAt: EXPIRES }
  for (const mail of [passwordResetText(input), emailVerificationText(input)]) {
    assert.equal(mail.text.split(LINK).length, 2)
    assert.match(mail.text, /2030/)
  }
  assert.equal(emailChangedText(input).text.includes('http'), false)
})

test('no name can break out of a subject, a line of the text or the markup', () => {
  fc.assert(
    fc.property(anyText, anyText, (inviter, name) => {
      const mail = invitationText({ organization: { name }, inviter, link: LINK, expiresAt: EXPIRES })
      assert.doesNotMatch(mail.subject, /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
      // The shape of both bodies is the same whatever the names are.
      const plain = invitationText({ organization: { name: 'x' }, inviter: 'x', link: LINK, expiresAt: EXPIRES })
      assert.equal(mail.text.split('\n').length, plain.text.split('\n').length)
      assert.deepEqual(mail.html.match(/<[^>]*>/g), plain.html.match(/<[^>]*>/g))
      assert.ok(mail.subject.isWellFormed() && mail.html.isWellFormed())
    }),
  )
})

test('a shown name is one line of bounded length', () => {
  assert.equal(shown('  Ada\r\nBcc: eve@example.org\t '), 'Ada Bcc: eve@example.org')
  assert.equal(shown('a\u202Eb\u2028c'), 'a b c')
  assert.equal([...shown('🙂'.repeat(300))].length, 101)
})
