import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nameId, newId, parseId } from './uuid.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

test('new ids are UUIDs of version 7 that carry the time of their making', () => {
  const ms = Date.now() + 60_000
  const id = newId(ms)
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), ms)
})

test('ids of one process ascend, also within a millisecond and when the clock goes back', () => {
  const ids = Array.from({ length: 20_000 }, (_, index) => newId(Date.now() + (index % 3) - 1))
  assert.deepEqual(ids.toSorted(), ids)
  assert.equal(new Set(ids).size, ids.length)
})

test('the random digits and the variant are spread evenly', () => {
  const count = new Map<string, number>()
  for (let index = 0; index < 40_000; index++) {
    const variant = newId()[19] as string
    count.set(variant, (count.get(variant) ?? 0) + 1)
  }
  for (const digit of '89ab')
    assert.ok(Math.abs((count.get(digit) ?? 0) - 10_000) < 600, `${digit}: ${count.get(digit)}`)
})

test('the same name gives the same id in one namespace, as RFC 9562 computes it', () => {
  const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
  assert.equal(nameId(dns, 'www.example.com'), '2ed6657d-e927-568b-95e1-2665a8aea6a2')
})

test('any text is either an id in canonical form or none', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.uuid(),
        fc.uuid().map((id) => id.toUpperCase()),
      ),
      (text) => {
        const id = parseId(text)
        assert.equal(id, UUID.test(text.toLowerCase()) ? text.toLowerCase() : undefined)
      },
    ),
  )
})
