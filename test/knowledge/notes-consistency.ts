import assert from 'node:assert/strict'
import { namesOf } from '../../src/knowledge/link/names.ts'
import { readObservations } from '../../src/knowledge/note/store-observations.ts'
import { noteTally } from '../../src/knowledge/project/note-tally.ts'
import { NAME_KINDS } from '../../src/knowledge/tables.ts'
import { parseBody } from '../../src/knowledge/text/body/parse-body.ts'
import { splitText } from '../../src/knowledge/text/frontmatter/frontmatter.ts'
import { aliasesOf } from '../../src/knowledge/text/frontmatter/note-metadata.ts'
import { readTallies } from '../../src/platform/tally/store.ts'
import type { NotesWorld } from './notes-world.ts'
import { assertSearchRows } from './search-rows-of.ts'

/** Everything that is derived from the notes of a project is what their texts say, and nothing is left of others. */
export async function assertConsistent({ deps: { db }, project }: NotesWorld): Promise<void> {
  await db.read(async (snapshot) => {
    const notes = await snapshot.query
      .selectFrom('notes')
      .leftJoin('note_contents', 'note_contents.note_id', 'notes.id')
      .selectAll('notes')
      .select('note_contents.content')
      .where('project_id', '=', project.id)
      .execute()
    const relations = await snapshot.query
      .selectFrom('relations')
      .selectAll()
      .where('project_id', '=', project.id)
      .orderBy('from_id')
      .orderBy('position')
      .execute()
    const names = await snapshot.query
      .selectFrom('note_names')
      .selectAll()
      .where('project_id', '=', project.id)
      .execute()
    const known = new Set(notes.map(({ id }) => id))
    for (const { from_id: from, to_id: to } of relations) {
      assert.ok(known.has(from))
      assert.ok(to === null || known.has(to), 'a relation to a note that is gone')
    }
    assert.ok(
      names.every(({ note_id: id }) => known.has(id)),
      'a name of a note that is gone',
    )
    for (const note of notes) {
      const { body } = splitText(note.content ?? '')
      const parsed = parseBody(body)
      const own = relations.filter(({ from_id: from }) => from === note.id)
      assert.deepEqual(
        own.map(({ relation_type: type, to_name: name }) => ({ type, name })),
        parsed.links.map(({ type, name }) => ({ type, name })),
      )
      const edges = own.filter(({ to_id: to, is_repeat }) => to !== null && is_repeat === 0)
      assert.equal(new Set(edges.map(({ to_id: to, relation_type: type }) => `${to} ${type}`)).size, edges.length)
      const facts = await readObservations(snapshot, note.id)
      assert.deepEqual(
        facts.map(({ category, content }) => ({ category, content })),
        parsed.observations.map(({ category, content }) => ({ category, content })),
      )
      assert.deepEqual(
        names
          .filter(({ note_id: id, kind }) => id === note.id && kind <= NAME_KINDS.alias)
          .map(({ name_key: key, kind, value }) => `${kind} ${key} ${value}`)
          .sort(),
        namesOf(note, aliasesOf(JSON.parse(note.metadata)))
          .map(({ key, kind, value }) => `${kind} ${key} ${value}`)
          .sort(),
      )
    }
    const tally = noteTally(project.id)
    assert.equal((await readTallies(snapshot, [tally])).get(tally), notes.length)
    await assertSearchRows(snapshot, project.id)
  })
}
