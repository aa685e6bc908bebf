import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { escapeHtml } from './escape-html.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '#', ';', 'a'), maxLength: 50 }),
)

test('what was escaped reads as it was written, and holds no markup', () => {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  fc.assert(
    fc.property(anyText, (text) => {
      const escaped = escapeHtml(text)
      assert.doesNotMatch(escaped, /[<>"']/)
      assert.equal(
        escaped.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] as string),
        text,
      )
    }),
  )
})
