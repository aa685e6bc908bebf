import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InstanceData } from './instance-data.ts'
import { termsOfDate } from './text-documents.ts'

const DAY = '2030-01-31'

test('the HTML of a text is made once, however often what is counted changes, and again for another domain', () => {
  let timesRead = 0
  const terms = {
    get text() {
      timesRead++
      return '**Terms** of %{domain}'
    },
    updatedAt: 0,
    effectiveDate: DAY,
  }
  const data = { settings: { domain: 'a.example' }, terms: [terms] } as unknown as InstanceData
  const contentOf = (read: InstanceData) => termsOfDate(read, 'https://kb.example', DAY, DAY)?.document.content
  for (const userCount of [1, 2, 3]) {
    const recounted = { ...data, numbers: { ...data.numbers, userCount } }
    assert.equal(contentOf(recounted), '<p><strong>Terms</strong> of a.example</p>')
  }
  assert.equal(timesRead, 1)
  const renamed = { ...data, settings: { ...data.settings, domain: 'b.example' } }
  assert.equal(contentOf(renamed), '<p><strong>Terms</strong> of b.example</p>')
})
