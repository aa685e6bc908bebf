import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachDatabase } from '../support/each-database.ts'
import { LinkedNotes } from './links-fixture.ts'
import { relationsOf } from './relations-of.ts'
import { resolveExactly } from './resolve-exactly.ts'
import { createNote, openNotes } from './semantic-world.ts'

function texts(...list: string[]) {
  return list.map((name) => ({ name, target: name }))
}

eachDatabase('links', ({ open }) => {
  test('a link reaches the note with its title, permalink, path or alias, and waits when there is none', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add({ path: 'food/Coffee.md', aliases: ['Espresso'] })
    await notes.add({
      path: 'log.md',
      body: '[[Coffee]]\n\n- by_permalink [[food/coffee]]\n- by_path [[food/Coffee.md]]\n- by_alias [[espresso]]\n- needs [[Tea]]',
    })
    assert.deepEqual(await notes.edges(), [
      'log.md -links_to-> food/Coffee.md',
      'log.md -by_permalink-> food/Coffee.md',
      'log.md -by_path-> food/Coffee.md',
      'log.md -by_alias-> food/Coffee.md',
      'log.md -needs-> "Tea"',
    ])
  })

  test('a note may link to itself', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'a/Self.md', body: '[[Self]]' })
    assert.deepEqual(await notes.edges(), ['a/Self.md -links_to-> a/Self.md'])
    const { relations } = await relationsOf(notes.db, note)
    assert.deepEqual(
      relations.map(({ direction }) => direction),
      ['outgoing'],
    )
  })

  test('relations that wait are bound when a note takes the name, by whatever name they wait', async () => {
    const db = await open()
    const notes = await LinkedNotes.open(db)
    const id = '0190a000-0000-7000-8000-000000000001'
    const names = [
      'Coffee Beans',
      'shop/coffee-beans',
      'main/shop/coffee-beans',
      'shop/Coffee Beans',
      'shop/Coffee Beans.md',
      'SHOP/coffee_beans',
      'main::Coffee Beans',
      'Beans',
      id.toUpperCase(),
      'C# guide',
    ]
    await notes.add({ path: 'log.md', body: names.map((name, at) => `- r${at} [[${name}]]`).join('\n') })
    await notes.add({ path: 'shop/near.md', body: '[[coffee beans]]' })
    await notes.add({ path: 'near.md', body: '[[coffee beans]]' })
    await notes.add({ path: 'shop/Coffee Beans.md', aliases: ['beans', 'C# Guide'], id })
    assert.deepEqual(await notes.edges(), [
      ...names.map((_name, at) => `log.md -r${at}-> shop/Coffee Beans.md`),
      'near.md -links_to-> "coffee beans"',
      'shop/near.md -links_to-> shop/Coffee Beans.md',
    ])
  })

  test('a link with a dot at its beginning leads into the folder of its note, whichever of the two comes first', async () => {
    const notes = await LinkedNotes.open(await open())
    const body = '- a [[./Note]]\n- b [[./sub/Deep.md]]\n- c [[./Late#part]]\n- d [[./none]]'
    await notes.add({ path: 'Note.md' })
    await notes.add({ path: 'x/Note.md' })
    await notes.add({ path: 'x/sub/Deep.md' })
    const log = await notes.add({ path: 'x/log.md', body })
    const edges = ['x/log.md -a-> x/Note.md', 'x/log.md -b-> x/sub/Deep.md']
    const waiting = 'x/log.md -d-> "./none"'
    assert.deepEqual(await notes.edges(), [...edges, 'x/log.md -c-> "./Late#part"', waiting])
    const late = await notes.add({ path: 'Late.md' })
    assert.ok((await notes.edges()).includes('x/log.md -c-> "./Late#part"'))
    await notes.rename(late, { file_path: 'x/Late.md' })
    const bound = [...edges, 'x/log.md -c-> x/Late.md', waiting]
    assert.deepEqual(await notes.edges(), bound)
    const other = await notes.add({ path: 'z.md' })
    const none = await notes.rename(other, { file_path: 'x/None.md' })
    const all = [...bound.slice(0, 3), 'x/log.md -d-> x/None.md']
    assert.deepEqual(await notes.edges(), all)
    await notes.rename(none, { file_path: 'y/Some.md' })
    await notes.rewrite(log, `${body}\n`)
    assert.deepEqual(await notes.edges(), [...bound.slice(0, 3), 'x/log.md -d-> y/Some.md'])
  })

  test('a link with a dot is bound from the folder that its note is moved to, and by a title that begins so', async () => {
    const notes = await LinkedNotes.open(await open())
    const log = await notes.add({ path: 'x/log.md', body: '- a [[./Note]]\n- b [[./run]]' })
    await notes.add({ path: 'y/Note.md' })
    const run = await notes.add({ path: 'z/First.md' })
    await notes.rename(run, { title: './run' })
    await notes.rename(log, { file_path: 'y/log.md' })
    assert.deepEqual(await notes.edges(), ['y/log.md -a-> y/Note.md', 'y/log.md -b-> z/First.md'])
  })

  test('a link written as an address leads where the address does, whichever of the two comes first', async () => {
    const notes = await LinkedNotes.open(await open())
    const names = ['x/tea', 'main/x/tea', 'Tea', 'Tea#leaves', 'x/Tea.md', 'C# guide', './Tea', 'main::Tea']
    const literal = ['memory://literal', 'memory://D# notes']
    const addresses = [...names.map((name) => `memory://${name}`), ...literal]
    const body = addresses.map((text, at) => `- r${at} [[${text}]]`).join('\n')
    const log = await notes.add({ path: 'x/log.md', body })
    const waiting = await notes.edges()
    assert.equal(waiting[0], 'x/log.md -r0-> "memory://x/tea"')
    const made = []
    for (const wish of [
      { path: 'x/Tea.md', aliases: ['C# guide'] },
      { path: 'y/One.md', title: literal[0] as string },
      { path: 'y/Two.md', title: literal[1] as string },
    ]) {
      made.push(await notes.add(wish))
    }
    const bound = [
      ...names.map((_name, at) => `x/log.md -r${at}-> x/Tea.md`),
      `x/log.md -r${names.length}-> y/One.md`,
      `x/log.md -r${names.length + 1}-> y/Two.md`,
    ]
    assert.deepEqual(await notes.edges(), bound)
    await notes.rewrite(log, `${body}\n\nedited`)
    assert.deepEqual(await notes.edges(), bound)
    for (const note of made) await notes.remove(note)
    assert.deepEqual(await notes.edges(), waiting)
    await notes.add({ path: 'y/plain.md', body: '[[memory://]]' })
    assert.equal((await notes.edges()).at(-1), 'y/plain.md -links_to-> "memory://"')
  })

  test('more links with a dot than are looked up at once wait as few do', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add({ path: 'x/log.md', body: Array.from({ length: 300 }, (_, n) => `- [[./N${n}]]`).join('\n') })
    await notes.add({ path: 'x/N299.md' })
    assert.equal((await notes.edges()).at(-1), 'x/log.md -links_to-> x/N299.md')
  })

  test('a relation that waits is bound by a new title, path, permalink or alias of an old note', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add({ path: 'log.md', body: '- a [[Title]]\n- b [[new/place]]\n- c [[own/link]]\n- d [[Nick]]' })
    let note = await notes.add({ path: 'x.md' })
    note = await notes.rename(note, { title: 'Title' })
    note = await notes.rename(note, { file_path: 'new/place.md' })
    note = await notes.rename(note, { permalink: 'own/link' })
    await notes.rename(note, { aliases: ['Nick'] })
    assert.deepEqual(
      await notes.edges(),
      ['a', 'b', 'c', 'd'].map((type) => `log.md -${type}-> new/place.md`),
    )
  })

  test('aliases that differ only in where a line ends are others', async () => {
    const world = await openNotes(await open())
    const { deps, notes, writer, projectId } = world
    const made = await createNote(world, 'T', '---\naliases: ["a\\nb"]\n---\n\nx')
    const aliases = async () => {
      const rows = await deps.db.query.selectFrom('note_names').select('value').where('value', '<>', '').execute()
      return rows.map(({ value }) => value).toSorted()
    }
    assert.deepEqual(await aliases(), ['a\nb'])
    const input = { title: 'T', directory: '', content: 'x', noteType: null, metadata: { aliases: ['a', 'b'] } }
    await notes.replace(writer, { projectId, noteId: made.external_id }, input, {})
    assert.deepEqual(await aliases(), ['a', 'b'])
  })

  test('an edge survives a rename, and the edit of the linking note after it', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'old/Place.md', permalink: 'perma' })
    const body = '- a [[Place]]\n- b [[old/Place]]\n- c [[perma]]'
    const log = await notes.add({ path: 'log.md', body })
    await notes.rename(note, { title: 'Other', file_path: 'new/Other.md', permalink: 'changed' })
    const edges = ['a', 'b', 'c'].map((type) => `log.md -${type}-> new/Other.md`)
    assert.deepEqual(await notes.edges(), edges)
    await notes.rewrite(log, `${body}\n`)
    assert.deepEqual(await notes.edges(), edges)
  })

  test('an edge of a link in other case or with other hyphens survives that, too, unless several notes were there', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'old/My Place.md', permalink: 'perma' })
    const body = '- a [[my place]]\n- b [[MY PLACE.md]]\n- c [[OLD/my place]]'
    const log = await notes.add({ path: 'old/log.md', body })
    await notes.rename(note, { title: 'Other', file_path: 'new/Other.md', permalink: 'changed' })
    const edges = ['a', 'b', 'c'].map((type) => `old/log.md -${type}-> new/Other.md`)
    assert.deepEqual(await notes.edges(), edges)
    await notes.rewrite(log, `${body}\n`)
    assert.deepEqual(await notes.edges(), edges)
    const next = await notes.add({ path: 'old/my place.md', title: 'Next', permalink: 'next' })
    await notes.rewrite(log, body)
    assert.deepEqual(
      await notes.edges(),
      edges.map((edge) => edge.replace('new/Other.md', 'old/my place.md')),
    )
    await notes.rename(next, { file_path: 'new/Next.md' })
    await notes.rewrite(log, '- a [[MY place]]')
    assert.deepEqual(await notes.edges(), ['old/log.md -a-> "MY place"'])
  })

  test('a retired name yields to a note that has it now, and is forgotten when its note takes it again', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'a.md', title: 'Name' })
    const renamed = await notes.rename(note, { title: 'Else' })
    const other = await notes.add({ path: 'far/b.md', title: 'Name' })
    const [now] = await resolveExactly(notes.db, notes.project, null, texts('Name'))
    assert.equal(now?.id, other.id)
    await notes.remove(other)
    const [before] = await resolveExactly(notes.db, notes.project, null, texts('Name'))
    assert.equal(before?.id, note.id)
    await notes.rename(renamed, { title: 'Name' })
    const retired = await notes.db.query.selectFrom('note_names').select('value').where('kind', '>', 1).execute()
    assert.deepEqual(
      retired.map(({ value }) => value),
      ['Else'],
    )
  })

  test('a deleted target leaves relations that wait, and its successor gets them', async () => {
    const notes = await LinkedNotes.open(await open())
    const target = await notes.add({ path: 'Target.md', body: '[[log]]' })
    await notes.add({ path: 'log.md', body: '- a [[Target]]\n- a [[target]]\n- b [[Target]]' })
    assert.deepEqual((await notes.edges()).slice(1), ['log.md -a-> Target.md', 'log.md -b-> Target.md'])
    await notes.remove(target)
    assert.deepEqual(await notes.edges(), ['log.md -a-> "Target"', 'log.md -a-> "target"', 'log.md -b-> "Target"'])
    const names = await notes.db.query.selectFrom('note_names').select('name_key').orderBy('name_key').execute()
    assert.deepEqual(
      names.map(({ name_key }) => name_key),
      ['log', 'main/log'],
    )
    await notes.add({ path: 'Target.md' })
    assert.deepEqual(await notes.edges(), ['log.md -a-> Target.md', 'log.md -b-> Target.md'])
  })

  test('of several relations of one type to one note the first in the document is shown, whichever was bound first', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add({ path: 'log.md', body: '- uses [[First]]\n- uses [[Second]]\n- uses [[third]]' })
    let note = await notes.add({ path: 'x.md', title: 'Second', aliases: ['Third'] })
    assert.deepEqual(await notes.edges(), ['log.md -uses-> "First"', 'log.md -uses-> x.md'])
    note = await notes.rename(note, { title: 'First' })
    assert.deepEqual(await notes.edges(), ['log.md -uses-> x.md'])
    const { relations } = await relationsOf(notes.db, note)
    assert.deepEqual(
      relations.map(({ to_name }) => to_name),
      ['First'],
    )
  })

  test('relations are bound only inside their project', async () => {
    const db = await open()
    const main = await LinkedNotes.open(db)
    const other = await LinkedNotes.open(db, 'other')
    await main.add({ path: 'log.md', body: '[[other::Note]] [[Note]]' })
    await other.add({ path: 'Note.md' })
    assert.deepEqual(await main.edges(), ['log.md -links_to-> "other/Note"', 'log.md -links_to-> "Note"'])
    await main.add({ path: 'other/Note.md' })
    assert.deepEqual(await main.edges(), ['log.md -links_to-> other/Note.md'])
  })

  test('a bound edge stays when a nearer note of the name appears', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add({ path: 'far/Topic.md' })
    const log = await notes.add({ path: 'here/log.md', body: '[[Topic]]' })
    await notes.add({ path: 'here/Topic.md' })
    assert.deepEqual(await notes.edges(), ['here/log.md -links_to-> far/Topic.md'])
    await notes.rewrite(log, '[[Topic]]!')
    assert.deepEqual(await notes.edges(), ['here/log.md -links_to-> here/Topic.md'])
  })

  test('a moved note keeps its edges, and what waited may be found from the new folder', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add({ path: 'b/part/One.md', title: 'Something else', permalink: null })
    const log = await notes.add({ path: 'a/log.md', body: '[[part/One]]' })
    assert.deepEqual(await notes.edges(), ['a/log.md -links_to-> "part/One"'])
    await notes.rename(log, { file_path: 'b/log.md' })
    assert.deepEqual(await notes.edges(), ['b/log.md -links_to-> b/part/One.md'])
  })

  test('an edge of a relative link survives the move of its note, and edits after it, until another note has the name', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add({ path: 'a/part/One.md', title: 'Something else', permalink: null })
    const many = Array.from({ length: 1500 }, (_, at) => `- r${at} [[Something else]]`).join('\n')
    const log = await notes.add({ path: 'a/log.md', body: `${many}\n\n[[part/One#there]]` })
    const moved = await notes.rename(log, { file_path: 'b/log.md' })
    const body = `[[Nowhere]] [[part/One]] [[part/One#there]]\n\n${many}\n\n- needs [[part/One#there]]`
    const edges = async () => (await notes.edges()).filter((edge) => edge.startsWith('b/log.md') && !/-r\d/.test(edge))
    await notes.rewrite(moved, body)
    const kept = ['links_to-> "Nowhere"', 'links_to-> "part/One"', 'links_to-> a/part/One.md', 'needs-> a/part/One.md']
    assert.deepEqual(
      await edges(),
      kept.map((edge) => `b/log.md -${edge}`),
    )
    assert.equal((await relationsOf(notes.db, moved)).relations.at(-1)?.anchor, 'there')
    await notes.add({ path: 'b/part/One.md', title: 'Nearer', permalink: null })
    await notes.rewrite(moved, '[[part/One#there]]')
    assert.deepEqual(await edges(), ['b/log.md -links_to-> b/part/One.md'])
  })

  test('thousands of relations that wait for one name are bound in one change', async () => {
    const notes = await LinkedNotes.open(await open())
    const links = (from: number) => Array.from({ length: 1500 }, (_, at) => `- r${from + at} [[Wanted]]`).join('\n')
    for (const [at, path] of ['a.md', 'b.md', 'c/c.md'].entries()) await notes.add({ path, body: links(at) })
    const note = await notes.add({ path: 'Wanted.md' })
    const { count } = await notes.db.query
      .selectFrom('relations')
      .select(({ fn }) => fn.countAll().as('count'))
      .where('to_id', '=', note.id)
      .executeTakeFirstOrThrow()
    assert.equal(Number(count), 4500)
    const { relations, isTruncated } = await relationsOf(notes.db, note)
    assert.equal(relations.length, 1000)
    assert.equal(isTruncated, true)
  })

  test('a name that very many notes have is found near by, by path and by permalink, without reading them all', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.db.write(async (tx) => {
      for (let at = 0; at < 300; at++) await notes.addIn(tx, { path: `f${at}/deep/Index.md` })
      await notes.addIn(tx, { path: 'late/Index.md' })
      await notes.addIn(tx, { path: 'x.md', permalink: 'index', title: 'X' })
    })
    const near = await resolveExactly(notes.db, notes.project, 'late/sub/log.md', texts('Index', 'late/Index'))
    assert.deepEqual(
      near.map((note) => note?.file_path),
      ['late/Index.md', 'late/Index.md'],
    )
    const plain = await resolveExactly(notes.db, notes.project, null, texts('Index', 'f299/deep/Index.md', 'x'))
    assert.deepEqual(
      plain.map((note) => note?.file_path),
      ['x.md', 'f299/deep/Index.md', 'x.md'],
    )
  })
})
