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
})
