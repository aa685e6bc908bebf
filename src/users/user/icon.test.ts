import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawIcon, iconUrl } from './icon.ts'

const ID = '0198c0de-0000-7000-8000-000000000001' as never

test('an icon depends on the id alone, whatever its case', () => {
  assert.equal(drawIcon(ID), drawIcon(String(ID).toUpperCase()))
  assert.notEqual(drawIcon(ID), drawIcon('0198c0de-0000-7000-8000-000000000002'))
})

test('nothing that a caller sends gets into the image', () => {
  const image = drawIcon('"><script>alert(1)</script>')
  assert.match(
    image,
    /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[^<>]*><rect[^<>]*\/><path d="[Mhvz0-9 -]*"[^<>]*\/><\/svg>$/,
  )
})

test('a third party is asked only when the settings say so, and never about an anonymized user', () => {
  const user = { id: ID, email: 'ada@example.org', anonymizedAt: null }
  const own = `https://example.org/api/v2/users/${ID}/icon`
  assert.equal(iconUrl(user, 'https://example.org', 'local'), own)
  assert.match(
    iconUrl(user, 'https://example.org', 'gravatar'),
    /^https:\/\/www\.gravatar\.com\/avatar\/[0-9a-f]{32}\?/,
  )
  assert.equal(iconUrl({ ...user, anonymizedAt: 1 }, 'https://example.org', 'gravatar'), own)
})
