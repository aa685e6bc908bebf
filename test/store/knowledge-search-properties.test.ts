import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { FoundRow } from '../../src/knowledge/search/find/find-rows.ts'
import { parseQuestion } from '../../src/knowledge/search/question/question.ts'
import type { Engine } from '../../src/platform/storage/engine.ts'
import { eachDatabase } from '../support/each-database.ts'
import { answers } from './knowledge-search-model.ts'
import { SearchedNotes } from './knowledge-search-notes.ts'

const WORDS = [
  'apple',
  'apples',
  'app',
  'banana',
  'bananas',
  'running',
  'run',
  'runner',
  'connection',
  'connected',
  'café',
  '東京',
  '京都',
  'x1',
  'wi-fi',
]
const SEED = 7

const sentence = fc.array(fc.constantFrom(...WORDS), { maxLength: 8 }).map((words) => words.join(' '))
const draft = fc.record({
  title: fc.constantFrom(...WORDS),
  body: sentence,
  tag: fc.constantFrom('red', 'apple', 'blue'),
})
const DRAFTS = fc.sample(draft, { numRuns: 40, seed: SEED }).map(({ title, body, tag }, index) => ({
  id: index + 1,
  title,
  body,
  metadata: { tags: [tag] },
}))

const operand = fc.oneof(
  fc.constantFrom(...WORDS, 'ap', 'connecting', 'r', 'b', '京', 'zebra'),
  fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...WORDS)).map(([one, other]) => `"${one} ${other}"`),
)
const question = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    operand,
    fc
      .tuple(tie('any'), fc.constantFrom(' ', ' AND ', ' OR ', ' NOT '), tie('any'))
      .map(([one, operator, other]) => `(${one})${operator}(${other})`),
    tie('any').map((other) => `NOT (${other})`),
  ),
})).any

const QUESTIONS = fc.sample(question, { numRuns: 150, seed: SEED })
const found = new Map<Engine, string[]>()

eachDatabase('any question', ({ engine, open }) => {
  let notes: SearchedNotes
  before(async () => {
    notes = await SearchedNotes.open(await open())
    await notes.add(DRAFTS)
  })
  after(() => notes.db.close())

  const idsOf = (rows: readonly FoundRow[]) => rows.map(({ noteId }) => noteId)
  const setOf = async (text: string) => new Set(await notes.notes(text))

  test('finds exactly the notes that answer it', async () => {
    const orders: string[] = []
    for (const text of QUESTIONS) {
      const { tree } = parseQuestion(text)
      const { rows, total, isExact } = await notes.text(text, { kinds: ['note'] })
      const expected = DRAFTS.filter(({ id, title, body, metadata }) => {
        const texts = [title, metadata.tags.join(' '), body, `place/${id}`]
        return tree !== null && answers(tree, texts)
      })
      assert.deepEqual(
        idsOf(rows).sort((a, b) => a - b),
        expected.map(({ id }) => id),
        text,
      )
      assert.deepEqual([total, isExact], [expected.length, true], text)
      orders.push(`${text}: ${rows.map(({ noteId, score }) => `${noteId} ${score}`).join(', ')}`)
    }
    found.set(engine, orders)
  })

  test('keeps the rules of logic', async () => {
    const everything = new Set(DRAFTS.map(({ id }) => id))
    const pairs = fc.sample(fc.tuple(operand, operand), { numRuns: 40, seed: SEED })
    for (const [a, b] of pairs) {
      const [has, hasOther] = [await setOf(a), await setOf(b)]
      assert.deepEqual(
        await setOf(`${a} AND ${b}`).then((ids) => sorted(ids)),
        sorted(has, (id) => hasOther.has(id)),
      )
      assert.deepEqual(await setOf(`${a} OR ${b}`).then((ids) => sorted(ids)), sorted(new Set([...has, ...hasOther])))
      assert.deepEqual(
        await setOf(`${a} NOT ${b}`).then((ids) => sorted(ids)),
        sorted(has, (id) => !hasOther.has(id)),
      )
      assert.deepEqual(
        await setOf(`NOT ${a}`).then((ids) => sorted(ids)),
        sorted(everything, (id) => !has.has(id)),
      )
      assert.deepEqual(
        await setOf(`NOT (${a} OR ${b})`).then((ids) => sorted(ids)),
        await setOf(`NOT ${a} AND NOT ${b}`).then((ids) => sorted(ids)),
      )
    }
  })

  test('may be any text at all', async () => {
    const pieces = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(
        '"',
        '(',
        ')',
        ' AND ',
        ' OR ',
        ' NOT ',
        'tag:',
        '*',
        "'",
        '\\',
        ':',
        '\0',
        '\ud800',
        'apple',
        '東京',
        '-',
        '^',
        '{',
        '+',
      ),
    )
    const texts = fc.array(pieces, { maxLength: 12 }).map((all) => all.join(''))
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const { rows, total } = await notes.text(text)
        assert.ok(total >= rows.length)
        await notes.find({ mode: 'title', text: text.replaceAll('\0', '') })
      }),
      { numRuns: 150, seed: SEED },
    )
    for (const text of [
      '('.repeat(10_000),
      ')'.repeat(10_000),
      '"'.repeat(9_999),
      'NOT '.repeat(5_000),
      'a OR '.repeat(4_000),
      `${'('.repeat(5_000)}apple${')'.repeat(5_000)}`,
      'word '.repeat(2_000),
      Array.from({ length: 300 }, (_, n) => `w${n}x`).join(' OR '),
      'x'.repeat(10_000),
      '東'.repeat(3_000),
    ]) {
      await notes.text(text)
    }
  })
})

function sorted(ids: ReadonlySet<number>, isWanted = (_id: number) => true): Set<number> {
  return new Set([...ids].filter(isWanted).sort((a, b) => a - b))
}

describe('both engines', () => {
  test('answer with the same rows in the same order, with the same scores', (t) => {
    if (found.size < 2) return t.skip('there is only one engine here')
    assert.deepEqual(found.get('postgres'), found.get('sqlite'))
  })
})
