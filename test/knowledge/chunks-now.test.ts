import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunksNow } from '../../src/knowledge/search/meaning/chunks-now.ts'
import type { NearChunk } from '../../src/knowledge/semantic/search/near-chunk.ts'
import { eachDatabase } from '../support/each-database.ts'
import { createNote, openNotes, RunningSync } from './semantic-world.ts'

const COFFEE = '- [fact] coffee beans are roasted (in drums)\n'
const ROCKETS = `- [fact] ${'rockets fly to the moon '.repeat(60)}\n`
const LINKS = '- made_by [[Roaster]] (of old)\n- drunk_in [[Café|the café]]\n'

eachDatabase('parts of a note that are near in meaning', ({ open }) => {
  test('are shown where they stand, also while vectors have not followed a change of the note', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    const { external_id: noteId } = await createNote(world, 'Breakfast', `${COFFEE}${ROCKETS}${LINKS}`)
    await using running = new RunningSync(db)
    await running.sync.caughtUp(world.project.id)
    const modelId = await running.embeddings.modelId()
    await running.stop()
    const { id } = await db.query.selectFrom('notes').select('id').executeTakeFirstOrThrow()
    const near = (kind: NearChunk['kind'], position: number) => ({
      noteId: id,
      kind,
      position,
      number: 0,
      similarity: 0.5 - position / 10,
    })
    const [note, coffee, rockets] = [near('note', 0), near('observation', 0), near('observation', 1)]
    const [roaster, cafe] = [near('relation', 0), near('relation', 1)]
    const all = [note, coffee, rockets, roaster, cafe]
    const now = () => chunksNow(db, { projectId: world.project.id, modelId }, all)
    const edit = (operation: object) =>
      world.notes.edit(world.writer, { projectId: world.projectId, noteId }, operation as never, {})
    const replace = (from: string, content: string) =>
      edit({ operation: 'find_replace', find_text: from, content, expected_replacements: 1 })

    assert.equal(await now(), all, 'nothing is looked for where nothing changed')
    await edit({ operation: 'append', content: 'More.' })
    assert.deepEqual(await now(), all)
    await edit({ operation: 'prepend', content: '- [new] tea\n- hates [[Tea]]' })
    const moved = all.map((part) => (part.kind === 'note' ? part : { ...part, position: part.position + 1 }))
    assert.deepEqual(await now(), moved)
    await replace('- [new] tea\n- hates [[Tea]]\n', '')
    await replace(COFFEE, '')
    assert.deepEqual(await now(), [note, { ...rockets, position: 0 }, roaster, cafe])
    await replace('drunk_in', 'sold_in')
    assert.deepEqual(await now(), [note, { ...rockets, position: 0 }, roaster])
  })
})
