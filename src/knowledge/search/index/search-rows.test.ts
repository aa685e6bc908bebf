import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBody } from '../../text/body/parse-body.ts'
import { type SearchRow, searchRows } from './search-rows.ts'

const NOTE = { id: 9, project_id: 3, title: 'Long', permalink: 'long', file_path: 'Long.md', type_key: 'book' }

function rowsOf(parts: number, values: number, typeKey = 'book'): SearchRow[] {
  const body = Array.from({ length: parts }, (_, at) => `- [fact] number ${at}\n- uses [[N${at}]]\n`).join('')
  const metadata = Object.fromEntries(Array.from({ length: values }, (_, at) => [`key${at}`, `value ${at}`]))
  return [...searchRows({ ...NOTE, type_key: typeKey }, { body, parsed: parseBody(body), metadata })]
}

test('parts have the words of the type and the frontmatter of their note', () => {
  const [note, observation, relation] = rowsOf(1, 2).map(({ scope }) => scope.split(' '))
  const common = note?.filter((word) => /^[ft]/.test(word))
  assert.equal(common?.length, 5)
  for (const scope of [observation, relation])
    assert.deepEqual(
      scope?.filter((word) => /^[ft]/.test(word)),
      common,
    )
})

test('many parts of a note with much to filter by name their note instead: the rows stay as long as the texts', () => {
  for (const [parts, values, typeKey] of [
    [20_000, 256, 'book'],
    [20_000, 0, '東'.repeat(200)],
  ] as const) {
    const [note, ...others] = rowsOf(parts, values, typeKey)
    assert.equal(others.length, 2 * parts)
    assert.ok(note?.scope.split(' ').includes('b3'))
    const [observation, relation] = others
    assert.match(observation?.scope ?? '', /^p3 ko bp o9 c\w+$/)
    assert.equal(relation?.scope, 'p3 kr bp o9')
    assert.ok(others.reduce((sum, { scope }) => sum + scope.length, 0) < 2_000_000)
  }
})
