import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachServer } from './each-server.ts'
import { search, titles } from './search-api.ts'

eachServer('filters by frontmatter', (notes) => {
  test('the key type finds a type however it is spelled, as note_types does', async () => {
    const project = await notes().project('Types')
    await project.create({ title: 'In text', content: '---\ntype: Meeting Note\n---\n\nTalk.\n' })
    await project.create({ title: 'By request', content: 'Talk.', note_type: 'MeetingNote' })
    await project.create({ title: 'Other', content: 'Talk.' })
    const found = async (metadata: object, more: object = {}) =>
      titles(await search(project, { entity_types: ['entity'], metadata_filters: metadata, ...more })).toSorted()
    for (const type of ['Meeting Note', 'meeting_note', 'MeetingNote', ['meeting-note'], { $in: ['meetingNote'] }]) {
      const all = [
        await found({ type }),
        await found({ type }, { text: 'talk' }),
        await found({ type }, { after_date: '7d' }),
        await found({ type, title: { $gt: '' } }),
      ]
      for (const some of all) assert.deepEqual(some, ['By request', 'In text'], JSON.stringify(type))
    }
    assert.deepEqual(await found({ type: 'note' }), ['Other'])
    assert.deepEqual(await found({ type: ['note', 'meeting_note'] }), [])
  })

  test('a type is the same in every Unicode form, also for the graph and in the figures of a project', async () => {
    const project = await notes().project('Forms of types')
    // The last one is what keyboards of Vietnamese on Windows make of it.
    const forms = ['Mườn', 'Mườn'.normalize('NFD'), 'M\u01b0\u01a1\u0300n']
    assert.equal(new Set(forms).size, 3)
    for (const [at, type] of forms.entries()) {
      await project.create({ title: `N${at}`, content: '[[N0]]', note_type: type })
      await project.create({ title: `T${at}`, content: `---\ntype: ${type}\n---\n\nText.\n` })
    }
    await project.create({ title: 'Other' })
    const base = `/v2/${project.projectId}/knowledge/graph?note_type=`
    for (const type of forms) {
      assert.equal((await search(project, { entity_types: ['entity'], note_types: [type] })).total, 6)
      const { body } = await project.api.get(base + encodeURIComponent(type), 200)
      assert.deepEqual([body.nodes.length, body.edges.length], [6, 3], escape(type))
    }
    const { body } = await project.api.get(`/v2/projects/${project.projectId}/info`, 200)
    assert.deepEqual(body.statistics.note_types, { mườn: 6, note: 1 })
  })

  test('values that are one number to JavaScript are told apart: long identifiers, and tags such as 3.10 and 3.1', async () => {
    const project = await notes().project('Identifiers')
    for (const [title, id, tag] of [
      ['One', '1234567890123456781', '3.1'],
      ['Ten', '1234567890123456782', '3.10'],
    ]) {
      await project.create({ title, content: `---\nid: ${id}\ntags: [release, "${tag}"]\n---\n\n- [fact] Out now.\n` })
    }
    const found = async (filters: object) => titles(await search(project, { entity_types: ['entity'], ...filters }))
    for (const more of [{}, { text: 'out' }]) {
      assert.deepEqual(await found({ ...more, metadata_filters: { id: '1234567890123456781' } }), ['One'])
      assert.deepEqual(await found({ ...more, metadata_filters: { id: { $in: ['1234567890123456782', 'x'] } } }), [
        'Ten',
      ])
      assert.deepEqual(await found({ ...more, metadata_filters: { id: ['1234567890123456783'] } }), [])
      assert.deepEqual(await found({ ...more, metadata_filters: { id: { $gt: '1234567890123456781' } } }), ['Ten'])
      assert.deepEqual(await found({ ...more, tags: ['3.1'] }), ['One'])
      assert.deepEqual(await found({ ...more, tags: ['3.10', 'release'] }), ['Ten'])
    }
    assert.deepEqual(await found({ text: 'tag:3.10' }), ['Ten'])
    assert.deepEqual(await found({ text: 'out NOT tag:3.10' }), ['One'])
    assert.deepEqual(await found({ text: 'NOT tag:3.1' }), ['Ten'])
    const { total, total_is_exact: isExact } = await search(project, { categories: ['fact'], tags: ['3.1'] })
    assert.deepEqual([total, isExact], [1, true])
  })

  test('a number that JavaScript would round is kept as it was sent, and found by it', async () => {
    const project = await notes().project('Numbers')
    const headers = { 'content-type': 'application/json' }
    for (const id of ['1234567890123456781', '1234567890123456782']) {
      const wish = `{"title": "Of ${id}", "directory": "", "content": "x", "entity_metadata": {"id": ${id}}}`
      const { body } = await project.post(wish, 201, { headers })
      assert.deepEqual([body.entity_metadata.id, /^id: (.*)$/m.exec(body.content)?.[1]], [id, `'${id}'`])
      const again = await project.put(body.external_id, { title: body.title, content: body.content }, 200)
      assert.equal(again.body.version, 1)
    }
    const asked = '{"entity_types": ["entity"], "metadata_filters": {"id": 1234567890123456782}}'
    const { body } = await project.api.post(`/v2/${project.projectId}/search/`, 200, { body: asked, headers })
    assert.deepEqual(titles(body), ['Of 1234567890123456782'])
  })
})
