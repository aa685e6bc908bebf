import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { MAX_CONTENT } from '../../src/knowledge/note/note-input.ts'
import { bodyOf, NOBODY, NotesApi } from './notes-api.ts'

let notes: NotesApi
before(async () => {
  notes = await NotesApi.start()
})
after(() => notes.server.stop())

async function whoIs(identifier: string): Promise<string> {
  const { body } = await notes.api.post(`${notes.base}/resolve`, 200, { body: { identifier, strict: true } })
  return body.external_id
}

describe('PUT /entities/{id}/move', () => {
  test('changes the path and the version, and nothing else', async () => {
    const note = await notes.create({ title: 'Moving', directory: 'from', content: '- [a] fact\n- uses [[Moving]]' })
    const { body: moved, headers } = await notes.move(note.external_id, 'to/deep/Moved.md', 200)
    assert.deepEqual(
      { ...moved, updated_at: note.updated_at },
      { ...note, file_path: 'to/deep/Moved.md', version: note.version + 1 },
    )
    assert.ok(moved.updated_at > note.updated_at)
    assert.equal(headers.get('etag'), `"${note.checksum}"`)
    assert.deepEqual(await notes.get(note.external_id), moved)
    for (const name of ['from/Moving.md', 'main/from/moving', 'Moving', 'to/deep/Moved.md', 'to/deep/moved']) {
      assert.equal(await whoIs(name), note.external_id, name)
    }
    const paths = await notes.paths()
    assert.ok(paths.includes('to/deep/Moved.md') && !paths.includes('from/Moving.md'))
    const free = await notes.create({ title: 'Moving', directory: 'from' })
    assert.deepEqual([free.file_path, free.permalink], ['from/Moving.md', 'main/from/moving-1'])
  })

  test('is not hidden by a cache, which would ask by the tag that stays', async () => {
    const { external_id: id, checksum } = await notes.create({ title: 'Kept', directory: 'from' })
    await notes.move(id, 'to/Kept.md', 200)
    const { headers } = await notes.api.get(`${notes.base}/entities/${id}`, 200)
    assert.equal(headers.get('cache-control'), 'private, no-store')
    const own = { 'if-none-match': `"${checksum}"` }
    await notes.api.get(`${notes.base}/entities/${id}`, 304, { headers: own })
  })

  test('completes what the caller leaves out', async () => {
    const { external_id: id } = await notes.create({ title: 'Completed', directory: 'c' })
    const path = async (destination: string) => (await notes.move(id, destination, 200)).body.file_path
    assert.equal(await path('d/Without Type'), 'd/Without Type.md')
    assert.equal(await path('folder/'), 'folder/Without Type.md')
    assert.equal(await path('back\\slash\\'), 'back/slash/Without Type.md')
    assert.equal(await path('./a//./b.md'), 'a/b.md')
    assert.equal(await path('Version 2.0'), 'Version 2.0.md')
    assert.equal(await path('x/'), 'x/Version 2.0.md')
    assert.equal(await path('./'), 'Version 2.0.md')
  })

  test('a rename in case alone is allowed', async () => {
    const { external_id: id } = await notes.create({ title: 'lower', directory: 'cases' })
    assert.equal((await notes.move(id, 'cases/LOWER.md', 200)).body.file_path, 'cases/LOWER.md')
    assert.equal((await notes.move(id, 'Cases/lower.md', 200)).body.file_path, 'Cases/lower.md')
  })

  test('every failure is 400, says why, and changes nothing', async () => {
    const note = await notes.create({ title: 'Stuck', directory: 'm', content: 'x' })
    await notes.create({ title: 'There first', directory: 'm' })
    for (const [destination, words] of [
      ['m/There first.md', 'already exists'],
      ['m/there-first.md', 'already exists'],
      ['M/THERE FIRST', 'already exists'],
      ['m/Stuck.md', 'same'],
      ['m/Stuck', 'same'],
      ['m/', 'same'],
      ['../up.md', 'Invalid destination path'],
      ['a/../../b.md', 'Invalid destination path'],
      ['/absolute.md', 'Invalid destination path'],
      ['\\absolute.md', 'Invalid destination path'],
      ['\\\\server\\share.md', 'Invalid destination path'],
      ['C:\\x.md', 'Invalid destination path'],
      ['~/x.md', 'Invalid destination path'],
      ['a/.hidden.md', 'Invalid destination path'],
      ['a/CON.md', 'Invalid destination path'],
      ['a/x.pdf', 'Invalid destination path'],
      ['a/x\u0000.md', 'Invalid destination path'],
      ['a/x?.md', 'Invalid destination path'],
      ['   ', 'Invalid destination path'],
      [`${'x'.repeat(256)}.md`, 'Invalid destination path'],
    ] as const) {
      const { body } = await notes.move(note.external_id, destination, 400)
      assert.ok(body.detail.includes(words), `${destination}: ${body.detail}`)
    }
    assert.deepEqual(await notes.get(note.external_id), note)
  })

  test('refuses what is no request, and notes that are not there', async () => {
    const note = await notes.create({ title: 'Known', directory: 'm' })
    const url = `${notes.at(note.external_id)}/move`
    for (const body of [{}, { destination_path: '' }, { destination_path: 'x'.repeat(501) }, { destination_path: 1 }]) {
      const { body: answer } = await notes.api.put(url, 422, { body })
      assert.deepEqual(answer.errors[0].loc, ['body', 'destination_path'])
    }
    await notes.api.put(url, 422, { body: { destination_path: 'x', update_links: 'sometimes' } })
    const other = await notes.project('Outside')
    const there = await other.create({ title: 'There' })
    for (const id of [NOBODY, there.external_id, 'nonsense']) {
      assert.match((await notes.move(id, 'x.md', 404)).body.detail, /external_id.*not found/)
    }
    assert.equal((await other.get(there.external_id)).file_path, 'There.md')
  })

  test('edges stay on it, and a link relative to the new folder finds its target', async () => {
    const source = await notes.create({ title: 'Points', directory: 'e', content: '[[e/Pointed]] and [[sub/Near]]' })
    const target = await notes.create({ title: 'Pointed', directory: 'e' })
    const near = await notes.create({ title: 'Other title', directory: 'e2/sub' })
    await notes.move(near.external_id, 'e2/sub/Near.md', 200)
    await notes.move(target.external_id, 'far/Away.md', 200)
    const links = async () => (await notes.get(source.external_id)).relations.map(({ to_external_id: to }) => to)
    assert.deepEqual(await links(), [target.external_id, null])
    await notes.move(source.external_id, 'e2/Points.md', 200)
    assert.deepEqual(await links(), [target.external_id, near.external_id])
    await notes.patch(source.external_id, { operation: 'append', content: 'edited' }, 200)
    assert.deepEqual(await links(), [target.external_id, near.external_id], 'also by the name it had before')
  })

  test('update_links rewrites the texts that reach it only by a name it had', async () => {
    const target = await notes.create({ title: 'Renamed', directory: 'u' })
    const content = '[[u/Renamed|shown]] ![[u/Renamed#part]] [[Renamed]] `[[u/Renamed]]`\n'
    const linking = await notes.create({ title: 'Linking', directory: 'w', content })
    await notes.patch(
      target.external_id,
      { operation: 'find_replace', find_text: `permalink: ${target.permalink}`, content: 'permalink: own' },
      200,
    )
    const { body } = await notes.move(target.external_id, 'v/New name.md', 200, { update_links: true })
    const text = bodyOf(await notes.get(linking.external_id))
    assert.deepEqual(body.links_updated, [{ external_id: linking.external_id, file_path: 'w/Linking.md', count: 2 }])
    assert.match(text, /\|shown\]\] !\[\[[^\]]+#part\]\] \[\[Renamed\]\] `\[\[u\/Renamed\]\]`\n$/)
    assert.ok(!text.startsWith('[[u/Renamed|'))
    assert.ok(
      (await notes.get(linking.external_id)).relations.every(({ to_external_id: to }) => to === target.external_id),
    )
    assert.equal((await notes.move(target.external_id, 'x/Again.md', 200)).body.links_updated, undefined)
  })

  test('update_links writes no name that would end in code or a comment of the linking note', async () => {
    const target = await notes.create({ title: 'Coded', directory: 'q', content: '---\npermalink: own/coded\n---\n' })
    const content = '[[q/Coded]] and `code`, and [[q/Coded|shown]]\n'
    const linking = await notes.create({ title: 'Quotes code', directory: 'q2', content })
    const { body } = await notes.move(target.external_id, 'q3/one ` tick.md', 200, { update_links: true })
    assert.equal(Array.isArray(body.links_updated) && body.links_updated.length, 1)
    const { relations, ...note } = await notes.get(linking.external_id)
    assert.equal(bodyOf(note), '[[own/coded]] and `code`, and [[own/coded|shown]]\n')
    assert.equal(relations[0]?.to_external_id, target.external_id)
  })

  test('update_links leaves the links of a note that has no room for a longer name', async () => {
    const target = await notes.create({ title: 'Short', directory: 's', content: '---\npermalink: own/short\n---\n' })
    const small = await notes.create({ title: 'Small', directory: 's2', content: '[[s/Short]]' })
    const full = await notes.create({ title: 'Full', directory: 's2', content: '[[s/Short]] ' })
    const room = MAX_CONTENT - bodyOf(full).length
    await notes.patch(full.external_id, { operation: 'append', content: 'x'.repeat(room - 2) }, 200)
    const { body } = await notes.move(target.external_id, 'somewhere/far/away/Short.md', 200, { update_links: true })
    assert.deepEqual(body.links_updated, [{ external_id: small.external_id, file_path: 's2/Small.md', count: 1 }])
    const { content, relations } = await notes.get(full.external_id)
    assert.match(content, /\[\[s\/Short\]\]/)
    assert.equal(relations[0]?.to_external_id, target.external_id)
  })
})
