import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Main } from '../../src/knowledge/search/filter/filters.ts'
import { findByWords } from '../../src/knowledge/search/find-by-words.ts'
import { beginningsOf } from '../../src/knowledge/search/index/store-search-index.ts'
import { parseQuestion, relaxed } from '../../src/knowledge/search/question/question.ts'
import { eachDatabase } from '../support/each-database.ts'
import { type Draft, SearchedNotes } from './knowledge-search-notes.ts'

const DRAFTS: readonly Draft[] = [
  {
    id: 1,
    title: 'Coffee',
    body: '# Brewing\n\nPour over needs patience and a filter.\n\n- [method] Grind it finely #grinder\n',
  },
  { id: 2, title: 'Tea', body: 'Less caffeine than coffee.\n\n- goes_with [[Milk]]\n- goes_with [[Milk]]\n' },
  { id: 3, title: 'Café in Łódź', body: 'Open until nine. The coffee was fine, the cakes were not.' },
  { id: 4, title: 'Running shoes', body: 'She runs every morning; the connections of the train are bad.' },
  { id: 5, title: 'Trains', body: 'A connection is missed when the first train is late. wi-fi on board, v2.0 soon.' },
  { id: 6, title: '東京の天気', body: '東京都は晴れ。大阪は雨。' },
  {
    id: 7,
    title: 'Filters',
    body: 'Filter, filter, filter: the word filter is all there is.',
    metadata: { tags: ['filter'] },
  },
  { id: 8, title: 'Milk', body: "Don't boil it. O'Neil's own: \"half and half\"." },
]

eachDatabase('searching by words', (context) => {
  let notes: SearchedNotes
  before(async () => {
    notes = await SearchedNotes.open(await context.open())
    await notes.add(DRAFTS)
    const others = await SearchedNotes.open(notes.db, 'other')
    await others.add([{ id: 100, title: 'Coffee elsewhere', body: 'coffee tea 東京 train' }])
  })

  const QUERIES: [question: string, notes: number[]][] = [
    ['coffee', [1, 2, 3]],
    ['COFFEE', [1, 2, 3]],
    ['coff', [1, 3, 2]],
    ['coffee fine', [3, 1]],
    ['coffee cakes', [3]],
    ['coffee AND tea', [2]],
    ['coffee NOT tea', [1, 3]],
    ['NOT (coffee OR train)', [8, 7, 6]],
    ['tea OR milk', [2, 8]],
    ['(tea OR cafe) coffee', [2, 3]],
    ['cafe', [3]],
    ['lodz', [3]],
    ['connect', [4, 5]],
    ['connecting', [4, 5]],
    ['run', [4]],
    ['runs', [4]],
    ['filter', [7, 1]],
    ['wi-fi', [5]],
    ['v2.0', [5]],
    ['"pour over"', [1]],
    ['"over pour"', []],
    ['"first train"', [5]],
    ['"conn"', []],
    ['東京', [6]],
    ['東京都', [6]],
    ['京', [6]],
    ['京都', [6]],
    ['大阪 東京', [6]],
    ['東阪', []],
    ["don't boil", [8]],
    ["O'Neil", [8]],
    ["Milk's", [8, 2]],
    ['coffee?', [1, 2, 3]],
    ['(coffee', [1, 2, 3]],
    ['place', [2, 8, 7, 4, 3, 6, 1, 5]],
    ['elsewhere', []],
    ['md', []],
    ['???', []],
  ]
  for (const [question, expected] of QUERIES) {
    test(`${question} finds notes ${expected.join(', ') || 'none'}`, async () => {
      assert.deepEqual(await notes.notes(question), expected)
    })
  }

  test('a note, its observations and its relations are hits of their own; a relation that repeats another is none', async () => {
    const kinds = async (text: string) =>
      (await notes.text(text)).rows.map(({ noteId, kind, position }) => [noteId, kind, position])
    assert.deepEqual(await kinds('grind'), [
      [1, 'note', 0],
      [1, 'observation', 0],
    ])
    const milk = await kinds('goes milk')
    assert.deepEqual(milk.toSorted(), [
      [2, 'note', 0],
      [2, 'relation', 0],
    ])
  })

  test('a phrase stands in one heading, not in the end of one and the beginning of the next', async () => {
    const manuals = await SearchedNotes.open(notes.db, 'manuals')
    const manual = '# Quick overview\n\nWhat it is.\n\n# Installation guide\n\nHow to get it.\n'
    // The second is too long for the places of all its words.
    const long = `${manual}${'so it goes '.repeat(300)}`
    await manuals.add([manual, long].map((body, index) => ({ id: 200 + index, title: `Manual ${index}`, body })))
    const found = async (text: string) => (await manuals.notes(text)).toSorted()
    assert.deepEqual(await found('"overview installation"'), [])
    assert.deepEqual(await found('overview-installation'), [])
    assert.deepEqual(await found('manual NOT "overview installation"'), [200, 201])
    assert.deepEqual(await found('"quick overview" installation-guid'), [200, 201])
    assert.deepEqual(await found('"overview" "installation guide"'), [200, 201])
  })

  test('a phrase does not begin in the path and end in the permalink', async () => {
    const other = await SearchedNotes.open(notes.db, 'branches')
    const bodies = ['Nothing.', 'so it goes '.repeat(300), 'Ähnlich.']
    await other.add(bodies.map((body, index) => ({ id: 210 + index, body, permalink: `main/über/git-${index}` })))
    assert.deepEqual(await other.notes('"211 main"'), [])
    assert.deepEqual(await other.notes('"210 main" OR 212/main'), [])
    assert.deepEqual((await other.notes('"main uber git"')).toSorted(), [210, 211, 212])
    assert.deepEqual(await other.notes('place/211 main/uber'), [211])
  })

  test('kinds narrow a search', async () => {
    const { rows, total } = await notes.text('milk', { kinds: ['relation'] })
    assert.deepEqual([rows.map(({ noteId, kind }) => [noteId, kind]), total], [[[2, 'relation']], 1])
  })

  test('a question that nothing answers as a whole is answered in part, the best first', async () => {
    const question = parseQuestion('what is the patience for grinding coffee in berlin')
    assert.deepEqual(await notes.notes('what is the patience for grinding coffee in berlin'), [])
    const again = relaxed(question)
    assert.ok(again !== null)
    const { rows } = await notes.find({ mode: 'text', question: again }, { kinds: ['note'] })
    assert.deepEqual(
      rows.map(({ noteId }) => noteId),
      [1, 2, 3],
    )
  })

  test('pages are parts of one order, and every hit has a score', async () => {
    const whole = await notes.text('the OR coffee')
    assert.ok(whole.total > 4 && whole.isExact && whole.rows.every(({ score }) => score >= 0))
    const pages = []
    for (let offset = 0; offset < whole.total; offset += 2) {
      const { rows, total } = await notes.text('the OR coffee', {}, { limit: 2, offset })
      assert.equal(total, whole.total)
      pages.push(...rows)
    }
    assert.deepEqual(pages, whole.rows)
  })

  test('titles are searched by themselves, the nearest first', async () => {
    const titled = async (text: string) => (await notes.find({ mode: 'title', text })).rows.map(({ noteId }) => noteId)
    assert.deepEqual(await titled('coffee'), [1])
    assert.deepEqual(await titled('train'), [5])
    assert.deepEqual(await titled('t'), [5, 2])
    assert.deepEqual(await titled('running'), [4])
    assert.deepEqual(await titled('天気'), [6])
    assert.deepEqual(await titled('NOT t'), [8, 7, 6, 4, 3, 1])
    assert.deepEqual(await titled('place'), [])
  })

  test('permalinks are found exactly, with the project or without', async () => {
    const at = async (text: string) => (await notes.find({ mode: 'permalink', text })).rows.map(({ noteId }) => noteId)
    assert.deepEqual(await at('place/3'), [3])
    assert.deepEqual(await at('place'), [])
    assert.deepEqual(await at('place/100'), [])
    assert.deepEqual(await at('place/*'), [])
  })
})

eachDatabase('a question as people speak it', (context) => {
  test('puts what has its words first, in scripts with signs for vowels, too, and of emoji', async () => {
    const notes = await SearchedNotes.open(await context.open())
    await notes.add([
      { id: 1, title: 'खाना', body: 'दाल मखनी' },
      { id: 2, title: 'द ल', body: 'मखनी द ल' },
      { id: 3, title: 'Fun', body: 'A 😀 for the party' },
      { id: 4, title: '128512', body: 'A party of 128512 people' },
    ])
    const found = async (text: string) => {
      const main: Main = { mode: 'text', question: parseQuestion(text) }
      const page = { limit: 10, offset: 0 }
      const { hits } = await findByWords(notes.db, notes.project, { main, filters: { kinds: ['note'] }, page })
      return hits.map(({ noteId }) => noteId)
    }
    assert.deepEqual(await found('what is दाल मखनी'), [1, 2])
    assert.deepEqual(await found('where is the 😀 party'), [3, 4])
  })
})

eachDatabase('searching by the first letters of a word', (context) => {
  test('finds every word that begins so, however many others do, in this project and in others', async () => {
    const notes = await SearchedNotes.open(await context.open())
    await notes.add([
      { id: 1, title: 'One', body: 'The zuczynski of the engine was cleaned.' },
      { id: 2, title: 'Two', body: 'Zulu time, and nothing else.' },
    ])
    const others = await SearchedNotes.open(notes.db, 'other')
    const words = Array.from({ length: 40 }, (_, at) => `zuc${String.fromCharCode(97 + (at % 20))}ol${at}`)
    await others.add([{ id: 100, body: words.join(' ') }])
    for (const [asked, ids] of [
      ['z', [2, 1]],
      ['zu', [2, 1]],
      ['zuc', [1]],
      ['zuc engine', [1]],
      ['zucz', [1]],
    ] as const) {
      const { rows, total, isExact } = await notes.text(asked)
      const found = rows.map(({ noteId }) => noteId).toSorted((one, other) => other - one)
      assert.deepEqual([found, total, isExact], [ids, ids.length, true], asked)
    }
  })

  test('takes short words behind the first ones for whole ones, also where they are refused', async () => {
    const notes = await SearchedNotes.open(await context.open())
    const bodies = ['water', 'water zulu', 'water z', 'water bee']
    await notes.add(bodies.map((body, at) => ({ id: at + 1, body })))
    const few = ['b', 'd', 'f', 'g', 'h', 'j', 'k', 'l']
    const found = async (text: string) => (await notes.notes(text)).sort()
    assert.deepEqual(await found(`water NOT ${few.slice(1).join(' NOT ')} NOT z`), [1, 4])
    assert.deepEqual(await found(`water NOT ${few.join(' NOT ')} NOT z`), [1, 2])
    assert.deepEqual(await found([...few, 'z'].join(' OR ')), [3, 4])
  })

  test('looks for no more longer words among many thousand notes where more short ones are asked for', async () => {
    const notes = await SearchedNotes.open(await context.open())
    if (notes.db.engine !== 'sqlite') return
    const letters = ['a', 'b', 'c', 'd']
    const words = letters.flatMap((letter) => Array.from({ length: 50 }, (_, at) => `${letter}${at}`))
    await notes.add([{ id: 1, body: words.join(' ') }])
    const listed = async (asked: readonly string[]) => {
      const found = await beginningsOf(notes.db, asked, 1_000_000)
      return asked.map((word) => found.get(word)?.words.length)
    }
    assert.deepEqual(await listed(['a']), [50])
    assert.deepEqual(await listed(letters), [32, 32, 32, 32])
  })

  test('finds longer words behind one that a hundred notes have', async () => {
    const notes = await SearchedNotes.open(await context.open())
    const endings = 'abcdefghijklmnopqrstuvwxyz'
    await notes.add(Array.from({ length: 120 }, (_, at) => ({ id: at + 1, body: 'plan' })))
    await notes.add(Array.from({ length: 26 }, (_, at) => ({ id: at + 201, body: `plan${endings[at]}o` })))
    const { total, isExact } = await notes.text('plan', {}, { limit: 10, offset: 0 })
    assert.deepEqual([total, isExact], [146, true])
  })
})
