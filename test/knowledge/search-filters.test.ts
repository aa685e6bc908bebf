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
