import type { Micros } from '../../platform/clock/clock.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import type { ConfiguredModel, ModelName } from './open-provider.ts'
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

/** The latest model of this kind that a project has had notes embedded by; what is null is not known and may be anything. */
export async function latestModel(
  reader: Reader,
  projectId: number,
  { provider, name, version, dimensions }: ConfiguredModel,
): Promise<{ id: number; dimensions: number } | undefined> {
  return reader.query
    .selectFrom('project_embeddings as e')
    .innerJoin('embedding_models as m', 'm.id', 'e.model_id')
    .select(['m.id', 'm.dimensions'])
    .where('e.project_id', '=', projectId)
    .where('m.provider', '=', provider)
    .where('m.name', '=', name)
    .$if(version !== null, (query) => query.where('m.version', '=', version))
    .$if(dimensions !== null, (query) => query.where('m.dimensions', '=', dimensions))
    .orderBy('m.id', 'desc')
    .limit(1)
    .executeTakeFirst()
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
