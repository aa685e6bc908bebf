import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { findMentioning } from '../../src/knowledge/link/store-backlinks.ts'
import { findByWords } from '../../src/knowledge/search/find-by-words.ts'
import { writeOutdatedRows } from '../../src/knowledge/search/index/outdated-rows.ts'
import { parseQuestion } from '../../src/knowledge/search/question/question.ts'
import { rowNumber } from '../../src/knowledge/search/row-number.ts'
import { eachDatabase } from '../support/each-database.ts'
import { answers } from './knowledge-search-model.ts'
import { type Draft, SearchedNotes } from './knowledge-search-notes.ts'

const words = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}${n}`).join(' ')

const OFTEN = `${'blue fish '.repeat(255)}blue marker255`
const HISTORY = `${'He thought of the sea. '.repeat(400)}wrote keeper of the lighthouse${' and of the wind'.repeat(300)}`
const LATE = 'release-notes by foo@example.com for node.js v2.7.1, snake_case_name, 東京都は晴れ'
// Of these no document holds all words at once, not even without their places.
const ALPHA = `alpha${'x'.repeat(400)}`
const LARGE = `${words(2_600, ALPHA)} middle stone walking ${words(400, 'omega')} été 東京 lastly found`
// Of these one holds all of the words, but not their places.
const WORD = `word${'x'.repeat(40)}`

const LONG_WORD = `kz${'abcdefghij'.repeat(60)}`

const DRAFTS: readonly Draft[] = [
  { id: 1, title: 'Often', body: OFTEN },
  { id: 2, title: 'History', body: HISTORY },
  { id: 3, title: 'Late', body: `${words(18_000, 'w')} ${LATE}` },
  { id: 4, title: 'Short', body: 'wrote of the keeper; node and js, blue as the sea' },
  { id: 5, title: 'Large', body: LARGE, metadata: { tags: ['big'] } },
  { id: 6, title: 'Many words', body: words(19_000, WORD) },
  { id: 7, title: 'Said', body: `- [fact] ${'so it is '.repeat(300)}is it so\n` },
  { id: 8, title: 'Dull', body: `${'a '.repeat(2_000)}end of it` },
  { id: 9, title: 'Cut', body: `x ${LONG_WORD} y, über ${LONG_WORD.replace('kz', 'qé')}` },
]

const SEED = 11
const FEW_WORDS = ['apple', 'apples', 'banana', 'run', 'running', 'café', '東京', 'wi-fi', 'x1', 'the', 'of']
const fewWords = (minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom(...FEW_WORDS), { minLength, maxLength, size: 'max' }).map((list) => list.join(' '))
// Every other one is short.
const RANDOM = fc
  .sample(fc.tuple(fewWords(2_500, 3_500), fewWords(5, 300)), { numRuns: 5, seed: SEED })
  .flat()
  .map((body, index) => ({ id: 200 + index, title: `Random ${index}`, body }))
const operand = fc.oneof(
  fc.constantFrom(...FEW_WORDS, 'zebra', 'random'),
  fewWords(2, 4).map((phrase) => `"${phrase}"`),
)
const question = fc
  .array(fc.tuple(fc.constantFrom('', 'AND ', 'OR ', 'NOT ', 'OR NOT '), operand), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.map(([operator, part]) => `${operator}${part}`).join(' '))
const QUESTIONS = fc.sample(question, { numRuns: 80, seed: SEED })

eachDatabase('a note that is too long for one document', (context) => {
  let notes: SearchedNotes
  let random: SearchedNotes
  before(async () => {
    notes = await SearchedNotes.open(await context.open())
    await notes.add(DRAFTS)
    const others = await SearchedNotes.open(notes.db, 'other')
    await others.add([{ id: 100, title: 'Elsewhere', body: HISTORY }])
    random = await SearchedNotes.open(notes.db, 'random')
    await random.add(RANDOM)
  })

  const QUERIES: [question: string, notes: number[]][] = [
    ['"blue marker255"', [1]],
    ['"fish blue marker255"', [1]],
    ['"marker255 blue"', []],
    ['"keeper of the lighthouse"', [2]],
    ['"keeper of the wind"', []],
    ['wrote NOT "keeper of the lighthouse"', [4]],
    ['wrote NOT "keeper of the wind"', [2, 4]],
    ['"of the" NOT lighthouse', [4]],
    ['(wrote OR "blue marker255") NOT "of the keeper"', [1, 2]],
    ['"keeper of the lighthouse" OR "blue marker255" OR nowhere', [1, 2]],
    ['thoughts "keeper of the lighthouse"', [2]],
    ['thinking "keeper of the lighthouse"', []],
    ['release-notes', [3]],
    ['foo@example.com', [3]],
    ['node.js', [3]],
    ['v2.7.1', [3]],
    ['v2.7.2', []],
    ['"東京都は晴れ"', [3]],
    ['"東京は晴れ"', []],
    ['snake_case_name', [3]],
    ['release-note', [3]],
    ['w17999 release-notes w0', [3]],
    ['"w17999 release"', [3]],
    ['"w17998 release"', []],
    ['"w16382 w16383 w16384"', [3]],
    [`${ALPHA}2599 omega399`, [5]],
    ['alpha omega399 NOT middle', []],
    ['"東京 lastly found"', [5]],
    [`"${ALPHA}2599 middle stone"`, [5]],
    ['"middle found"', []],
    ['lastly NOT omega200', []],
    ['lastly NOT omega400', [5]],
    ['found walks', [5]],
    ['la fo o', [5]],
    ['zoo OR lastly', [5]],
    ['zoo lastly', []],
    ['été 東', [5]],
    ['"été 東京"', [5]],
    ['place stone middle', [5]],
    ['lastly tag:big', [5]],
    ['lastly tag:small', []],
    [`${WORD}18999`, [6]],
    [`"${WORD}18998 ${WORD}18999"`, [6]],
    ['NOT (of OR alpha OR word)', [3, 7, 9]],
    ['"is it so"', [7]],
    ['"it is it"', []],
    ['"end of it"', [8]],
    ['"a a a end of it"', [8]],
    ['kzabc', [9]],
    ['qeabc', [9]],
    [LONG_WORD, [9]],
    [`"x ${LONG_WORD} y"`, [9]],
    [`"y ${LONG_WORD}"`, []],
    ['cut NOT kzabc', []],
  ]
  for (const [question, expected] of QUERIES) {
    test(`${question.replaceAll(/x{9,}|(abcdefghij){2,}/g, '…')} finds notes ${expected.join(', ') || 'none'}`, async () => {
      const { rows, total, isExact } = await notes.text(question, { kinds: ['note'] })
      assert.deepEqual(
        rows.map(({ noteId }) => noteId).toSorted((one, other) => one - other),
        expected,
      )
      assert.deepEqual([total, isExact], [expected.length, true])
    })
  }

  test('has observations that are found by what they say at their end', async () => {
    const { rows } = await notes.text('"is it so"', { kinds: ['observation'] })
    assert.deepEqual(
      rows.map(({ noteId }) => noteId),
      [7],
    )
  })

  test('is found by a phrase among the notes that changed last', async () => {
    const { rows } = await notes.text('"keeper of the lighthouse"', { after: 1_002, kinds: ['note'] })
    assert.deepEqual(
      rows.map(({ noteId }) => noteId),
      [2],
    )
  })

  test('that has the whole question is not found by some words of it', async () => {
    const main = { mode: 'text', question: parseQuestion('release-notes node.js snake_case_name') } as const
    const page = { limit: 10, offset: 0 }
    const { hits, isRelaxed } = await findByWords(notes.db, notes.project, { main, filters: { kinds: ['note'] }, page })
    assert.deepEqual([isRelaxed, hits.map(({ noteId }) => noteId)], [false, [3]])
  })

  test('mentions others at its end', async () => {
    const mentioning = (text: string) => findMentioning(notes.db, notes.project, 4, text)
    assert.deepEqual(await mentioning('Keeper of the Lighthouse'), [2])
    assert.deepEqual(await mentioning('Blue Marker255'), [1])
    assert.deepEqual(await mentioning('Lastly found'), [5])
    assert.deepEqual(await mentioning('Marker255 Blue'), [])
  })

  test('answers any question as one does that is read from its beginning to its end', async () => {
    for (const text of QUESTIONS) {
      const { tree } = parseQuestion(text)
      const { rows, total, isExact } = await random.text(text, { kinds: ['note'] })
      const expected = RANDOM.filter(
        ({ id, title, body }) => tree !== null && answers(tree, [title, body, `place/${id}`]),
      ).map(({ id }) => id)
      assert.deepEqual(
        rows.map(({ noteId }) => noteId).toSorted((one, other) => one - other),
        expected,
        text,
      )
      assert.deepEqual([total, isExact], [expected.length, true], text)
    }
  })

  if (context.engine === 'postgres') {
    test('is found as before, and then by all it says, when an earlier version wrote it', async () => {
      const { db } = notes
      await db.write((tx) =>
        sql`update note_search set split = null, pieces = null,
          document = '''=kn'' ''=p1'' ''=tnote'' ''wrote'':1 ''keeper'':2 ''of'':3' where id = ${rowNumber('note', 2, 0)}`.execute(
          tx.query,
        ),
      )
      // So short that nothing can be missing.
      await db.write((tx) =>
        sql`update note_search set split = null where id = ${rowNumber('note', 4, 0)}`.execute(tx.query),
      )
      assert.deepEqual(await notes.notes('"wrote keeper"'), [2])
      assert.deepEqual(await notes.notes('"keeper of the lighthouse"'), [])
      assert.equal(await writeOutdatedRows(db), 1)
      assert.deepEqual(await notes.notes('"keeper of the lighthouse"'), [2])
      assert.equal(await writeOutdatedRows(db), 0)
    })
  }
})
