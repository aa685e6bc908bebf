import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/platform/ids/uuid.ts'
import { bodyOf, headOf, NOBODY, NotesApi, type WireNote } from './notes-api.ts'

const OLD = '0'.repeat(64)

let notes: NotesApi
before(async () => {
  notes = await NotesApi.start()
})
after(() => notes.server.stop())

describe('GET /entities/{id}', () => {
  test('does not know other ids: unknown, of another project, no ids at all', async () => {
    const other = await notes.project('Elsewhere')
    const there = await other.create({ title: 'There', content: 'secret text' })
    for (const id of [NOBODY, there.external_id, String(there.id), 'There', 'main%2Fthere', '%00', 'a'.repeat(64)]) {
      const { body, text } = await notes.api.get(notes.at(id), 404)
      assert.match(body.detail, /external_id/)
      assert.match(body.detail, /not found/)
      if (/^[\w-]+$/.test(id) && id.length < 40) assert.ok(body.detail.includes(id))
      assert.ok(!text.includes('secret'))
    }
    await notes.api.get(`/v2/${NOBODY}/knowledge/entities/${there.external_id}`, 404)
  })

  test('answers 304 to whoever has the note already', async () => {
    const { external_id: id, checksum } = await notes.create({ title: 'Cached' })
    for (const tags of [`"${checksum}"`, `W/"${checksum}"`, `"x", "${checksum}"`, '*']) {
      const { text, headers } = await notes.api.get(notes.at(id), 304, { headers: { 'if-none-match': tags } })
      assert.equal(text, '')
      assert.equal(headers.get('etag'), `"${checksum}"`)
    }
    await notes.api.get(notes.at(id), 200, { headers: { 'if-none-match': `"${OLD}"` } })
    await notes.api.get(notes.at(NOBODY), 404, { headers: { 'if-none-match': '*' } })
  })
})

describe('PUT /entities/{id} of a new id', () => {
  test('makes the note under exactly this id', async () => {
    const id = newId()
    const { body } = await notes.put(id.toUpperCase(), { title: 'Bound', directory: 'put', content: '[[Bound]]' }, 201)
    assert.equal(body.external_id, id)
    assert.equal(body.version, 1)
    assert.equal(body.relations[0]?.to_external_id, id, 'it may link to itself')
    assert.deepEqual(await notes.get(id), body)
    const second = await notes.put(id.replaceAll('-', ''), { title: 'Bound', directory: 'put' }, 200)
    assert.equal(second.body.external_id, id)
  })

  test('is refused for an id of another project, a path that is taken, and what is no id', async () => {
    const other = await notes.project('Owner')
    const there = await other.create({ title: 'Mine' })
    const { body } = await notes.put(there.external_id, { title: 'Stolen' }, 409)
    assert.ok(!body.detail.includes('Mine'))
    assert.equal((await other.get(there.external_id)).title, 'Mine')
    const taken = await notes.create({ title: 'Taken', directory: 'put' })
    const refused = await notes.put(newId(), { title: 'Taken', directory: 'put' }, 409)
    assert.match(refused.body.detail, /already exists/)
    await notes.put(newId(), { title: 'TAKEN', directory: 'put' }, 409)
    for (const id of ['main', '1', 'put%2FTaken.md', '%00', `${NOBODY}0`]) {
      assert.match((await notes.put(id, { title: 'x' }, 422)).body.detail, /entity_id|UUID/)
    }
    assert.equal((await notes.get(taken.external_id)).version, 1)
    await notes.put(newId(), {}, 422)
    await notes.put(newId(), { title: 'x', content_type: 'text/html' }, 415)
    await notes.put(newId(), { title: 'x', content: '---\na: [\n---\n' }, 400)
    await notes.api.put(`/v2/${NOBODY}/knowledge/entities/${newId()}`, 404, { body: { title: 'x' } })
  })
})

describe('PUT /entities/{id} of a note that is there', () => {
  test('replaces it in place: the body goes, the ids, the permalink and the time of its making stay', async () => {
    const first = await notes.create({ title: 'Place', directory: 'a', content: '- [old] fact\n- uses [[Old]]' })
    const wish = { title: 'Place Two', directory: 'b', content: '- [new] fact' }
    const { body: note, headers } = await notes.put(first.external_id, wish, 200)
    assert.deepEqual(
      [note.external_id, note.id, note.permalink, note.created_at],
      [first.external_id, first.id, first.permalink, first.created_at],
    )
    assert.deepEqual([note.title, note.file_path, note.version], ['Place Two', 'b/Place Two.md', 2])
    assert.equal(bodyOf(note), '- [new] fact')
    assert.deepEqual(
      note.observations.map(({ category }) => category),
      ['new'],
    )
    assert.deepEqual(note.relations, [])
    assert.equal(headers.get('etag'), `"${note.checksum}"`)
    assert.ok(note.updated_at > first.updated_at)
    for (const identifier of ['Place', 'a/Place.md', 'main/a/place', 'Place Two']) {
      const { body } = await notes.api.post(`${notes.base}/resolve`, 200, { body: { identifier, strict: true } })
      assert.equal(body.external_id, first.external_id, identifier)
    }
  })

  test('keeps frontmatter that the request does not mention, byte for byte, and null takes a key away', async () => {
    const content = '---\nstatus: draft # not yet\nowner: ada\nrating: 3\n---\nold'
    const { external_id: id } = await notes.create({ title: 'Kept', content })
    const sent = { title: 'Kept', content: '---\nowner: bob\n---\nnew', entity_metadata: { added: [1] } }
    const { body: second } = await notes.put(id, sent, 200)
    const { title: _title, type: _type, permalink: _permalink, ...rest } = second.entity_metadata
    assert.deepEqual(rest, { status: 'draft', owner: 'bob', rating: 3, added: [1] })
    const { body: third } = await notes.put(
      id,
      { title: 'Kept', content: 'newer', entity_metadata: { status: null, title: null, type: null, permalink: null } },
      200,
    )
    assert.ok(!('status' in third.entity_metadata))
    assert.ok(!headOf(third).includes('status'))
    assert.deepEqual([third.entity_metadata.owner, third.title, third.note_type], ['bob', 'Kept', 'note'])
    assert.equal(third.permalink, second.permalink)
  })

  test('keys that are new stand in the order in which they are sent, with a value or without', async () => {
    const { external_id: id } = await notes.create({ title: 'Ordered', content: '---\nkept: 1\n---\n' })
    const content = '---\nstatus:\nowner: ada\ndue:\ntags: [a]\n---\n'
    const { body } = await notes.put(id, { title: 'Ordered', content, entity_metadata: { kept: null, last: 1 } }, 200)
    assert.ok(headOf(body).endsWith('\nstatus: null\nowner: ada\ndue: null\ntags:\n- a\nlast: 1\n'), headOf(body))
  })

  test('keys without a value are set, kept and taken away like others', async () => {
    const { external_id: id } = await notes.create({
      title: 'Empty keys',
      content: '---\nstatus: draft\ndue:\n---\n',
    })
    const put = async (content: string, entity_metadata = {}) =>
      (await notes.put(id, { title: 'Empty keys', content, entity_metadata }, 200)).body
    const emptied = await put('---\nstatus:\nowner:\n---\nnew')
    assert.ok(headOf(emptied).endsWith('\nstatus: null\ndue: null\nowner: null\n'), headOf(emptied))
    assert.ok(!('status' in emptied.entity_metadata))
    const again = await put('---\nowner: ~\nstatus:\n---\nnew')
    assert.deepEqual([again.version, again.content], [emptied.version, emptied.content])
    const filled = await put('new', { owner: 'ada', due: null })
    assert.ok(headOf(filled).endsWith('\nstatus: null\nowner: ada\n'), headOf(filled))
    const { body: edited } = await notes.patch(
      id,
      { operation: 'append', content: '', metadata: { status: null } },
      200,
    )
    assert.ok(!headOf(edited).includes('status'))
  })

  test('keeps the zeros at the end of a decimal, as a create does', async () => {
    const text = (python: string) => `---\npython: ${python} # used\nlist: [1.50]\ntags: [2.0]\n---\nbody`
    const wish = { title: 'Decimals', content: text('3.10') }
    const made = await notes.create(wish)
    const kept = 'python: 3.10\nlist:\n- 1.50\ntags:\n- '
    assert.ok(headOf(made).includes(`${kept}'2.0'\n`), made.content)
    const { python, list, tags } = made.entity_metadata as Record<string, unknown>
    assert.deepEqual([python, list, tags], [3.1, [1.5], ['2.0']])
    assert.equal((await notes.put(made.external_id, wish, 200)).body.version, 1)
    const other = (await notes.put(made.external_id, { ...wish, content: text('3.20') }, 200)).body
    assert.ok(headOf(other).includes(kept.replace('3.10', '3.20')), other.content)
    // The same number, spelled in another way, is another text.
    const short = (await notes.put(made.external_id, { ...wish, content: text('3.200') }, 200)).body
    assert.deepEqual([short.version, headOf(short).includes('python: 3.200\n')], [3, true])
    const bodyOnly = (await notes.put(made.external_id, { title: 'Decimals', content: 'new' }, 200)).body
    assert.equal(headOf(bodyOnly), headOf(short))
  })

  test('keeps the type unless the request says one', async () => {
    const { external_id: id } = await notes.create({ title: 'Typed', note_type: 'person' })
    assert.equal((await notes.put(id, { title: 'Typed', content: 'x' }, 200)).body.note_type, 'person')
    assert.equal((await notes.put(id, { title: 'Typed', note_type: 'Some Place' }, 200)).body.note_type, 'some_place')
    const typed = { title: 'Typed', content: '---\ntype: Own\n---\n', note_type: 'other' }
    assert.equal((await notes.put(id, typed, 200)).body.note_type, 'Own')
  })

  test('changes nothing at all when it says what is there already', async () => {
    const other = await notes.create({ title: 'First owner', content: '---\npermalink: wanted\n---\n' })
    const wish = {
      title: 'Identical',
      directory: 'same',
      content: '---\ntags: [b, a]\npermalink: wanted\n---\n\n# H\n\ntext\n',
      entity_metadata: { n: 1 },
    }
    const { external_id: id } = await notes.create(wish)
    const { body: first } = await notes.put(id, wish, 200)
    assert.equal(first.permalink, 'wanted-1')
    for (let time = 0; time < 3; time++) {
      const { body } = await notes.put(id, wish, 200)
      assert.deepEqual(body, first)
    }
    const { body } = await notes.api.get(`${notes.at(id)}/revisions`, 200)
    assert.equal(body.revisions.length, first.version)
    assert.equal((await notes.get(other.external_id)).permalink, 'wanted')
  })

  test('changes nothing at all when a text comes back as it was read, whatever blank lines are around it', async () => {
    const bodies = ['x', 'x\n', '\n\nx \n\n', '# H\r\n\r\n- [a] b [[C]]\r\n', '\n', '  ']
    for (const [number, content] of bodies.entries()) {
      const wish = { title: `Read and sent back ${number}`, directory: 'put' }
      const made = await notes.create({ ...wish, content, entity_metadata: { due: null, tags: ['t'] } })
      const { body } = await notes.put(made.external_id, { ...wish, content: made.content }, 200)
      assert.deepEqual(body, made, JSON.stringify(content))
      const changed = await notes.put(made.external_id, { ...wish, content: `${made.content}more\n\n` }, 200)
      assert.equal(
        bodyOf(changed.body),
        `${content.replace(/^\n+/, '')}more`,
        'another text has no blank lines around it',
      )
    }
  })

  test('may differ only in case from what it was, and never takes the path of another note', async () => {
    const note = await notes.create({ title: 'case', directory: 'letters' })
    const { body } = await notes.put(note.external_id, { title: 'CASE', directory: 'Letters' }, 200)
    assert.deepEqual([body.file_path, body.external_id], ['Letters/CASE.md', note.external_id])
    const other = await notes.create({ title: 'Other', directory: 'letters', content: 'stays' })
    for (const title of ['Other', 'other', 'OTHER']) {
      await notes.put(note.external_id, { title, directory: 'letters', content: 'lost' }, 409)
    }
    assert.deepEqual(await notes.get(note.external_id), body)
    assert.deepEqual(await notes.get(other.external_id), other)
  })

  test('takes over a permalink that the text gives, suffixed where another has it', async () => {
    await notes.create({ title: 'Holder', content: '---\npermalink: held\n---\n' })
    const { external_id: id } = await notes.create({ title: 'Wants' })
    const put = async (content: string) => (await notes.put(id, { title: 'Wants', content }, 200)).body.permalink
    assert.equal(await put('---\npermalink: free\n---\n'), 'free')
    assert.equal(await put('---\npermalink: held\n---\n'), 'held-1')
    assert.equal(await put('body alone'), 'held-1')
    const { body } = await notes.api.post(`${notes.base}/resolve`, 200, { body: { identifier: 'free', strict: true } })
    assert.equal(body.external_id, id)
  })

  test('leaves the note as it was when it fails', async () => {
    const note = await notes.create({ title: 'Stays', content: 'text' })
    await notes.put(note.external_id, { title: 'Stays', content: '---\n- a\n---\n' }, 400)
    await notes.put(note.external_id, { title: 'Stays', directory: '../up' }, 400)
    await notes.put(note.external_id, { title: '' }, 422)
    await notes.put(note.external_id, { title: 'Stays', content: '---\nmodified: soon\n---\n' }, 400)
    await notes.put(note.external_id, { title: 'Stays', content: 'x'.repeat(2_000_001) }, 413)
    assert.deepEqual(await notes.get(note.external_id), note)
  })
})

describe('preconditions', () => {
  let note: WireNote
  before(async () => {
    note = await notes.create({ title: 'Guarded', content: 'one' })
  })
  const wish = () => ({ title: 'Guarded', content: `changed ${newId()}` })

  test('If-Match lets only those write who know the current version', async () => {
    const stale = { 'if-match': `"${OLD}"` }
    const { external_id: id } = note
    const { body, headers } = await notes.put(id, wish(), 412, stale)
    assert.match(body.detail, /If-Match/)
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
    await notes.patch(id, { operation: 'append', content: 'x' }, 412, stale)
    await notes.move(id, 'elsewhere.md', 412, {}, stale)
    await notes.api.delete(notes.at(id), 412, { headers: stale })
    await notes.put(newId(), { title: 'New one' }, 412, { 'if-match': '*' })
    const weak = { 'if-match': `W/"${note.checksum}"` }
    await notes.put(id, wish(), 412, weak)
    await notes.patch(id, { operation: 'append', content: 'x' }, 412, weak)
    await notes.move(id, 'elsewhere.md', 412, {}, weak)
    assert.deepEqual(await notes.get(id), note)
    await notes.get(id, 304, { headers: { 'if-none-match': weak['if-match'] } })
    const current = { 'if-match': `"${OLD}", "${note.checksum}"` }
    const { body: changed } = await notes.put(id, wish(), 200, current)
    await notes.put(id, wish(), 412, current)
    const patched = await notes.patch(id, { operation: 'append', content: 'x' }, 200, {
      'if-match': `"${changed.checksum}"`,
    })
    note = (await notes.move(id, 'guarded/it.md', 200, {}, { 'if-match': patched.headers.get('etag') as string })).body
    await notes.put(id, { title: 'Guarded' }, 200, { 'if-match': '*' })
    note = await notes.get(id)
  })

  test('If-None-Match: * writes only what is not there yet', async () => {
    const none = { 'if-none-match': '*' }
    await notes.put(note.external_id, wish(), 412, none)
    assert.deepEqual(await notes.get(note.external_id), note)
    await notes.put(newId(), { title: 'Not there yet' }, 201, none)
  })

  test('If-None-Match with tags writes only what is none of these', async () => {
    const id = newId()
    const { body } = await notes.put(id, { title: 'One of them', content: 'first' }, 201, {
      'if-none-match': `"${OLD}"`,
    })
    for (const tag of [`"${body.checksum}"`, `W/"${body.checksum}"`, `"${OLD}", "${body.checksum}"`]) {
      await notes.put(id, { title: 'One of them', content: 'second' }, 412, { 'if-none-match': tag })
    }
    assert.equal((await notes.get(id)).checksum, body.checksum)
    await notes.put(id, { title: 'One of them', content: 'second' }, 200, { 'if-none-match': `"${OLD}"` })
  })

  test('If-None-Match without a tag is refused, and nothing is written', async () => {
    const { external_id: id, checksum } = await notes.create({ title: 'Unguarded', content: 'one' })
    for (const value of ['', checksum]) {
      const headers = { 'If-None-Match': value }
      for (const { body } of [
        await notes.put(id, wish(), 400, headers),
        await notes.patch(id, { operation: 'append', content: 'x' }, 400, headers),
        await notes.move(id, 'elsewhere.md', 400, {}, headers),
        await notes.api.delete(notes.at(id), 400, { headers }),
      ]) {
        assert.match(body.detail, /^If-None-Match has no tag: .* with its quotes/)
      }
    }
    const { checksum: now } = await notes.get(id, 200, { headers: { 'If-None-Match': checksum } })
    assert.equal(now, checksum)
  })

  test('x-bm-cloud-note-base-checksum: stale is 409 with the checksum that is stored, and nothing comes to life again', async () => {
    const header = 'x-bm-cloud-note-base-checksum'
    const { body } = await notes.put(note.external_id, wish(), 409, { [header]: OLD })
    assert.equal(typeof body.detail, 'string')
    assert.equal(body.db_checksum, note.checksum)
    const { body: changed } = await notes.put(note.external_id, wish(), 200, { [header]: note.checksum })
    assert.notEqual(changed.checksum, note.checksum)
    await notes.delete(note.external_id)
    const { body: gone } = await notes.put(note.external_id, wish(), 409, { [header]: changed.checksum })
    assert.deepEqual([typeof gone.detail, gone.db_checksum], ['string', null])
    await notes.get(note.external_id, 404)
  })
})
