import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachDatabase } from '../support/each-database.ts'
import { eachServer } from './each-server.ts'
import { LinkedNotes } from './links-fixture.ts'
import { bodyOf } from './notes-api.ts'

const LINKS = ['F# intro', 'F# intro#sec', 'F#intro', 'A#B', 'A#B#C#D', 'A##x'].map(
  (text, at) => `- r${at} [[${text}]]`,
)

async function shown(notes: LinkedNotes): Promise<string[]> {
  const rows = await notes.db.query
    .selectFrom('relations as r')
    .leftJoin('notes as t', 't.id', 'r.to_id')
    .select(['r.to_name', 'r.anchor', 't.title'])
    .orderBy('r.position')
    .execute()
  return rows.map(({ to_name, anchor, title }) => `${to_name}: ${title} at ${anchor}`)
}

const BOUND = [
  'F# intro: F# intro at null',
  'F# intro#sec: F# intro at sec',
  'F#intro: F at intro',
  'A#B: A#B at null',
  'A#B#C#D: A#B#C at D',
  'A##x: A# at x',
]

const UNBOUND = [
  'F# intro: null at intro',
  'F# intro#sec: null at intro#sec',
  'F#intro: null at intro',
  'A#B: null at B',
  'A#B#C#D: null at B#C#D',
  'A##x: null at #x',
]

const PATHS = ['x/F# intro.md', 'y/F.md', 'A#B.md', 'A#B#C.md', 'A#.md']

eachDatabase('names with a "#"', ({ open }) => {
  test('are names and no anchors where a note has them, and what follows is the anchor', async () => {
    const notes = await LinkedNotes.open(await open())
    for (const path of PATHS) await notes.add({ path })
    await notes.add({ path: 'log.md', body: LINKS.join('\n') })
    assert.deepEqual(await shown(notes), BOUND)
  })

  test('bind what waits for them when the note comes later, and let it wait again when it goes', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.add({ path: 'log.md', body: LINKS.join('\n') })
    assert.deepEqual(await shown(notes), UNBOUND)
    for (let round = 0; round < 2; round++) {
      const added = []
      for (const path of PATHS) added.push(await notes.add({ path }))
      assert.deepEqual(await shown(notes), BOUND)
      for (const note of added) await notes.remove(note)
      assert.deepEqual(await shown(notes), UNBOUND)
    }
  })

  test('that go leave their links to the note that is named up to the first "#"', async () => {
    const notes = await LinkedNotes.open(await open())
    const named = await notes.add({ path: 'F# intro.md' })
    await notes.add({ path: 'log.md', body: '[[F# intro]]' })
    await notes.add({ path: 'F.md' })
    assert.deepEqual(await shown(notes), ['F# intro: F# intro at null'])
    await notes.remove(named)
    assert.deepEqual(await shown(notes), ['F# intro: F at intro'])
  })

  test('that are former ones keep their links, also when the linking note is edited', async () => {
    const notes = await LinkedNotes.open(await open())
    const named = await notes.add({ path: 'F# intro.md' })
    const log = await notes.add({ path: 'log.md', body: '[[F# intro]] [[F# intro#sec]]' })
    await notes.rename(named, { title: 'G', file_path: 'G.md', permalink: 'g' })
    await notes.rewrite(log, '- a [[F# intro]]\n- b [[F# intro#sec]]')
    assert.deepEqual(await shown(notes), ['F# intro: G at null', 'F# intro#sec: G at sec'])
  })
})

eachServer('notes with a "#" in their names', (notes) => {
  test('are found by them, with and without an anchor, and by a name that begins with it', async () => {
    const post = (identifier: string, status: number) =>
      notes().api.post(`${notes().base}/resolve`, status, { body: { identifier, strict: true } })
    const intro = await notes().create({ title: 'F# intro', directory: 'r' })
    const idea = await notes().create({ title: '#idea', directory: 'r' })
    const found = { [intro.external_id]: ['F# intro', 'F# intro#sec', 'r/F# intro.md', '[[F# intro#sec|shown]]'] }
    found[idea.external_id] = ['#idea', '[[#idea]]', '#idea#part']
    for (const [id, texts] of Object.entries(found)) {
      for (const text of texts) assert.equal((await post(text, 200)).body.external_id, id, text)
    }
    for (const text of ['#', '#else', '##', 'F#intro#sec']) await post(text, 404)
  })

  test('are written without an anchor into the links that update_links rewrites', async () => {
    const target = await notes().create({
      title: 'C# guide',
      directory: 'x',
      content: '---\npermalink: cs/p\n---\n# C# guide\n',
    })
    const links = ['C# guide', 'C# guide|disp', 'x/C# guide', 'C# guide#part', 'x/C# guide#part|disp']
    const content = links.map((link) => `[[${link}]]`).join(' ')
    const linking = await notes().create({ title: 'Linking', directory: 'w', content })
    assert.deepEqual(
      linking.relations.map(({ anchor }) => anchor),
      [null],
    )
    const edit = { operation: 'find_replace', find_text: '# C# guide', content: '# CSharp guide' }
    await notes().patch(target.external_id, edit, 200)
    await notes().move(target.external_id, 'z/New.md', 200, { update_links: true })
    const text = bodyOf(await notes().get(linking.external_id))
    assert.equal(text, '[[CSharp guide]] [[CSharp guide|disp]] [[z/New]] [[CSharp guide#part]] [[z/New#part|disp]]')
  })

  test('are written into links with their "#", and anchors stay behind it', async () => {
    const target = await notes().create({
      title: 'Plain',
      directory: 'p',
      content: '---\npermalink: pl\n---\n# Plain\n',
    })
    const linking = await notes().create({ title: 'To plain', directory: 'w', content: '[[Plain]] ![[Plain#part|d]]' })
    const edit = { operation: 'find_replace', find_text: '# Plain', content: '# J# plan' }
    await notes().patch(target.external_id, edit, 200)
    await notes().move(target.external_id, 'p/J.md', 200, { update_links: true })
    assert.equal(bodyOf(await notes().get(linking.external_id)), '[[J# plan]] ![[J# plan#part|d]]')
  })
})
