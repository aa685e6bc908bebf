import type { UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { readTallies } from '../../platform/tally/store.ts'
import '../tables.ts'
import { createdNotesTally } from './note-tally.ts'
import { allProjects, withNoteCounts } from './store-projects.ts'

/** Notes that exist, in all projects. */
export async function countNotes(reader: Reader): Promise<number> {
  const projects = await withNoteCounts(reader, await allProjects(reader))
  return projects.reduce((sum, { noteCount }) => sum + noteCount, 0)
}

/** By day (`YYYY-MM-DD`, UTC), whatever became of the notes since. */
export async function countCreatedNotes(reader: Reader, days: readonly string[]): Promise<Map<string, number>> {
  const tallies = await readTallies(reader, days.map(createdNotesTally))
  return new Map(days.map((day) => [day, tallies.get(createdNotesTally(day)) ?? 0]))
}

/** Notes that the user made and that still exist. */
export async function notesOf(
  reader: Reader,
  userId: UserId,
): Promise<{ count: number; lastCreatedAt: Micros | null }> {
  const row = await reader.query
    .selectFrom('notes')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.max('created_at').as('last')])
    .where('created_by', '=', userId)
    .where('project_id', 'in', (eb) => eb.selectFrom('projects').select('id').where('deleted_at', 'is', null))
    .executeTakeFirstOrThrow()
  return { count: Number(row.count), lastCreatedAt: row.last === null ? null : Number(row.last) }
}
