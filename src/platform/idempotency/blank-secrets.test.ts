import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '../ids/uuid.ts'
import { blankSecrets } from './blank-secrets.ts'
import { emailMention, mentionsIn, resourceMention, userMention } from './mentions.ts'

test('empties secrets by their name, and members that an operation names', () => {
  const body = {
    data: { type: 'application_keys', id: '1', attributes: { name: 'n', key: 'plain', last4: 'lain', scopes: null } },
    meta: { session: { token: 't', csrf_token: 'c', expires_at: 'e' }, accept_links: { a: 'link' }, codes: ['1', '2'] },
  }
  assert.deepEqual(JSON.parse(blankSecrets(JSON.stringify(body), ['accept_links', 'codes'])), {
    data: { ...body.data, attributes: { ...body.data.attributes, key: '' } },
    meta: { session: { token: '', csrf_token: '', expires_at: 'e' }, accept_links: {}, codes: [] },
  })
  assert.equal(blankSecrets('', []), '')
})

test('finds the users and the addresses that a document mentions', () => {
  const body = {
    data: { type: 'users', id: 'u1', attributes: { email: 'Ada@Example.org' } },
    included: [{ type: 'roles', id: 'r1' }],
    relationships: { owned_by: { data: { type: 'users', id: 'u2' } } },
    errors: ['A user with email bob@example.org already exists'],
  }
  assert.deepEqual(
    mentionsIn(JSON.stringify(body))?.sort(),
    [emailMention('ada@example.org'), emailMention('bob@example.org'), userMention('u1'), userMention('u2')].sort(),
  )
  assert.deepEqual(mentionsIn(''), [])
})

test('what an answer names by an external id is found, and nothing else that is called so', () => {
  const id = newId()
  const body = { results: [{ external_id: id }], entity_metadata: { external_id: 'x', deep: { external_id: 7 } } }
  assert.deepEqual(mentionsIn(JSON.stringify({ ...body, to_external_id: newId() })), [resourceMention(id)])
})

test('finds an address whole that holds what stands between others', () => {
  const errors = ["A user with email o'brien@example.org already exists", 'Write to Bob <bob@example.org>, please']
  errors.push('not \'cy@example.org\' (dee@example.org); to:eve@example.org,"fay@example.org"')
  const mentions = mentionsIn(JSON.stringify({ errors }))
  const others = ['cy', 'dee', 'eve', 'fay'].map((name) => `${name}@example.org`)
  for (const email of ["o'brien@example.org", 'bob@example.org', ...others])
    assert.ok(mentions?.includes(emailMention(email)), email)
})

test('finds the addresses that a simple expression would find', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'B', '@', '@', ' ', ',', '<', '.'), maxLength: 30 })
  fc.assert(
    fc.property(text, (text) => {
      const simple = [/[^\s@]+@[^\s@]+/g, /[^\s@"'<>(),;:]+@[^\s@"'<>(),;:]+/g]
      const expected = simple.flatMap((one) => [...text.matchAll(one)].map(([email]) => emailMention(email)))
      assert.deepEqual(mentionsIn(JSON.stringify({ text })), [...new Set(expected)])
    }),
  )
})

test('a document that is as long as it may be does not hold up others while it is read', () => {
  // An expression that backtracks would need an hour for the first.
  for (const piece of ['a', '@', 'a@', '@a ', ' ']) mentionsIn(JSON.stringify(`${piece.repeat(400_000)}@`))
  const text = `${'a'.repeat(1_000_000)} ada@example.org`
  assert.deepEqual(mentionsIn(JSON.stringify(text)), [emailMention('ada@example.org')])
})

test('a document that mentions more than is kept is not read to its end, and one that repeats itself is', () => {
  const addresses = Array.from({ length: 1_001 }, (_, number) => `${number}@example.org`)
  assert.equal(mentionsIn(JSON.stringify(addresses)), null)
  assert.equal(mentionsIn(JSON.stringify(addresses.join(' '))), null)
  assert.equal(mentionsIn(JSON.stringify(addresses.slice(1)))?.length, 1_000)
  const repeated = 'ada@example.org '.repeat(60_000)
  assert.deepEqual(mentionsIn(JSON.stringify(repeated)), [emailMention('ada@example.org')])
})
