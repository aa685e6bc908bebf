import type { Micros } from '../../platform/clock/clock.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import type { ModelName } from './open-provider.ts'
import './tables.ts'

/** The number under which vectors of the model are stored. */
export async function requireModelId(db: Database, model: ModelName, now: Micros): Promise<number> {
  const { provider, name, version, dimensions } = model
  const known = await findModelId(db, model)
  if (known !== undefined) return known
  await db.write((tx) =>
    tx.query
      .insertInto('embedding_models')
      .values({ provider, name, version, dimensions, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
  return (await findModelId(db, model)) as number
}

async function findModelId(reader: Reader, model: ModelName): Promise<number | undefined> {
  const row = await reader.query
    .selectFrom('embedding_models')
    .select('id')
    .where('provider', '=', model.provider)
    .where('name', '=', model.name)
    .where('version', '=', model.version)
    .where('dimensions', '=', model.dimensions)
    .executeTakeFirst()
  return row?.id
}

export interface CompletedModel extends ModelName {
  id: number
}

/** Models that have had all notes of the project. */
export async function completedModels(reader: Reader, projectId: number): Promise<CompletedModel[]> {
  const rows = await reader.query
    .selectFrom('project_embeddings as e')
    .innerJoin('embedding_models as m', 'm.id', 'e.model_id')
    .select(['m.id', 'm.provider', 'm.name', 'm.version', 'm.dimensions'])
    .where('e.project_id', '=', projectId)
    .where('e.completed_at', 'is not', null)
    .orderBy('m.id')
    .execute()
  return rows as CompletedModel[]
}
