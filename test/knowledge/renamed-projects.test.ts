import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachServer } from './each-server.ts'
import type { NotesApi, WireNote } from './notes-api.ts'

eachServer('notes of a project that has another name by now', (server) => {
  const rename = (notes: NotesApi, name: string) =>
    notes.api.patch(`/v2/projects/${notes.projectId}`, 200, { body: { name } })

  const resolved = async (notes: NotesApi, identifier: string, status = 200) =>
    (await notes.api.post(`${notes.base}/resolve`, status, { body: { identifier, strict: true } })).body.external_id

  const search = async (notes: NotesApi, question: object) => {
    const body = { ...question, entity_types: ['entity'] }
    const { results } = (await notes.api.post(`/v2/${notes.projectId}/search/`, 200, { body })).body
    return results.map((result: { file_path: string }) => result.file_path)
  }

  const context = async (notes: NotesApi, address: string): Promise<string[]> => {
    const { results } = (await notes.api.get(`/v2/${notes.projectId}/memory/${address}`, 200)).body
    return results.map((result: { primary_result: { file_path: string } }) => result.primary_result.file_path)
  }

  const reached = async (notes: NotesApi, { external_id: id }: WireNote) =>
    (await notes.get(id)).relations
      .filter(({ direction }) => direction === 'outgoing')
      .map(({ to_external_id }) => to_external_id)

  /** One note from the time of each of the names, the first at another place by now. */
  async function renamedTwice(server: NotesApi, name: string) {
    const notes = await server.project(`${name} first`)
    const first = await notes.create({ title: 'Brewing', directory: 'coffee', content: '- [step] grind' })
    await notes.move(first.external_id, 'archive/1.md', 200)
    await rename(notes, `${name} second`)
    const second = await notes.create({ title: 'Roasting', directory: 'coffee', content: 'text' })
    await rename(notes, `${name} third`)
    const third = await notes.create({ title: 'Tasting', directory: 'coffee', content: 'text' })
    assert.deepEqual(
      [(await notes.get(first.external_id)).permalink, second.permalink, third.permalink],
      [`${name}-first/coffee/brewing`, `${name}-second/coffee/roasting`, `${name}-third/coffee/tasting`],
    )
    return { notes, first, second, third }
  }

  test('are found by patterns and permalinks that leave the name out, whichever it was', async () => {
    const { notes } = await renamedTwice(server(), 'patterns')
    const all = ['archive/1.md', 'coffee/Roasting.md', 'coffee/Tasting.md']
    assert.deepEqual((await search(notes, { permalink_match: 'coffee/*' })).toSorted(), all)
    assert.deepEqual((await context(notes, 'coffee/*')).toSorted(), all)
    assert.deepEqual(await search(notes, { permalink_match: 'patterns-first/*' }), ['archive/1.md'])
    assert.deepEqual(await search(notes, { permalink: 'coffee/brewing' }), ['archive/1.md'])
    assert.deepEqual(await context(notes, 'coffee/brewing'), ['archive/1.md'])
    const parts = await notes.api.get(`/v2/${notes.projectId}/memory/coffee/brewing/observations/step/grind`, 200)
    assert.equal(parts.body.results[0].primary_result.category, 'step')
  })

  test('are meant by links with its name or without, also when the linking note is edited later', async () => {
    const { notes, first, second, third } = await renamedTwice(server(), 'links')
    const links = ['coffee/brewing', 'links-first/Brewing', 'links second/Roasting', 'Links First/Tasting']
    const linking = await notes.create({
      title: 'Linking',
      content: links.map((link, at) => `- r${at} [[${link}]]`).join('\n'),
    })
    const meant = [first, first, second, third].map((note) => note.external_id)
    assert.deepEqual(await reached(notes, linking), meant)
    for (const [at, link] of links.entries()) assert.equal(await resolved(notes, link), meant[at], link)
    await rename(notes, 'links fourth')
    await notes.patch(linking.external_id, { operation: 'append', content: 'one more line' }, 200)
    assert.deepEqual(await reached(notes, linking), meant)
  })

  test('are waited for under each of its names', async () => {
    const { notes, first } = await renamedTwice(server(), 'waiting')
    await notes.delete(first.external_id)
    const links = ['coffee/brewing', 'waiting-first/Brewing', 'waiting-second/Brewing']
    const linking = await notes.create({
      title: 'Linking',
      content: links.map((link, at) => `- r${at} [[${link}]]`).join('\n'),
    })
    assert.deepEqual(await reached(notes, linking), [null, null, null])
    await notes.api.post(`${notes.base}/trash/${first.external_id}/restore`, 200, { body: {} })
    assert.deepEqual(
      await reached(notes, linking),
      links.map(() => first.external_id),
    )
  })

  test('are found after it has its first name back, and after it was restored under another', async () => {
    const { notes } = await renamedTwice(server(), 'back')
    const all = ['archive/1.md', 'coffee/Roasting.md', 'coffee/Tasting.md']
    await rename(notes, 'back first')
    assert.deepEqual((await search(notes, { permalink_match: 'coffee/*' })).toSorted(), all)
    await notes.api.delete(`/v2/projects/${notes.projectId}`, 200)
    const path = `/v2/projects/${notes.projectId}/restore`
    await notes.api.post(path, 200, { body: { name: 'back again' } })
    assert.deepEqual((await search(notes, { permalink_match: 'coffee/*' })).toSorted(), all)
  })

  test('are reached by links of other projects that call it as before, until another project is called so', async () => {
    const { notes, first } = await renamedTwice(server(), 'linked')
    const from = await server().project('linked from')
    const follow = async (identifier: string, status: 200 | 404) =>
      (await from.api.post(`${from.base}/links/resolve`, status, { body: { identifier } })).body
    for (const name of ['linked-first', 'Linked Second', 'linked third']) {
      const { external_id, target_project_external_id } = await follow(`[[${name}::Brewing|x]]`, 200)
      assert.deepEqual([external_id, target_project_external_id], [first.external_id, notes.projectId], name)
    }
    const { body } = await from.api.post(`${from.base}/resolve`, 400, { body: { identifier: 'linked first::Brewing' } })
    assert.match(body.detail, /of the project 'linked third'/)
    await from.api.post(`${from.base}/resolve`, 404, { body: { identifier: 'linked first/Brewing' } })
    await follow('linked::Brewing', 404)
    const other = await server().project('linked second')
    await follow('linked second::Brewing', 404)
    await rename(other, 'linked otherwise')
    await follow('linked second::Brewing', 404)
  })

  test('stay apart from those of a project that took its former name', async () => {
    const { notes, first } = await renamedTwice(server(), 'taken')
    const other = await server().project('taken first')
    const theirs = await other.create({ title: 'Brewing', directory: 'coffee', content: 'text' })
    assert.equal(await resolved(notes, 'taken-first/coffee/brewing'), first.external_id)
    assert.equal(await resolved(other, 'taken-first/coffee/brewing'), theirs.external_id)
    assert.deepEqual(await search(other, { permalink_match: 'coffee/*' }), ['coffee/Brewing.md'])
  })
})
