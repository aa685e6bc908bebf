/** Whether notes are still what they were when they were found. */
import { sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { statement } from '../../../platform/storage/statement.ts'
import { lastChange, lastChangeOf } from '../../history/store-changes.ts'
import '../../tables.ts'

const unchanged = statement<{ projectId: number; since: number; ids: string }, { id: number }>(
  (_query, p, engine) => sql`
    select n.id from notes n ${lastChangeOf(engine)}
    where n.id in ${numbersIn(engine, p('ids'))} and +n.project_id = ${p('projectId')} and c.seq <= ${p('since')}`,
)

/** Whether all of these notes are there as they were at that change. */
export async function areUnchanged(
  reader: Reader,
  projectId: number,
  since: number,
  noteIds: ReadonlySet<number>,
): Promise<boolean> {
  if (noteIds.size === 0 || (await lastChange(reader, projectId)) === since) return true
  const rows = await reader.run(unchanged, { projectId, since, ids: JSON.stringify([...noteIds]) })
  return rows.length === noteIds.size
}
