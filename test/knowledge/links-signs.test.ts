import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachDatabase } from '../support/each-database.ts'
import { eachServer } from './each-server.ts'
import { LinkedNotes } from './links-fixture.ts'

const TITLES = ['std::vector', 'A|B', '[[Brackets]]', 'memory://thing', 'two\nlines', '#hash|tag']

eachServer('names that could be read as something else', (notes) => {
  async function resolve(identifier: string, strict = true): Promise<string> {
    const { body } = await notes().api.post(`${notes().base}/resolve`, 200, { body: { identifier, strict } })
    return `${body.title} by ${body.resolution_method}`
  }

  test('are found as they were sent, before what they could mean', async () => {
    const made = []
    for (const title of TITLES) made.push((await notes().create({ title, directory: 'signs' })).title)
    for (const title of ['vector', 'A', 'Brackets', 'thing']) await notes().create({ title, directory: 'plain' })
    for (const title of made) {
      for (const strict of [true, false]) assert.equal(await resolve(title, strict), `${title} by title`)
    }
    assert.equal(await resolve('[[A]]'), 'A by search')
    assert.equal(await resolve('A|C'), 'A by search')
    const content = '---\npermalink: ns::p\naliases: ["q::a|b"]\n---\n'
    await notes().create({ title: 'Permanent', directory: 'signs', content })
    assert.equal(await resolve('ns::p'), 'Permanent by permalink')
    assert.equal(await resolve('q::a|b'), 'Permanent by search')
    const { body } = await notes().api.post(`${notes().base}/links/resolve`, 200, {
      body: { identifier: 'std::vector' },
    })
    assert.equal(body.title, 'std::vector')
  })

  test('that several notes have are a conflict for whoever is strict', async () => {
    for (const directory of ['one', 'two']) await notes().create({ title: 'C|D', directory })
    await notes().api.post(`${notes().base}/resolve`, 409, { body: { identifier: 'C|D', strict: true } })
    assert.equal(await resolve('C|D', false), 'C|D by title')
  })
})

eachDatabase('links to names with "::"', ({ open }) => {
  const OWN = ['std::vector', 'std::vector#part', 'ns::p', 'Std::Vec']
  const LINKS = [...OWN, 'main/std::vector', 'main::std/vector', 'main/ns/p', 'Main/Std/Vec'].map(
    (text, at) => `- r${at} [[${text}]]`,
  )
  const body = LINKS.join('\n')
  const wish = { path: 'x/std-vector.md', title: 'std::vector', permalink: 'ns::p', aliases: ['std::vec'] }
  const bound = LINKS.map((_link, at) => `log.md -r${at}-> x/std-vector.md`)

  test('are bound, whichever note comes first, and wait again when theirs goes', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add({ path: 'log.md', body })
    const unbound = await notes.edges()
    assert.equal(unbound[0], 'log.md -r0-> "std/vector"')
    const note = await notes.add(wish)
    assert.deepEqual(await notes.edges(), bound)
    await notes.remove(note)
    assert.deepEqual(await notes.edges(), unbound)
    const names = await notes.db.query.selectFrom('note_names').select('name_key').execute()
    assert.deepEqual(names.map(({ name_key }) => name_key).sort(), ['log', 'main/log'])
    await notes.add(wish)
    assert.deepEqual(await notes.edges(), bound)
  })

  test('survive a rename and the edit of the linking note after it', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add(wish)
    const log = await notes.add({ path: 'log.md', body })
    const now = await notes.rename(note, { title: 'Vector', permalink: 'v' })
    await notes.rewrite(log, `${body}\n\nedited`)
    assert.deepEqual(await notes.edges(), bound)
    await notes.rename(now, { title: 'std::vector', permalink: 'ns::p' })
    await notes.rewrite(log, body)
    assert.deepEqual(await notes.edges(), bound)
    const former = await notes.db.query.selectFrom('note_names').select('value').where('kind', '>', 1).execute()
    assert.deepEqual(former.map(({ value }) => value).sort(), ['Vector', 'v'])
  })

  test('yield to a note that has the name with a slash', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add(wish)
    await notes.add({ path: 'std/vector.md' })
    await notes.add({ path: 'log.md', body: '[[std/vector]]' })
    assert.deepEqual(await notes.edges(), ['log.md -links_to-> std/vector.md'])
  })
})
