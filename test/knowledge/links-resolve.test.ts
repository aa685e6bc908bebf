import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveAsks } from '../../src/knowledge/link/resolve-exactly.ts'
import { type Question, resolveIdentifier, resolveLink } from '../../src/knowledge/link/resolve-identifier.ts'
import { eachDatabase } from '../support/each-database.ts'
import { LinkedNotes } from './links-fixture.ts'

function question(identifier: string, more: Partial<Question> = {}): Question {
  return { identifier, sourcePath: null, isStrict: false, ...more }
}

async function found(notes: LinkedNotes, identifier: string, more: Partial<Question> = {}): Promise<string> {
  const { note, method } = await resolveIdentifier(
    notes.db,
    notes.searchIndex,
    notes.project,
    question(identifier, more),
  )
  return `${note.file_path} by ${method}`
}

eachDatabase('resolve', ({ open }) => {
  test('others have their turn while many links are compared with all the notes of their name', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.db.write(async (tx) => {
      for (let at = 0; at < 100; at++) await notes.addIn(tx, { path: `f${at}/README.md` })
    })
    const asks = Array.from({ length: 300 }, (_, n) => ({
      target: 'README',
      name: `README#${n}`,
      sourcePath: 'f7/a.md',
    }))
    let breaths = 0
    const choices = await resolveAsks(notes.db, notes.project, asks, { breathe: async () => breaths++ })
    assert.ok(
      choices.every((choice) => choice !== null && 'note' in choice && choice.note.file_path === 'f7/README.md'),
    )
    assert.ok(breaths >= 4)
  })

  test('the method says which name of the note was sent', async () => {
    const notes = await LinkedNotes.open(await open())
    const id = '0190a000-0000-7000-8000-000000000001'
    await notes.add({ path: 'food/Coffee Brewing.md', aliases: ['Espresso'], id })
    const path = 'food/Coffee Brewing.md'
    assert.equal(await found(notes, id), `${path} by external_id`)
    assert.equal(await found(notes, id.toUpperCase().replaceAll('-', '')), `${path} by external_id`)
    assert.equal(await found(notes, 'main/food/coffee-brewing'), `${path} by permalink`)
    assert.equal(await found(notes, 'Coffee Brewing'), `${path} by title`)
    assert.equal(await found(notes, path), `${path} by path`)
    const others = [
      'food/coffee-brewing',
      'food/Coffee Brewing',
      'ESPRESSO',
      '[[Coffee Brewing|it]]',
      ' Coffee Brewing ',
    ]
    for (const text of [
      ...others,
      'Coffee Brewing#Part',
      'memory://main/food/coffee-brewing',
      'main::Coffee Brewing',
    ]) {
      assert.equal(await found(notes, text), `${path} by search`, text)
    }
  })

  test('a title is found in every Unicode form, and so are the former one and its links', async () => {
    const notes = await LinkedNotes.open(await open())
    const isStrict = { isStrict: true }
    for (const [at, title] of ['Ångström Note', '한글 노트'].entries()) {
      const forms = [title.normalize('NFC'), title.normalize('NFD')] as const
      for (const [own, other] of [forms, forms.toReversed() as [string, string]]) {
        const path = `${at}/${own.length}.md`
        const log = await notes.add({ path: `log-${at}-${own.length}.md`, body: `[[${other}]]` })
        const note = await notes.add({ path, title: own })
        assert.equal(await found(notes, other, isStrict), `${path} by title`)
        assert.equal(await found(notes, own, isStrict), `${path} by title`)
        assert.ok((await notes.edges()).includes(`${log.file_path} -links_to-> ${path}`))
        const renamed = await notes.rename(note, { title: 'Else' })
        assert.equal(await found(notes, other, isStrict), `${path} by search`)
        await notes.remove(renamed)
      }
    }
  })

  test('words are searched only when not strict, and all of them must be in the name', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add({ path: 'food/Coffee Brewing.md' })
    assert.equal(await found(notes, 'brew coffee'), 'food/Coffee Brewing.md by search')
    for (const name of ['Coffee Brewing.md', 'coffee-brewing.MD']) {
      assert.equal(await found(notes, name), 'food/Coffee Brewing.md by search', name)
    }
    await assert.rejects(found(notes, '.md'), { code: 'not_found' })
    const missing = { code: 'not_found', message: "Entity not found for identifier 'brew coffee'" }
    await assert.rejects(found(notes, 'brew coffee', { isStrict: true }), missing)
    for (const text of [
      'coffee machine',
      'coff*',
      '*',
      '?',
      '|',
      '[[]]',
      '\0',
      '\ud800',
      ' ',
      '"',
      "'",
      ':*',
      'a & b',
    ]) {
      await assert.rejects(found(notes, text), { code: 'not_found' }, JSON.stringify(text))
    }
  })

  test('retired names are found in both modes, after names that are in use', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'Old.md' })
    await notes.rename(note, { title: 'New', file_path: 'New.md', permalink: 'main/new' })
    for (const text of ['Old', 'Old.md', 'main/old']) {
      assert.equal(await found(notes, text, { isStrict: true }), 'New.md by search', text)
    }
    await notes.add({ path: 'x/Old.md' })
    assert.equal(await found(notes, 'Old'), 'x/Old.md by title')
  })

  test('a path is that of the note which has it, not of one that was moved away and kept its permalink', async () => {
    const notes = await LinkedNotes.open(await open())
    const moved = await notes.add({ path: 'a/X.md' })
    await notes.rename(moved, { file_path: 'b/X.md' })
    await notes.add({ path: 'a/X.md', permalink: 'main/a/x-1' })
    for (const isStrict of [true, false]) {
      assert.equal(await found(notes, 'a/X.md', { isStrict }), 'a/X.md by path')
      assert.equal(await found(notes, 'a/X', { isStrict }), 'a/X.md by search')
      assert.equal(await found(notes, 'main/a/x', { isStrict }), 'b/X.md by permalink')
    }
    await notes.add({ path: 'log.md', body: '- r0 [[a/X.md]]\n- r1 [[a/X]]\n- r2 [[main/a/x]]' })
    assert.deepEqual(await notes.edges(), ['log.md -r0-> a/X.md', 'log.md -r1-> a/X.md', 'log.md -r2-> b/X.md'])
  })

  test('strict and a title of several notes is a conflict that lists them', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add({ path: 'a/T.md' })
    await notes.add({ path: 'b/T.md', permalink: null })
    assert.equal(await found(notes, 'T'), 'a/T.md by title')
    assert.equal(await found(notes, 'T', { sourcePath: 'b/log.md', isStrict: true }), 'b/T.md by title')
    await assert.rejects(found(notes, 'T', { isStrict: true }), {
      code: 'conflict',
      message:
        "'T' is the name of several notes: a/T.md (main/a/t), b/T.md (-); use an external id, a path or a permalink",
    })
  })

  test('the name of another project is sent on to the links, never guessed here', async () => {
    const db = await open()
    const notes = await LinkedNotes.open(db)
    const other = await LinkedNotes.open(db, 'other')
    await notes.add({ path: 'Note other.md' })
    await other.add({ path: 'deep/Note.md' })
    await assert.rejects(found(notes, 'other/Note'), {
      code: 'invalid_argument',
      message: "'other/Note' names a note of the project 'other': ask for it at /links/resolve",
    })
    const follow = async (identifier: string, more: Partial<Question> = {}) => {
      const { note, project } = await resolveLink(db, notes.searchIndex, notes.project, question(identifier, more))
      return `${project.name}: ${note.file_path}`
    }
    assert.equal(await follow('other::Note'), 'other: deep/Note.md')
    assert.equal(await follow('[[other/deep/note#Part|shown]]', { isStrict: true }), 'other: deep/Note.md')
    assert.equal(await follow('main::Note other'), 'main: Note other.md')
    await notes.add({ path: 'other/Note.md' })
    assert.equal(await follow('other/Note'), 'main: other/Note.md')
    assert.equal(await follow('other::Note'), 'other: deep/Note.md')
    assert.equal(await found(notes, 'other/Note'), 'other/Note.md by search')
    await assert.rejects(follow('other::Missing'), { code: 'not_found', message: /^Link target not found/ })
  })
})
