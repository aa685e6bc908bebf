import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { bodyOf, headOf, NOBODY, NotesApi } from './notes-api.ts'

let notes: NotesApi
before(async () => {
  notes = await NotesApi.start()
})
after(() => notes.server.stop())

describe('POST /entities', () => {
  test('answers the whole note as it is stored, with its place and its version in the headers', async () => {
    const content = '# Brewing\n\n- [method] Use a scale #gear (home)\n- uses [[Scale]]\n\nSee [[Water|soft]].\n'
    const wish = { title: 'Coffee', directory: 'food', content, note_type: 'HowTo', entity_metadata: { tags: 'a, #b' } }
    const { body, headers } = await notes.post(wish, 201)
    const note = body
    const { external_id: id, id: number, created_at, updated_at, created_by, ...rest } = { created_by: null, ...note }
    assert.match(String(id), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    assert.ok(Number.isInteger(number) && Number(number) > 0)
    assert.match(String(created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    assert.equal(updated_at, created_at)
    assert.equal(typeof created_by, 'string')
    assert.deepEqual(rest, {
      title: 'Coffee',
      note_type: 'how_to',
      content_type: 'text/markdown',
      permalink: 'main/food/coffee',
      file_path: 'food/Coffee.md',
      content: `---\ntitle: Coffee\ntype: how_to\npermalink: main/food/coffee\ntags: 'a, #b'\n---\n\n${content}`,
      entity_metadata: { title: 'Coffee', type: 'how_to', permalink: 'main/food/coffee', tags: ['a', 'b'] },
      observations: [
        {
          id: note.id * 2 ** 20,
          category: 'method',
          content: 'Use a scale #gear',
          tags: ['gear'],
          context: 'home',
          permalink: 'main/food/coffee/observations/method/use-a-scale-gear',
        },
      ],
      relations: [
        relation(note, { type: 'uses', name: 'Scale', position: 0, permalink: 'main/food/coffee/uses/scale' }),
        relation(note, {
          type: 'links_to',
          name: 'Water',
          position: 1,
          permalink: 'main/food/coffee/links-to/water',
          display: 'soft',
        }),
      ],
      last_updated_by: created_by,
      checksum: hash('sha256', note.content),
      version: 1,
      api_version: 'v2',
    })
    assert.equal(headers.get('location'), `${notes.base}/entities/${note.external_id}`)
    assert.equal(headers.get('etag'), `"${note.checksum}"`)
    const read = await notes.api.get(headers.get('location') as string, 200)
    assert.deepEqual(read.body, note)
    assert.equal(read.headers.get('etag'), `"${note.checksum}"`)
  })

  test('is there under both prefixes, with ids in any case and with or without hyphens', async () => {
    const alias = `/v2/projects/${notes.projectId}/knowledge/entities`
    const { body, headers } = await notes.api.post(alias, 201, { body: { title: 'Prefixes' } })
    const id = body.external_id as string
    for (const project of [notes.projectId, notes.projectId.toUpperCase(), notes.projectId.replaceAll('-', '')]) {
      for (const note of [id, id.toUpperCase(), id.replaceAll('-', '')]) {
        for (const prefix of [`/v2/${project}`, `/v2/projects/${project}`]) {
          const read = await notes.api.get(`${prefix}/knowledge/entities/${note}`, 200)
          assert.equal(read.body.external_id, id)
        }
      }
    }
    await notes.api.get(headers.get('location') as string, 200)
  })

  test('an empty type in the text is none: that of the request counts', async () => {
    for (const [at, type] of ['', '""', '~', 'None', '{}'].entries()) {
      const content = `---\ntype: ${type}\n---\nbody`
      const note = await notes.create({ title: `Template ${at}`, note_type: 'Person', content })
      assert.deepEqual([note.note_type, note.entity_metadata.type], ['person', 'person'], type)
      const { body } = await notes.put(note.external_id, { title: `Template ${at}`, content }, 200)
      assert.equal(body.note_type, 'person', `${type}: what was said before stays`)
    }
  })

  test('takes folder and entity_type for directory and note_type, ignores what it does not know, and needs a title alone', async () => {
    const wish = { title: 'Aliases', folder: 'f', entity_type: 'Person', colour: 'red', fast: true }
    const { body } = await notes.post(wish, 201)
    assert.deepEqual([body.file_path, body.note_type], ['f/Aliases.md', 'person'])
    const bare = await notes.create({ title: 'Bare' })
    assert.deepEqual([bare.file_path, bare.note_type, bodyOf(bare)], ['Bare.md', 'note', ''])
    assert.ok(bare.content.endsWith('---\n'))
    const nothing = { directory: null, content: null, note_type: null, entity_metadata: null, content_type: null }
    assert.equal((await notes.create({ title: 'Nulls', ...nothing })).file_path, 'Nulls.md')
    const markdown = { title: 'Kind', content_type: 'Text/Markdown' }
    assert.equal((await notes.create(markdown)).file_path, 'Kind.md')
    await notes.api.post(`${notes.base}/entities?fast=true`, 201, { body: { title: 'Fast', content: '[[Kind]]' } })
  })

  test('makes path and file name of what the caller wrote', async () => {
    const cases: [directory: string, title: string, path: string][] = [
      ['/docs/', 'Plain', 'docs/Plain.md'],
      ['./a//b\\c', 'Slashes', 'a/b/c/Slashes.md'],
      [' spaced name ', 'In it', 'spaced name/In it.md'],
      ['q?*<x>', 'Signs', 'qx/Signs.md'],
      ['p', 'Coupon Enable/Disable', 'p/Coupon Enable-Disable.md'],
      ['p', 'a:b|c?d*e"f<g>h\\i', 'p/a-b-c-d-e-f-g-h-i.md'],
      ['p', '  Trimmed.  ', 'p/Trimmed.md'],
      ['p', 'Version 2.0.0', 'p/Version 2.0.0.md'],
      ['p', 'Ends with a period.', 'p/Ends with a period.md'],
      ['p', 'notes.py', 'p/notes.py.md'],
      ['p', 'hi..there', 'p/hi..there.md'],
      ['中文', '测试文档', '中文/测试文档.md'],
      ['p', 'Cafe\u0301', 'p/Café.md'],
    ]
    for (const [directory, title, path] of cases) {
      const note = await notes.create({ title, directory })
      assert.equal(note.file_path, path)
      assert.equal(note.title, title.trim())
    }
  })

  test('merges frontmatter: the request is called by its title, the text says type and permalink, metadata wins', async () => {
    const content = [
      '---',
      'title: Ignored',
      'type: Recipe',
      'permalink: my/Own Link',
      'status: draft',
      'rating: 3',
      'done: true',
      'day: 2026-01-31',
      'gone: null',
      '---',
      '',
      '',
      'Body',
      '',
      '',
    ].join('\n')
    const entity_metadata = { status: 'final', title: 'no', type: 'no', permalink: 'no', extra: { deep: [1, null] } }
    const note = await notes.create({ title: 'Merged', note_type: 'other', content, entity_metadata })
    assert.deepEqual([note.title, note.note_type, note.permalink], ['Merged', 'Recipe', 'my/Own Link'])
    assert.equal(bodyOf(note), 'Body')
    assert.deepEqual(note.entity_metadata, {
      title: 'Merged',
      type: 'Recipe',
      permalink: 'my/Own Link',
      status: 'final',
      rating: 3,
      done: true,
      day: '2026-01-31',
      extra: { deep: [1, null] },
    })
    assert.match(headOf(note), /^title: Merged\ntype: Recipe\npermalink: my\/Own Link\nstatus: final\n/)
  })

  test('keeps numbers that are names, with their zeros and signs, and finds them', async () => {
    const content = '---\ncode: 01234\nphone: +4930123\nrating: 3\n---\n'
    const note = await notes.create({ title: 'Address', content })
    assert.ok(headOf(note).endsWith("\ncode: '01234'\nphone: '+4930123'\nrating: 3\n"), headOf(note))
    const { code, phone, rating } = note.entity_metadata
    assert.deepEqual([code, phone, rating], ['01234', '+4930123', 3])
    const edit = { operation: 'append', content: 'x', metadata: { rating: 4 } }
    assert.equal((await notes.patch(note.external_id, edit, 200)).body.entity_metadata.code, '01234')
    for (const filters of [{ code: '01234' }, { phone: '+4930123' }, { code: { $gt: 1000 } }]) {
      const body = { metadata_filters: filters, entity_types: ['entity'] }
      const { results } = (await notes.api.post(`${notes.base.replace('/knowledge', '/search/')}`, 200, { body })).body
      assert.deepEqual(
        results.map(({ title }: { title: string }) => title),
        ['Address'],
        JSON.stringify(filters),
      )
    }
  })

  test('keeps keys of the frontmatter that have no value, and metadata takes them away by null', async () => {
    const content = '---\ndue:\nstatus: ~\nowner: null\nrating: 3\n---\nBody'
    const note = await notes.create({ title: 'Template', content, entity_metadata: { owner: null } })
    assert.ok(headOf(note).endsWith('\ndue: null\nstatus: null\nrating: 3\n'), headOf(note))
    const { due, status, owner, rating } = note.entity_metadata
    assert.deepEqual([due, status, owner, rating], [undefined, undefined, undefined, 3])
  })

  test('keeps a text without frontmatter as it is, also one that only looks as if it had some', async () => {
    for (const [index, content] of ['\n\n x \r\n\r\n', '---\nnever: closed\n', '---\\n', '-- -\n---', '\t'].entries()) {
      const note = await notes.create({ title: `Verbatim ${index}`, content })
      assert.ok(note.content.endsWith(`---\n\n${content}`), JSON.stringify(note.content))
    }
    const marked = await notes.create({ title: 'Marked', content: '\uFEFF---\nstatus: x\n---\nbody' })
    assert.equal(marked.entity_metadata.status, 'x')
    assert.equal(bodyOf(marked), 'body')
  })

  test('takes times from the frontmatter', async () => {
    const content = '---\ncreated: 2020-02-03\nmodified: "2021-05-06T07:08:09+02:00"\n---\n'
    const note = await notes.create({ title: 'Old', content })
    assert.match(note.created_at, /^2020-02-03T00:00:00(\.0+)?Z$/)
    assert.match(note.updated_at, /^2021-05-06T05:08:09(\.0+)?Z$/)
    const bad = await notes.post({ title: 'Bad time', content: '---\ncreated: yesterday\n---\n' }, 400)
    assert.match(bad.body.detail, /created/)
  })

  test('suffixes a permalink that another note has, and never fails for it', async () => {
    const content = '---\npermalink: shared\n---\n'
    const made = []
    for (const title of ['Share 1', 'Share 2', 'Share 3']) made.push((await notes.create({ title, content })).permalink)
    assert.deepEqual(made, ['shared', 'shared-1', 'shared-2'])
    assert.match(headOf(await notes.create({ title: 'Share 4', content })), /^permalink: shared-3$/m)
  })

  test('suffixes a permalink that another note has in another Unicode form: each leads to its own note', async () => {
    for (const [title, permalink] of Object.entries({ Composed: 'caf\u00e9', Decomposed: 'cafe\u0301' })) {
      const made = await notes.create({ title, content: `---\npermalink: "${permalink}"\n---\n` })
      const body = { identifier: made.permalink, strict: true }
      const { body: found } = await notes.api.post(`${notes.base}/resolve`, 200, { body })
      assert.equal(found.external_id, made.external_id, title)
    }
  })

  test('a path may be as long as paths may be, although its permalink would be longer', async () => {
    const folder = (letter: string) => Array(4).fill(letter.repeat(120)).join('/')
    const directory = `${folder('d')}/${'e'.repeat(500 - 484 - '/a.md'.length)}`
    const a = await notes.create({ title: 'a', directory })
    const b = await notes.create({ title: 'b', directory, content: `[[${a.file_path}]]` })
    assert.equal(a.file_path.length, 500)
    assert.match(a.permalink, /^main\/d{120}\/.{300,}-[0-9a-f]{8}$/)
    assert.ok(a.permalink.length <= 500 && a.permalink !== b.permalink)
    assert.equal(b.relations[0]?.to_external_id, a.external_id)
    const { body } = await notes.put(a.external_id, { title: 'a', directory }, 200)
    assert.deepEqual([body.permalink, body.version], [a.permalink, 1])
  })

  test('a permalink that is as long as it may be gives way to its suffix', async () => {
    const content = `---\npermalink: ${'ü'.repeat(500)}\n---\n`
    assert.equal((await notes.create({ title: 'Longest 1', content })).permalink, 'ü'.repeat(500))
    const second = await notes.create({ title: 'Longest 2', content })
    assert.equal(second.permalink, `${'ü'.repeat(498)}-1`)
    const again = await notes.put(second.external_id, { title: 'Longest 2', content }, 200)
    assert.deepEqual([again.body.permalink, again.body.version], [second.permalink, 1])
    const longer = `---\npermalink: ${'ü'.repeat(501)}\n---\n`
    assert.match((await notes.post({ title: 'Too long', content: longer }, 400)).body.detail, /permalink/)
  })

  test('binds links in both directions before it answers', async () => {
    const early = await notes.create({ title: 'Early', directory: 'links', content: 'Later: [[Late]]' })
    assert.equal(early.relations[0]?.to_id, null)
    const late = await notes.create({ title: 'Late', directory: 'links', content: 'Before: [[Early]]' })
    assert.deepEqual(
      late.relations.map(({ direction, from_id, to_id }) => [direction, from_id, to_id]),
      [
        ['outgoing', 'main/links/late', 'main/links/early'],
        ['incoming', 'main/links/early', 'main/links/late'],
      ],
    )
    assert.equal((await notes.get(early.external_id)).relations[0]?.to_external_id, late.external_id)
  })
})

describe('POST /entities refuses', () => {
  async function assertRefused(wish: Parameters<NotesApi['post']>[0], status: number, detail: RegExp) {
    const before = await notes.paths()
    const { body } = await notes.post(wish, status)
    assert.match(body.detail, detail)
    assert.deepEqual(await notes.paths(), before, 'nothing is left behind')
    return body
  }

  test('a path that a note has, and one that differs only in spelling', async () => {
    const first = await notes.create({ title: 'basic memory bug', directory: 'twins' })
    const same = { title: 'basic memory bug', directory: 'twins', content: 'other' }
    const { detail } = await assertRefused(same, 409, /already exists/)
    assert.match(detail, /edit|delete/)
    for (const title of ['basic-memory-bug', 'Basic_Memory bug', 'BASIC MEMORY BUG', 'basic  memory bug']) {
      await assertRefused({ title, directory: 'twins' }, 409, /twins\/basic memory bug\.md/)
    }
    await assertRefused({ title: 'basic memory bug', directory: 'TWINS' }, 409, /twins\/basic memory bug\.md/)
    assert.equal((await notes.get(first.external_id)).version, 1)
    for (const title of ['C', 'C#', 'C++']) await notes.create({ title, directory: 'twins' })
  })

  test('a body that is none, naming every problem with its place', async () => {
    for (const [wish, at] of [
      [{}, ['body', 'title']],
      [{ title: '' }, ['body', 'title']],
      [{ title: ' \t ' }, ['body', 'title']],
      [{ title: 'x'.repeat(501) }, ['body', 'title']],
      [{ title: 7 }, ['body', 'title']],
      [{ title: null }, ['body', 'title']],
      [{ title: 'x', directory: [] }, ['body', 'directory']],
      [{ title: 'x', content: {} }, ['body', 'content']],
      [{ title: 'x', note_type: '' }, ['body', 'note_type']],
      [{ title: 'x', note_type: 'y'.repeat(201) }, ['body', 'note_type']],
      [{ title: 'x', entity_metadata: [] }, ['body', 'entity_metadata']],
      [{ title: 'x', entity_metadata: 'tags' }, ['body', 'entity_metadata']],
      [{ title: 'x', content_type: 'markdown' }, ['body', 'content_type']],
    ] as const) {
      const { errors, detail } = await assertRefused(wish, 422, /./)
      const problem = errors?.[0]
      assert.deepEqual(problem?.loc, at, JSON.stringify(wish))
      assert.deepEqual(Object.keys(problem ?? {}).sort(), ['loc', 'msg', 'type'])
      assert.ok(detail.includes(at[1]))
    }
    const json = { headers: { 'content-type': 'application/json' } }
    for (const raw of ['', '{', '[]', 'null', '"x"', '{"title":"x"']) {
      const { body } = await notes.post(raw, 422, json)
      assert.equal(typeof body.detail, 'string')
      assert.ok(Array.isArray(body.errors))
    }
  })

  test('what is not markdown, and a request that is not JSON', async () => {
    await assertRefused({ title: 'x', content_type: 'image/png' }, 415, /markdown/)
    const { body } = await notes.post('title=x', 415, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    assert.equal(typeof body.detail, 'string')
  })

  test('frontmatter that cannot be read', async () => {
    for (const yaml of ['a: [', '- a\n- b', 'just text', 'a: 1\na: 2', '"', 'a: *unknown', '\tx: 1']) {
      await assertRefused({ title: 'Bad yaml', content: `---\n${yaml}\n---\nbody` }, 400, /frontmatter/)
    }
  })

  test('a title that leaves no file name', async () => {
    for (const title of ['...', '---', '/', '<>', '\u200b']) await assertRefused({ title }, 422, /title/)
  })

  test('an unknown project, in whatever form it is named', async () => {
    for (const project of [NOBODY, 'main', '1', 'nonsense', '%00', 'x'.repeat(99)]) {
      const { body } = await notes.api.post(`/v2/${project}/knowledge/entities`, 404, { body: { title: 'x' } })
      assert.equal(typeof body.detail, 'string')
    }
    const { body } = await notes.api.post(`/v2/${NOBODY}/knowledge/entities`, 404, { body: { title: 'x' } })
    assert.ok(body.detail.includes(NOBODY))
  })
})

test('content with frontmatter keeps its line endings whole', async () => {
  const wish = { title: 'CRLF', content: '---\r\na: 1\r\n---\r\n\r\nline1\r\nline2\r\n\r\n' }
  const note = await notes.create(wish)
  assert.equal(bodyOf(note), 'line1\r\nline2')
  const { body } = await notes.put(note.external_id, { ...wish, content: wish.content.replaceAll('line', 'row') }, 200)
  assert.equal(bodyOf(body), 'row1\r\nrow2')
})

test('times in the frontmatter are ISO 8601, or refused by their name', async () => {
  for (const [title, created, stored] of [
    ['Basic', '20240102T030405Z', '2024-01-02T03:04:05.000Z'],
    ['Week', '2024-W05-1', '2024-01-29T00:00:00.000Z'],
    ['First day', '1684-07-29', '1684-07-29T00:00:00.000Z'],
    ['Last day', '2255-06-04', '2255-06-04T00:00:00.000Z'],
  ] as const) {
    const { external_id: id } = await notes.create({
      title,
      directory: 'times',
      content: `---\ncreated: "${created}"\n---\n`,
    })
    const { created_at: at, entity_metadata: metadata } = await notes.get(id)
    assert.deepEqual([at, metadata.created], [stored, created])
  }
  for (const created of ['""', '0001-01-01', '9999-12-31', 'soon']) {
    const { body } = await notes.post({ title: 'No time', content: `---\ncreated: ${created}\n---\n` }, 400)
    assert.match(body.detail, /"created"/)
  }
})

function relation(
  note: { id: number; external_id: string; permalink: string },
  link: { type: string; name: string; position: number; permalink: string; display?: string },
) {
  return {
    id: note.id * 2 ** 20 + link.position,
    direction: 'outgoing',
    from_id: note.permalink,
    to_id: null,
    to_name: link.name,
    relation_type: link.type,
    context: null,
    permalink: link.permalink,
    from_external_id: note.external_id,
    to_external_id: null,
    display: link.display ?? null,
    anchor: null,
  }
}
