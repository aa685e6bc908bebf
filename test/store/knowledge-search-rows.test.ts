import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import type { Note, Project } from '../../src/knowledge/note/note.ts'
import { deleteNote, updateContent } from '../../src/knowledge/note/store-notes.ts'
import { matchingInOrder } from '../../src/knowledge/search/index/store-search-index.ts'
import {
  dropSearchRows,
  findByNameWords,
  replaceSearchRows,
} from '../../src/knowledge/search/index/store-search-rows.ts'
import { rowOf } from '../../src/knowledge/search/row-number.ts'
import { columnText, indexWords } from '../../src/knowledge/search/words/search-text.ts'
import { parseBody } from '../../src/knowledge/text/body/parse-body.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { addProject, insertPlainNote, plainNote } from '../support/plain-notes.ts'
import { runningIndex } from '../support/running-index.ts'

describe('the tokenizer of SQLite', () => {
  const db = new DatabaseSync(':memory:')
  db.exec(`create virtual table texts using fts5 (text, tokenize = 'unicode61 remove_diacritics 2')`)
  db.exec(`create virtual table words using fts5vocab (texts, 'instance')`)
  const insert = db.prepare('insert into texts (rowid, text) values (?, ?)')
  const select = db.prepare('select doc, term from words order by doc, offset')

  function tokensOf(texts: readonly string[]): string[][] {
    db.exec('begin; delete from texts')
    for (const [index, text] of texts.entries()) insert.run(index + 1, text)
    const tokens: string[][] = texts.map(() => [])
    for (const { doc, term } of select.all() as { doc: number; term: string }[]) tokens[doc - 1]?.push(term)
    db.exec('commit')
    return tokens
  }

  test('agrees with ours on every character, whether it gets the text or our words', () => {
    const texts: string[] = []
    for (let code = 1; code < 0x30_000; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      texts.push(`a${String.fromCodePoint(code)}b`)
    }
    const tokens = tokensOf(texts.map(columnText))
    const differences = texts.filter((text, index) => tokens[index]?.join(' ') !== indexWords(text).join(' '))
    assert.deepEqual(differences, [])
  })

  test('agrees with ours on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const clean = text.replaceAll('\0', '')
        assert.deepEqual(tokensOf([columnText(clean)])[0], indexWords(clean))
      }),
      { numRuns: 100 },
    )
  })
})

eachDatabase('the index of words', (context) => {
  interface Draft {
    id: number
    body?: string
    tags?: string[]
    title?: string
    permalink?: string
    file_path?: string
    type_key?: string
  }

  async function write(db: Database, project: Project, draft: Draft, isNew = true): Promise<Note> {
    const { body = '', tags = [], ...columns } = draft
    const index = await runningIndex(db)
    const { content, ...note } = plainNote(project, draft.id, {
      ...columns,
      content: body,
      metadata: JSON.stringify({ tags }),
    })
    await db.write(async (tx) => {
      if (isNew) await insertPlainNote(tx, { ...note, content })
      else await updateContent(tx, note.id, content)
      await replaceSearchRows(tx, note, { body, parsed: parseBody(body), metadata: { tags } }, isNew)
    })
    await index.caughtUp()
    return note
  }

  /** The rows that have the word, whatever it stands in. */
  async function rowsWith(db: Database, word: string): Promise<ReturnType<typeof rowOf>[]> {
    const { rows } = await (db.engine === 'sqlite'
      ? sql<{ id: number }>`select rowid as id from note_search where note_search match ${`"${word}"`} order by rowid`
      : matchingInOrder(`'${word}'`, 1_000, { isOldest: true })
    ).execute(db.query)
    return rows.map(({ id }) => rowOf(id))
  }

  const note = (noteId: number) => ({ kind: 'note', noteId, position: 0 })
  const observation = (noteId: number, position: number) => ({ kind: 'observation', noteId, position })
  const relation = (noteId: number, position: number) => ({ kind: 'relation', noteId, position })

  test('a note, its different observations and its relations are rows of their own', async () => {
    const db = await context.open()
    const project = await addProject(db, 'seven')
    const body =
      '# Heading\n\n- [fact] boils at ninety #hot (degrees)\n- [fact] boils at ninety #hot\n- pairs_with [[Über Milch]] (foamed)\n'
    await write(db, project, { id: 3, title: 'Coffee', body, tags: ['brewing'], file_path: 'drinks/Coffee.md' })
    assert.deepEqual(await rowsWith(db, 'coffee'), [note(3)])
    assert.deepEqual(await rowsWith(db, 'brewing'), [note(3)])
    assert.deepEqual(await rowsWith(db, 'drinks'), [note(3)])
    assert.deepEqual(await rowsWith(db, 'degrees'), [note(3), observation(3, 0)])
    assert.deepEqual(await rowsWith(db, 'milch'), [note(3), relation(3, 0)])
    assert.deepEqual(await rowsWith(db, 'uber'), [note(3), relation(3, 0)])
    assert.deepEqual(await rowsWith(db, 'md'), [])
  })

  test('a change leaves exactly the rows of the new text', async () => {
    const db = await context.open()
    const project = await addProject(db, 'seven')
    const first = { id: 1, body: '- [a] alpha\n- [b] beta\n- see [[Gamma]]\n' }
    const second = { id: 1, body: '- [a] alpha\n- [c] delta\n' }
    await write(db, project, first)
    await write(db, project, second, false)
    assert.deepEqual(await rowsWith(db, 'alpha'), [note(1), observation(1, 0)])
    assert.deepEqual(await rowsWith(db, 'delta'), [note(1), observation(1, 1)])
    assert.deepEqual([...(await rowsWith(db, 'beta')), ...(await rowsWith(db, 'gamma'))], [])
  })

  test('a deleted note leaves no row behind, and its neighbours keep theirs', async () => {
    const db = await context.open()
    const project = await addProject(db, 'seven')
    for (const id of [1, 2, 3]) await write(db, project, { id, body: '- [fact] shared\n' })
    await db.write(async (tx) => {
      await dropSearchRows(tx, 2)
      await deleteNote(tx, 2)
    })
    await (await runningIndex(db)).caughtUp()
    assert.deepEqual(await rowsWith(db, 'shared'), [note(1), observation(1, 0), note(3), observation(3, 0)])
  })

  test('names are found by the beginnings of all their words, in this project only, the shortest first', async () => {
    const db = await context.open()
    const seven = await addProject(db, 'seven')
    const eight = await addProject(db, 'eight')
    await write(db, seven, { id: 1, title: 'Coffee brewing methods', body: 'tea', permalink: 'a', file_path: 'a.md' })
    await write(db, seven, { id: 2, title: 'Coffee brewing', permalink: 'b', file_path: 'deep/b.md' })
    await write(db, eight, { id: 3, title: 'Coffee brewing', permalink: 'c', file_path: 'c.md' })
    await write(db, seven, { id: 4, title: '東京 旅行', permalink: 'd', file_path: 'd.md' })
    const found = async (text: string) => (await findByNameWords(db, seven, text)).map(({ id }) => id)
    assert.deepEqual(await found('brew COFF'), [2, 1])
    assert.deepEqual(await found('deep coffee'), [2])
    assert.deepEqual(await found('coffee tea'), [])
    assert.deepEqual(await found('京'), [4])
    assert.deepEqual(await found(`p${seven.id}`), [])
    assert.deepEqual(await found('kn'), [])
  })

  test('any text may be asked for', async () => {
    const db = await context.open()
    const project = await addProject(db, 'seven')
    await write(db, project, { id: 1, title: `O'Neil "AND" (NOT) NEAR* ^col:x`, body: '' })
    const texts = [
      `'`,
      '"',
      '*',
      '"a" OR',
      'a AND NOT',
      '{title} : x',
      'a:*',
      '\\',
      "b' & !c | d <-> e",
      'x'.repeat(500),
      '&|!()',
    ]
    for (const text of texts) await findByNameWords(db, project, text)
    assert.equal((await findByNameWords(db, project, `and "o'neil" NEAR*`)).length, 1)
    const many = Array.from({ length: 200 }, (_, index) => `w${index}`).join(' ')
    assert.deepEqual(await findByNameWords(db, project, many), [])
  })

  test('a text of any size and kind can be written', async () => {
    const db = await context.open()
    const project = await addProject(db, 'seven')
    let unique = ''
    let count = 0
    for (; unique.length < 1_990_000; count++) unique += `wordnumber${count} `
    await write(db, project, { id: 1, body: unique })
    await write(db, project, { id: 2, body: 'same '.repeat(300_000) })
    await write(db, project, { id: 3, body: '東京都'.repeat(100_000) })
    await write(db, project, { id: 4, body: `${'x'.repeat(1_000_000)} ${'\\\'":,'.repeat(1000)}` })
    assert.deepEqual(await rowsWith(db, 'wordnumber7'), [note(1)])
    assert.deepEqual(await rowsWith(db, `wordnumber${count - 1}`), [note(1)])
    assert.deepEqual(await rowsWith(db, 'same'), [note(2)])
  })
})
