import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backlinksOf } from '../../src/knowledge/link/backlinks.ts'
import { findBacklinks } from '../../src/knowledge/link/store-backlinks.ts'
import { linksTo } from '../../src/knowledge/link/store-incoming.ts'
import { updateLinks } from '../../src/knowledge/link/update-links.ts'
import type { Note } from '../../src/knowledge/note/note.ts'
import { updateContent } from '../../src/knowledge/note/store-notes.ts'
import { eachDatabase } from '../support/each-database.ts'
import { turnsDuring } from '../support/turns-during.ts'
import { LinkedNotes } from './links-fixture.ts'
import { watchedReader } from './watched-reader.ts'

eachDatabase('backlinks', ({ open }) => {
  test('links to a note come with the text around them, page by page', async () => {
    const notes = await LinkedNotes.open(await open())
    const target = await notes.add({ path: 'Target.md', body: '[[Target]]' })
    const long = 'word '.repeat(100)
    await notes.add({ path: 'a.md', body: `${long}[[Target#Part|shown]] ${long}\n\n- uses [[Target]] (why)` })
    await notes.add({ path: 'b.md', body: '> see [[target]]\n> there' })
    await notes.add({ path: 'c.md', body: '[[ main::Target ]]' })
    const pages = []
    for (let page = 1; page <= 2; page++) {
      pages.push(await backlinksOf(notes.db, notes.project, target, { page, pageSize: 2 }))
    }
    assert.deepEqual(
      pages.map(({ hasMore }) => hasMore),
      [true, false],
    )
    const [first, second, third, fourth] = pages.flatMap(({ backlinks }) => backlinks)
    assert.match(first?.snippet ?? '', /^…(word ){20,30}\[\[Target#Part\|shown\]\](…| word)/)
    assert.deepEqual([first?.relationType, first?.anchor, first?.display], ['links_to', 'Part', 'shown'])
    assert.deepEqual([second?.relationType, second?.context, second?.note.file_path], ['uses', 'why', 'a.md'])
    assert.equal(third?.snippet, '> see [[target]] > there')
    assert.deepEqual([fourth?.note.file_path, fourth?.snippet], ['c.md', null])
  })

  test('long types, contexts and display texts are shown in part, with the text around the link', async () => {
    const notes = await LinkedNotes.open(await open())
    const target = await notes.add({ path: 'A.md' })
    const long = '😀'.repeat(3_000)
    await notes.add({ path: 'from.md', body: `- ${long} [[A|${long}]] (${long})` })
    const { backlinks } = await backlinksOf(notes.db, notes.project, target, { page: 1, pageSize: 10 })
    const shown = '😀'.repeat(2_000)
    const [first] = backlinks
    assert.deepEqual([first?.relationType, first?.context, first?.display], [shown, shown, shown])
    assert.match(first?.snippet ?? '', /^…\[\[A/)
  })

  test('the text around a link is not that around a link to a longer name', async () => {
    const notes = await LinkedNotes.open(await open())
    const target = await notes.add({ path: 'A.md' })
    const far = 'word '.repeat(1_000)
    await notes.add({ path: 'from a.md', body: '[[Apple]] is a fruit, [[A b]] is none.\n\nSee [[A]] there.' })
    await notes.add({ path: 'from b.md', body: `[[Apple]]\n\n${far}\n\nSee [[A|shown]] there.` })
    await notes.add({ path: 'from c.md', body: 'Not [[A#Part]].\n\n| see | [[A\\|shown]] |' })
    await notes.add({ path: 'from d.md', body: 'Not [[Apple]].\n\nSee [[A ]] there.' })
    const { backlinks } = await backlinksOf(notes.db, notes.project, target, { page: 1, pageSize: 10 })
    assert.deepEqual(
      backlinks.map(({ snippet, anchor }) => [snippet, anchor]),
      [
        ['See [[A]] there.', null],
        ['See [[A|shown]] there.', null],
        ['Not [[A#Part]].', 'Part'],
        ['See [[A ]] there.', null],
      ],
    )
  })

  test('a relation with a type has the text around its own link, not around one in prose before it', async () => {
    const notes = await LinkedNotes.open(await open())
    const target = await notes.add({ path: 'A.md' })
    const far = 'word '.repeat(1_000)
    const prose = 'Somebody requires [[A b]] of [[A]] here.'
    const list = '- requires [[A]] (why)\n\n- "grows near" [[A|shown]]\n\n* \'is like\' [[A#Part]]\n\n- needs\t[[A]]'
    await notes.add({ path: 'near.md', body: `${prose}\n\n${list}` })
    await notes.add({ path: 'far.md', body: `${prose}\n\n${far}\n\n${list}` })
    await notes.add({ path: 'long.md', body: `${prose}\n\n- ${'x'.repeat(3_000)} [[A]]` })
    // Compared as a whole with every place before it, this one would take a quarter of a minute.
    const type = 'x'.repeat(200_000)
    await notes.add({ path: 'longest.md', body: `${prose}\n\n${type}${type}\n\n- "${type}" [[A]]` })
    const { backlinks } = await backlinksOf(notes.db, notes.project, target, { page: 1, pageSize: 20 })
    const shown = [
      ['links_to', prose],
      ['requires', '- requires [[A]] (why)'],
      ['grows near', '- "grows near" [[A|shown]]'],
      ['is like', "* 'is like' [[A#Part]]"],
      ['needs', prose],
    ]
    assert.deepEqual(
      backlinks.slice(0, 10).map(({ relationType, snippet }) => [relationType, snippet]),
      [...shown, ...shown],
    )
    assert.match(backlinks[11]?.snippet ?? '', /^…\[\[A\]\]$/)
    assert.match(backlinks[13]?.snippet ?? '', /^…\[\[A\]\]$/)
  })

  test('a link in the frontmatter is not taken for the one in the text below it', async () => {
    const notes = await LinkedNotes.open(await open())
    const target = await notes.add({ path: 'A.md' })
    const add = async (path: string, end: string) => {
      const body = `Below ${path}: [[A]].`
      const note = await notes.add({ path, body })
      const head = ['---', `title: ${path}`, 'up: "[[A]]"', 'text: |', '  ---', '  [[A]]', `---${end}`]
      await notes.db.write((tx) => updateContent(tx, note.id, `${head.join('\n')}${body}\n\n---\n\n[[A]] again`))
    }
    await add('one.md', '\n\n')
    await add('two.md', '  \r\n')
    const { backlinks } = await backlinksOf(notes.db, notes.project, target, { page: 1, pageSize: 10 })
    assert.deepEqual(
      backlinks.map(({ snippet }) => snippet),
      ['Below one.md: [[A]].', 'Below two.md: [[A]].'],
    )
  })

  test('pages of any size show each of many links once, and others have their turn meanwhile', async () => {
    const notes = await LinkedNotes.open(await open())
    const target = await notes.add({ path: 'Target.md' })
    for (let n = 0; n < 7; n++) await notes.add({ path: `from${n}.md`, body: '[[Target]]\n- needs [[Target]]' })
    const all = Array.from({ length: 7 }, (_, n) => [`from${n}.md links_to`, `from${n}.md needs`]).flat()
    for (const pageSize of [1, 3, 4, 5, 8, 13, 14, 100]) {
      const seen: string[] = []
      for (let page = 1, hasMore = true; hasMore; page++) {
        const found = await backlinksOf(notes.db, notes.project, target, { page, pageSize })
        seen.push(...found.backlinks.map(({ note, relationType }) => `${note.file_path} ${relationType}`))
        hasMore = found.hasMore
      }
      assert.deepEqual(seen, all)
    }
    const turns = await turnsDuring(findBacklinks(notes.db, target.id, 100, 0))
    assert.ok(turns >= (notes.db.engine === 'sqlite' ? 3 : 1))
  })

  test('notes that name the title without a link are mentions', async () => {
    const db = await open()
    const notes = await LinkedNotes.open(db)
    const target = await notes.add({ path: 'Cold Brew.md', body: 'Cold Brew is cold' })
    await notes.add({ path: 'linked.md', body: 'Cold brew: [[Cold Brew]]' })
    await notes.add({ path: 'mention.md', body: 'I like cold\nBREW, really.' })
    await notes.add({ path: 'apart.md', body: 'brew it cold' })
    await notes.add({ path: 'cold brew/path.md', body: 'nothing' })
    await notes.add({ path: 'part.md', body: 'cold brews' })
    await (await LinkedNotes.open(db, 'other')).add({ path: 'x.md', body: 'cold brew' })
    await notes.searchIndex.caughtUp()
    const { mentions } = await backlinksOf(db, notes.project, target, { page: 1, pageSize: 10 })
    assert.deepEqual(
      mentions.map(({ note, snippet }) => [note.file_path, snippet]),
      [['mention.md', 'I like cold BREW, really.']],
    )
    const later = await backlinksOf(db, notes.project, target, { page: 2, pageSize: 10 })
    assert.deepEqual(later.mentions, [])
  })

  test('notes that have the title in their path, or its words without its signs or in another order, hide no mention', async () => {
    const notes = await LinkedNotes.open(await open())
    const mentioned: [title: string, text: string][] = [
      ['Кофе', 'Люблю КОФЕ'],
      ['Été', 'un été'],
      ['Cold Brew', 'cold BREW'],
      ['C++', 'no c++'],
      ['東京 Tower', '東京\u3000TOWER'],
    ]
    const targets = []
    for (const [title] of mentioned) targets.push(await notes.add({ path: `${title}.md`, title, body: 'nothing' }))
    const folder = mentioned.map(([title]) => title).join('/')
    for (let left = 41; left > 0; left--) {
      await notes.add({ path: `${folder}/${left}.md`, body: 'vitamin C, a tower in 東京' })
    }
    await notes.add({ path: 'diary.md', body: mentioned.map(([, text]) => text).join(', ') })
    await notes.searchIndex.caughtUp()
    for (const target of targets) {
      const { mentions } = await backlinksOf(notes.db, notes.project, target, { page: 1, pageSize: 10 })
      assert.deepEqual(
        mentions.map(({ note }) => note.file_path),
        ['diary.md'],
        target.title,
      )
    }
  })

  test('a title is mentioned in upper and lower case, whatever its letters are', async () => {
    const notes = await LinkedNotes.open(await open())
    const titles = ['café-éclair', 'istanbul', 'Όσος', 'Straße', 'ǆ-x']
    const targets = await Promise.all(
      titles.map((title, at) => notes.add({ path: `${at}.md`, title, body: 'nothing' })),
    )
    await notes.add({ path: 'diary.md', body: 'Café-Éclair, İstanbul, ΌΣΟΣ, STRAẞE, ǅ-X' })
    await notes.searchIndex.caughtUp()
    for (const target of targets) {
      const { mentions } = await backlinksOf(notes.db, notes.project, target, { page: 1, pageSize: 10 })
      assert.equal(mentions.length, 1, target.title)
    }
  })

  test('a title is mentioned in whatever Unicode form it and the text are typed, and not by other accents', async () => {
    const notes = await LinkedNotes.open(await open())
    const titles = ['Café Noir', '한국어 문서', 'Ångström', 'Người Việt', 'Один ёж', '≠ sign']
    const all = `See ${titles.join(', ')}.`
    const decomposed = all.normalize('NFD')
    // Keyboards of Vietnamese on Windows compose only a part.
    const partly = decomposed.replaceAll('o\u031b', 'ơ').replaceAll('e\u0323\u0302', 'ê\u0323')
    const swapped = decomposed.replaceAll('\u031b\u0300', '\u0300\u031b').replaceAll('\u0323\u0302', '\u0302\u0323')
    const written = { all, decomposed, partly, swapped, upper: all.toUpperCase().normalize('NFD') }
    assert.equal(new Set(Object.values(written)).size, 5)
    for (let left = 45; left > 0; left--) {
      await notes.add({ path: `o${left}.md`, body: 'cafe noir, angstrom, Один еж, nguoi viet, = sign' })
    }
    for (const [name, body] of Object.entries(written)) await notes.add({ path: `${name}.md`, body })
    for (const [at, title] of titles.entries()) {
      for (const form of ['NFC', 'NFD'] as const) {
        const target = await notes.add({ path: `${form}/${at}.md`, title: title.normalize(form), body: 'nothing' })
        await notes.searchIndex.caughtUp()
        const { mentions } = await backlinksOf(notes.db, notes.project, target, { page: 1, pageSize: 10 })
        const found = mentions.map(({ note }) => note.file_path)
        assert.deepEqual(
          found,
          Object.keys(written).map((name) => `${name}.md`),
          `${title} ${form}`,
        )
        assert.ok(mentions[0]?.snippet.normalize().includes(title), title)
      }
    }
  })

  test('SQLite is asked for each word of a title once, and everybody has a turn behind each long text', async () => {
    const notes = await LinkedNotes.open(await open())
    const title = 'The lord of the rings of the lord'
    const target = await notes.add({ path: 'target.md', title, body: 'nothing' })
    const few = await notes.add({ path: 'few.md', title: 'la la la', body: 'nothing' })
    for (let n = 0; n < 3; n++) await notes.add({ path: `${n}.md`, body: `${title} ${'la '.repeat(70_000)}` })
    await notes.searchIndex.caughtUp()
    for (const [note, question] of [
      [target, '"lord of the rings"'],
      [few, '"la"'],
    ] as const) {
      const { reader, statements } = watchedReader(notes.db)
      const reading = backlinksOf(reader, notes.project, note, { page: 1, pageSize: 10 })
      const turns = await turnsDuring(reading)
      assert.equal((await reading).mentions.length, 3)
      if (reader.engine !== 'sqlite') continue
      assert.ok(turns >= 3)
      assert.ok(statements.some(({ parameters }) => String(parameters).includes(`body : ${question} AND`)))
    }
  })

  test('a title of any characters is searched for', async () => {
    const notes = await LinkedNotes.open(await open())
    for (const [at, title] of [
      'C++ "x" AND',
      "it's (a) 'test' & more",
      '测试 文档',
      '😀 😀',
      'a:b*',
      'Ünï çødé',
    ].entries()) {
      const target = await notes.add({ path: `target${at}.md`, title })
      await notes.add({ path: `by-${target.id}.md`, body: `about ${title} here` })
      await notes.searchIndex.caughtUp()
      const { mentions } = await backlinksOf(notes.db, notes.project, target, { page: 1, pageSize: 10 })
      assert.equal(mentions.length, 1, title)
    }
  })
})

eachDatabase('update links', ({ open }) => {
  async function update(notes: LinkedNotes, note: Note) {
    const texts: string[] = []
    const updated = await notes.db.write((tx) => {
      // A change may have to begin again.
      texts.length = 0
      return updateLinks(tx, notes.project, note, async (linking, text) => {
        texts.push(text)
        await notes.rewriteIn(tx, linking, text)
      })
    })
    return { texts, updated: updated.map(({ file_path, count }) => `${file_path}: ${count}`) }
  }

  test('links that reach a note only by an old name are rewritten, the others stay', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'old/Name.md', permalink: 'own', body: '[[old/Name]]' })
    await notes.add({ path: 'a.md', body: '[[old/Name#Part|x]] and [[old/Name.md]] `[[old/Name]]` [[Name]]' })
    await notes.add({ path: 'b.md', body: '[[Name]] [[own]]' })
    const moved = await notes.rename(note, { file_path: 'new/Name.md' })
    const { texts, updated } = await update(notes, moved)
    assert.deepEqual(texts, ['[[new/Name#Part|x]] and [[new/Name.md]] `[[old/Name]]` [[Name]]'])
    assert.deepEqual(updated, ['a.md: 2'])
    assert.deepEqual(
      (await notes.edges()).filter((edge) => !edge.startsWith('new')),
      ['a.md -links_to-> new/Name.md', 'b.md -links_to-> new/Name.md'],
    )
  })

  test('a new title is written where the old one was, or the path when another note has the title, too', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'n/x.md', title: 'Old' })
    await notes.add({ path: 'far/New.md' })
    await notes.add({ path: 'far/log.md', body: '[[Old]]' })
    await notes.add({ path: 'n/log.md', body: 'see [[Old]]' })
    const renamed = await notes.rename(note, { title: 'New', permalink: 'own' })
    const { texts } = await update(notes, renamed)
    assert.deepEqual(texts, ['[[n/x]]', 'see [[New]]'])
  })

  test('a title that cannot be written into a link gives way to the path', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'n/Old.md' })
    await notes.add({ path: 'log.md', body: '[[Old]] [[Old#Part]]' })
    const renamed = await notes.rename(note, { title: 'A | [b]' })
    assert.deepEqual((await update(notes, renamed)).texts, ['[[n/Old]] [[n/Old#Part]]'])
  })

  test('a link to a part goes on meaning that part, also where the new name with it is another name of the note', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'n/Old.md', aliases: ['New#Part'] })
    await notes.add({ path: 'log.md', body: '[[Old#Part]]' })
    const renamed = await notes.rename(note, { title: 'New' })
    assert.deepEqual((await update(notes, renamed)).texts, ['[[n/Old#Part]]'])
  })

  test('links of hundreds of notes are rewritten in one change', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'Old.md' })
    await notes.db.write(async (tx) => {
      for (let at = 0; at < 250; at++) await notes.addIn(tx, { path: `log${at}.md`, body: '[[Old]]' })
    })
    const renamed = await notes.rename(note, { title: 'New', file_path: 'New.md', permalink: 'main/new' })
    assert.equal((await update(notes, renamed)).updated.length, 250)
  })

  test('thousands of links of one note are read some at a time, and all of them rewritten', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'Old.md' })
    await notes.add({ path: 'a.md', body: '[[Old]]' })
    await notes.add({ path: 'b.md', body: Array.from({ length: 2_500 }, (_, at) => `[[Old#${at}]]`).join('\n') })
    await notes.add({ path: 'c.md', body: '[[Old]]' })
    const read = new Set<string>()
    for await (const links of linksTo(notes.db, note.id)) {
      assert.ok(links.length <= 1_000)
      for (const { from_id, position } of links) read.add(`${from_id} ${position}`)
    }
    assert.equal(read.size, 2_502)
    const renamed = await notes.rename(note, { title: 'New', file_path: 'New.md', permalink: 'main/new' })
    const { texts, updated } = await update(notes, renamed)
    assert.deepEqual(updated, ['a.md: 1', 'b.md: 2500', 'c.md: 1'])
    assert.ok(texts.every((text) => !text.includes('Old')))
  })
})
