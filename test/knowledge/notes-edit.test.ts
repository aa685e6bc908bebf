import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bodyOf, headOf, NOBODY, NotesApi, type WireNote } from './notes-api.ts'

const SAMPLE = '# T\n\n## A\nalpha\n\n## B\nbeta'

let notes: NotesApi
let made = 0
before(async () => {
  notes = await NotesApi.start()
})
after(() => notes.server.stop())

function sample(content = SAMPLE): Promise<WireNote> {
  return notes.create({ title: `Edited ${++made}`, directory: 'edit', content })
}

/** The body after an edit of a new note. */
async function edited(edit: Record<string, unknown>, content = SAMPLE): Promise<string> {
  const { external_id: id } = await sample(content)
  const { body, headers } = await notes.patch(id, edit, 200)
  assert.deepEqual(await notes.get(id), body)
  assert.equal(headers.get('etag'), `"${body.checksum}"`)
  return bodyOf(body)
}

/** The note must be as it was, and the words must be in the detail. */
async function assertRefused(edit: Record<string, unknown>, words: readonly string[], content = SAMPLE): Promise<void> {
  const note = await sample(content)
  const { body } = await notes.patch(note.external_id, edit, 400)
  for (const word of words) assert.ok(body.detail.includes(word), `${JSON.stringify(edit)}: ${body.detail}`)
  assert.deepEqual(await notes.get(note.external_id), note)
}

describe('PATCH /entities/{id}', () => {
  test('appends on a line of its own and prepends below the frontmatter', async () => {
    assert.equal(await edited({ operation: 'append', content: 'more' }, 'one'), 'one\nmore')
    assert.equal(await edited({ operation: 'append', content: 'more' }, 'one\n'), 'one\nmore')
    assert.equal(await edited({ operation: 'prepend', content: 'first' }, 'one'), 'first\none')
    assert.equal(await edited({ operation: 'prepend', content: 'first\n' }, 'one'), 'first\none')
    assert.equal(await edited({ operation: 'append', content: '' }, 'one'), 'one')
  })

  test('does the worked examples of the contract', async () => {
    const on = (operation: string, section: string, content: string) => edited({ operation, section, content })
    assert.equal(await on('insert_before_section', '## B', 'NEW'), '# T\n\n## A\nalpha\n\nNEW\n\n## B\nbeta')
    assert.equal(await on('insert_after_section', '## A', 'NEW'), '# T\n\n## A\nNEW\n\nalpha\n\n## B\nbeta')
    assert.equal(await on('replace_section', 'A', 'x'), '# T\n\n## A\nx\n## B\nbeta')
    assert.equal(await on('delete_section', 'A', ''), '# T\n\n## B\nbeta')
  })

  test('replaces a section with or without those below it, and puts one at the end that is missing', async () => {
    const deep = '## A\na\n### A1\na1\n## B\nb'
    const replace = { operation: 'replace_section', section: '## A', content: 'x' }
    assert.equal(await edited(replace, deep), '## A\nx\n## B\nb')
    assert.equal(await edited({ ...replace, replace_subsections: false }, deep), '## A\nx\n### A1\na1\n## B\nb')
    assert.equal(await edited({ ...replace, content: '## A\nx' }, deep), '## A\nx\n## B\nb')
    assert.equal(await edited({ ...replace, section: 'New' }, 'text'), 'text\n\n## New\nx')
    const fenced = '```\n## A\n```\n## A\na'
    assert.equal(await edited(replace, fenced), '```\n## A\n```\n## A\nx')
    const withHeadings = { ...replace, content: 'x\n### one\n## two\n' }
    const once = await edited(withHeadings, deep)
    assert.equal(once.split('### one').length, 2)
  })

  test('replaces a text as often as the caller expects it', async () => {
    const replace = { operation: 'find_replace', find_text: 'a.b', content: 'X' }
    assert.equal(await edited(replace, 'a.b aXb'), 'X aXb')
    assert.equal(await edited({ ...replace, expected_replacements: null }, 'a.b'), 'X')
    assert.equal(await edited({ ...replace, expected_replacements: 2 }, 'a.b a.b'), 'X X')
    assert.equal(await edited({ ...replace, expected_replacements: '2' }, 'a.b a.b'), 'X X', 'clients write it as text')
    assert.equal(await edited({ ...replace, content: '$& $1' }, 'a.b'), '$& $1')
    assert.equal(await edited({ ...replace, content: '' }, 'a.b'), '')
    await assertRefused({ operation: 'find_replace', find_text: 'absent', content: 'x' }, ['not found', 'absent'])
    await assertRefused({ ...replace, expected_replacements: 1 }, ['Expected 1', 'found 2'], 'a.b\na.b')
    await assertRefused({ ...replace, expected_replacements: 3 }, ['Expected 3', 'found 2'], 'a.b\na.b')
    await assertRefused({ ...replace, expected_replacements: 0 }, ['Expected 0', 'found 1'], 'a.b')
    await assertRefused({ ...replace, expected_replacements: -1 }, ['Expected -1'], 'a.b')
  })

  test('does not find half of a character: nothing is left that is no text', async () => {
    const [high, low] = ['\ud83d', '\udc4d']
    for (const half of [high, low, `${low} there`]) {
      await assertRefused({ operation: 'find_replace', find_text: half, content: 'x' }, ['not found'], 'hi 👍 there')
    }
    assert.equal(
      await edited({ operation: 'find_replace', find_text: '👍', content: '👎' }, 'hi 👍 there'),
      'hi 👎 there',
    )
  })

  test('refuses empty parameters in every spelling', async () => {
    for (const find_text of [undefined, null, '']) {
      await assertRefused({ operation: 'find_replace', content: 'x', find_text }, ['find_text'])
    }
    await assertRefused({ operation: 'find_replace', content: 'x', find_text: ' \n' }, ['empty or whitespace'])
    for (const operation of ['replace_section', 'insert_before_section', 'insert_after_section', 'delete_section']) {
      for (const section of [undefined, null]) {
        await assertRefused({ operation, content: 'x', section }, ['section is required'])
      }
      for (const section of ['', '  ']) await assertRefused({ operation, content: 'x', section }, ['empty'])
      await assertRefused({ operation, content: 'x', section: '## A' }, ['Multiple sections'], '## A\n1\n## A\n2')
      if (operation === 'replace_section') continue
      await assertRefused({ operation, content: 'x', section: '## Nope' }, ['not found', 'Nope'])
    }
  })

  test('refuses a body that is no edit', async () => {
    const { external_id: id } = await sample()
    for (const [edit, at] of [
      [{}, 'operation'],
      [{ operation: 'append' }, 'content'],
      [{ operation: 'append', content: null }, 'content'],
      [{ content: 'x' }, 'operation'],
      [{ operation: 'shuffle', content: 'x' }, 'operation'],
      [{ operation: 'append', content: 7 }, 'content'],
      [{ operation: 'find_replace', content: '', find_text: [] }, 'find_text'],
      [{ operation: 'find_replace', content: '', find_text: 'x', expected_replacements: 1.5 }, 'expected_replacements'],
      [
        { operation: 'find_replace', content: '', find_text: 'x', expected_replacements: '1.5' },
        'expected_replacements',
      ],
      [{ operation: 'find_replace', content: '', find_text: 'x', expected_replacements: '' }, 'expected_replacements'],
      [{ operation: 'replace_section', content: '', section: 1 }, 'section'],
      [{ operation: 'append', content: '', metadata: [] }, 'metadata'],
    ] as const) {
      const { body } = await notes.patch(id, edit, 422)
      assert.deepEqual(body.errors?.[0]?.loc, ['body', at], JSON.stringify(edit))
      assert.equal(typeof body.detail, 'string')
    }
  })

  test('does not know notes that are not there', async () => {
    const other = await notes.project('Another')
    const there = await other.create({ title: 'There' })
    const edit = { operation: 'append', content: 'x' }
    for (const id of [NOBODY, there.external_id, 'nonsense']) {
      assert.match((await notes.patch(id, edit, 404)).body.detail, /external_id.*not found/)
    }
    assert.equal((await other.get(there.external_id)).version, 1)
  })
})

describe('PATCH and the frontmatter', () => {
  test('metadata changes keys beside any operation and leaves the body and the other keys as they stand', async () => {
    const { external_id: id } = await sample('body')
    const first = await notes.patch(
      id,
      { operation: 'append', content: '', metadata: { status: 'x', tags: ['b'] } },
      200,
    )
    assert.equal(bodyOf(first.body), 'body')
    assert.deepEqual([first.body.entity_metadata.status, first.body.entity_metadata.tags], ['x', ['b']])
    const own = { title: 'no', type: 'no', permalink: 'no' }
    const metadata = { ...own, status: null, unknown: null, deep: { a: 1 } }
    const { body } = await notes.patch(id, { operation: 'append', content: 'more', metadata }, 200)
    assert.equal(bodyOf(body), 'body\nmore')
    assert.deepEqual([body.title, body.note_type, body.permalink], [first.body.title, 'note', first.body.permalink])
    assert.ok(!('status' in body.entity_metadata))
    assert.deepEqual(body.entity_metadata.deep, { a: 1 })
    assert.match(headOf(body), /tags:\n- b\n/)
  })

  test('edits that do not touch it keep its bytes', async () => {
    const { external_id: id } = await sample('body')
    const comment = { operation: 'find_replace', find_text: 'type: note', content: 'type: "note"   # by hand' }
    const { body: first } = await notes.patch(id, comment, 200)
    for (const edit of [
      { operation: 'append', content: 'x' },
      { operation: 'prepend', content: 'y' },
      { operation: 'replace_section', section: 'Z', content: 'z' },
    ]) {
      assert.equal(headOf((await notes.patch(id, edit, 200)).body), headOf(first))
    }
  })

  test('title, type and permalink in it take effect, and the path never changes', async () => {
    const note = await sample('body')
    await notes.create({ title: 'Owner', directory: 'edit', content: '---\npermalink: owned\n---\n' })
    const replace = (find_text: string, content: string) =>
      notes.patch(note.external_id, { operation: 'find_replace', find_text, content }, 200)
    assert.equal((await replace(`title: ${note.title}`, 'title: "New: title"')).body.title, 'New: title')
    assert.equal((await replace('type: note', 'type: Idea')).body.note_type, 'Idea')
    const { body } = await replace(`permalink: ${note.permalink}`, 'permalink: owned')
    assert.equal(body.permalink, 'owned-1')
    assert.match(headOf(body), /^permalink: owned-1$/m)
    assert.equal(body.file_path, note.file_path)
    const { body: found } = await notes.api.post(`${notes.base}/resolve`, 200, {
      body: { identifier: note.permalink, strict: true },
    })
    assert.equal(found.external_id, note.external_id)
  })

  test('an edit that breaks it is refused', async () => {
    const replace = (find_text: string, content: string) => ({ operation: 'find_replace', find_text, content })
    await assertRefused(replace('type: note', 'type: ['), ['frontmatter'])
    await assertRefused(replace('type: note\n', 'type: note\ntype: twice\n'), ['frontmatter'])
    await assertRefused(replace('type: note\n', 'created: soon\n'), ['created'])
    const note = await sample('body')
    const { body } = await notes.patch(note.external_id, replace(`${note.permalink}\n---`, note.permalink), 400)
    assert.match(body.detail, /frontmatter/)
    assert.deepEqual(await notes.get(note.external_id), note)
  })

  test('the first heading carries the title along while they were equal', async () => {
    const note = await notes.create({ title: 'Old Name', directory: 'edit', content: '# Old Name\n\ntext' })
    const replace = { operation: 'find_replace', find_text: '# Old Name', content: '# New Name' }
    const { body } = await notes.patch(note.external_id, replace, 200)
    assert.deepEqual([body.title, body.file_path], ['New Name', 'edit/Old Name.md'])
    assert.match(headOf(body), /^title: New Name$/m)
    const other = await notes.create({ title: 'Different', directory: 'edit', content: '# Heading\n' })
    const change = { operation: 'find_replace', find_text: '# Heading', content: '# Changed' }
    assert.equal((await notes.patch(other.external_id, change, 200)).body.title, 'Different')
  })
})

describe('what an edit does to the graph', () => {
  test('new links are bound, links that are gone are gone, and nothing else moves', async () => {
    const target = await notes.create({ title: 'Graph target', directory: 'graph' })
    const note = await notes.create({ title: 'Graph source', directory: 'graph', content: 'start' })
    const link = { operation: 'append', content: '- uses [[Graph target]]' }
    const { body } = await notes.patch(note.external_id, link, 200)
    assert.equal(body.relations[0]?.to_external_id, target.external_id)
    assert.equal((await notes.get(target.external_id)).relations[0]?.from_external_id, note.external_id)
    assert.equal((await notes.get(target.external_id)).version, 1)
    const unlink = { operation: 'find_replace', find_text: '- uses [[Graph target]]', content: '' }
    assert.deepEqual((await notes.patch(note.external_id, unlink, 200)).body.relations, [])
    assert.deepEqual((await notes.get(target.external_id)).relations, [])
  })

  test('a title that a note gets by an edit binds what waited for it', async () => {
    const waiting = await notes.create({ title: 'Waiting', directory: 'graph', content: '[[Godot]]' })
    const note = await notes.create({ title: 'Somebody', directory: 'graph' })
    const edit = { operation: 'find_replace', find_text: 'title: Somebody', content: 'title: Godot' }
    const { body } = await notes.patch(note.external_id, edit, 200)
    assert.equal(body.relations[0]?.from_external_id, waiting.external_id)
    assert.equal((await notes.get(waiting.external_id)).relations[0]?.to_external_id, note.external_id)
  })

  test('every edit counts one version, and an edit that changes nothing none', async () => {
    const note = await sample('one')
    const { body } = await notes.patch(note.external_id, { operation: 'append', content: 'two' }, 200)
    assert.equal(body.version, note.version + 1)
    const same = { operation: 'find_replace', find_text: 'two', content: 'two' }
    assert.deepEqual((await notes.patch(note.external_id, same, 200)).body, body)
  })
})

describe('DELETE /entities/{id}', () => {
  test('takes the note away and says whether there was one', async () => {
    const note = await notes.create({ title: 'Short-lived', directory: 'del', content: '- [a] b\n- c [[Short-lived]]' })
    assert.equal(await notes.delete(note.external_id.toUpperCase()), true)
    assert.equal(await notes.delete(note.external_id), false)
    await notes.get(note.external_id, 404)
    for (const id of [NOBODY, 'nonsense', '%00']) assert.equal(await notes.delete(id), false)
    const other = await notes.project('Foreign')
    const there = await other.create({ title: 'There' })
    assert.equal(await notes.delete(there.external_id), false)
    await other.get(there.external_id)
    await notes.api.delete(`/v2/${NOBODY}/knowledge/entities/${there.external_id}`, 404)
  })

  test('links to it wait again under the text they were written with, and are bound when it is made anew', async () => {
    const target = await notes.create({ title: 'Phoenix', directory: 'del' })
    const note = await notes.create({
      title: 'Loyal',
      directory: 'del',
      content: '- follows [[phoenix.md|bird]]\n- likes [[Phoenix]]',
    })
    assert.equal(note.relations.find(({ relation_type: type }) => type === 'likes')?.to_name, 'Phoenix')
    await notes.delete(target.external_id)
    const waiting = await notes.get(note.external_id)
    assert.deepEqual(
      waiting.relations.map(({ relation_type, to_id, to_name, to_external_id }) => [
        relation_type,
        to_id,
        to_name,
        to_external_id,
      ]),
      [
        ['follows', null, 'phoenix.md', null],
        ['likes', null, 'Phoenix', null],
      ],
    )
    assert.deepEqual([waiting.version, waiting.content], [note.version, note.content])
    const again = await notes.create({ title: 'Phoenix', directory: 'del' })
    assert.notEqual(again.external_id, target.external_id)
    const bound = await notes.get(note.external_id)
    assert.ok(bound.relations.every(({ to_external_id: to }) => to === again.external_id))
    const { edges } = await notes.graph()
    assert.ok(edges.some(({ from_id, to_id }) => from_id === note.external_id && to_id === again.external_id))
  })
})
