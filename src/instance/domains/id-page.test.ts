import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageBounds, pageLinks } from './id-page.ts'

test('a page has 100 entries unless asked for, and never more than 500', () => {
  assert.equal(pageBounds({}).limit, 100)
  assert.equal(pageBounds({ limit: 5_000 }).limit, 500)
  assert.deepEqual(pageBounds({ limit: 7, max_id: '12' }), {
    limit: 7,
    maxId: 12,
    sinceId: undefined,
    minId: undefined,
  })
})

test('the next page is linked from a full one, the one before from every one that has entries', () => {
  const url = 'https://kb.example.org/list'
  assert.equal(
    pageLinks(url, { limit: 2 }, [{ id: 9 }, { id: 4 }]),
    `<${url}?limit=2&max_id=4>; rel="next", <${url}?limit=2&min_id=9>; rel="prev"`,
  )
  assert.equal(pageLinks(url, { limit: 3 }, [{ id: 9 }, { id: 4 }]), `<${url}?limit=3&min_id=9>; rel="prev"`)
  assert.equal(pageLinks(url, { limit: 3 }, []), undefined)
})
