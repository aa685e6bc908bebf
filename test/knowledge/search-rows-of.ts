import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { rowLists } from '../../src/knowledge/search/index/row-lists.ts'
import { searchRows } from '../../src/knowledge/search/index/search-rows.ts'
import { rowRange } from '../../src/knowledge/search/row-number.ts'
import { parseBody } from '../../src/knowledge/text/body/parse-body.ts'
import { splitText } from '../../src/knowledge/text/frontmatter/frontmatter.ts'
import type { Reader } from '../../src/platform/storage/database.ts'

/**
 * PostgreSQL's index of words has of each note of the project what it would have if all of it were written anew. SQLite's is a file of
 * its own, which follows by itself.
 */
export async function assertSearchRows(reader: Reader, projectId: number): Promise<void> {
  if (reader.engine === 'sqlite') return
  const notes = await reader.query
    .selectFrom('notes')
    .innerJoin('note_contents', 'note_contents.note_id', 'notes.id')
    .selectAll('notes')
    .select('note_contents.content')
    .where('project_id', '=', projectId)
    .execute()
  for (const note of notes) {
    const { body } = splitText(note.content)
    const text = { body, parsed: parseBody(body), metadata: JSON.parse(note.metadata) }
    const lists: string[] = []
    for await (const list of rowLists(searchRows(note, text), async () => {})) lists.push(list.toString())
    const { first, last } = rowRange(note.id)
    const { rows } = await sql`
      with expected as (
        select (value ->> 0)::bigint as id, (value ->> 1)::tsvector as document, decode(value ->> 2, 'base64') as words
        from json_array_elements(${`[${lists.join(',')}]`}::json) as lists (list), json_array_elements(list) as rows (value)
      ), stored as (select * from note_search where id between ${first} and ${last})
      select id, stored.document::text as stored, expected.document::text as expected
      from expected full join stored using (id)
      where stored.document is distinct from expected.document or stored.words is distinct from expected.words`.execute(
      reader.query,
    )
    assert.deepEqual(rows, [], note.file_path)
  }
}
