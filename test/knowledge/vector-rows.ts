/// <reference lib="esnext.float16" />
import { encodeVector } from '../../src/knowledge/semantic/vector-bytes.ts'
import type { Database } from '../../src/platform/storage/database.ts'

/** Vectors of one project and model, written as the sync of vectors does: all of a note at once, with the next number of change. */
export class VectorRows {
  readonly #db: Database
  readonly #projectId: number
  readonly #modelId: number

  constructor(db: Database, projectId = 1, modelId = 1) {
    this.#db = db
    this.#projectId = projectId
    this.#modelId = modelId
  }

  /** The vectors of each of these notes; none removes it. */
  async put(notes: ReadonlyMap<number, readonly Float32Array[]>): Promise<void> {
    const key = { project_id: this.#projectId, model_id: this.#modelId }
    await this.#db.write(
      async (tx) => {
        const { change_seq: seq } = await tx.query
          .insertInto('project_embeddings')
          .values({ ...key, change_seq: 1, completed_at: null, last_error: null, lease_owner: null })
          .onConflict((conflict) =>
            conflict
              .columns(['project_id', 'model_id'])
              .doUpdateSet((eb) => ({ change_seq: eb('project_embeddings.change_seq', '+', 1) })),
          )
          .returning('change_seq')
          .executeTakeFirstOrThrow()
        const fresh = [...notes].map(([note_id, { length }]) => ({
          ...key,
          note_id,
          seq,
          chunks: length,
          fingerprint: '',
        }))
        const vectors = [...notes].flatMap(([note_id, own]) =>
          own.map((vector, number) => ({
            ...key,
            ...PLACE,
            note_id,
            number,
            vector: Buffer.from(encodeVector(vector)),
          })),
        )
        for (const some of inHundreds(fresh)) {
          for (const table of ['note_vectors', 'note_embeddings'] as const) {
            await tx.query
              .deleteFrom(table)
              .where('project_id', '=', key.project_id)
              .where('model_id', '=', key.model_id)
              .where(
                'note_id',
                'in',
                some.map(({ note_id }) => note_id),
              )
              .execute()
          }
          await tx.query.insertInto('note_embeddings').values(some).execute()
        }
        for (const some of inHundreds(vectors)) await tx.query.insertInto('note_vectors').values(some).execute()
      },
      { alone: true },
    )
  }

  /** Takes everything away, as if the project had never had this model. */
  async forget(): Promise<void> {
    await this.#db.write(async (tx) => {
      for (const table of ['note_vectors', 'note_embeddings', 'project_embeddings'] as const) {
        await tx.query
          .deleteFrom(table)
          .where('project_id', '=', this.#projectId)
          .where('model_id', '=', this.#modelId)
          .execute()
      }
    })
  }
}

const PLACE = { kind: 0, position: 0, hash: '', start_at: 0, end_at: 0 }

function inHundreds<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / 100) }, (_, at) => items.slice(100 * at, 100 * at + 100))
}

/** Numbers that look random and are the same in every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Of length one, in a random direction. */
export function randomVector(dimensions: number, random: () => number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => random() + random() + random() - 1.5)
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

/** What a search has to answer: every vector as it is stored, compared with the question. */
export function nearestByForce(
  notes: ReadonlyMap<number, readonly Float32Array[]>,
  question: Float32Array,
): { noteId: number; number: number; similarity: number }[] {
  return [...notes]
    .flatMap(([noteId, vectors]) =>
      vectors.map((vector, number) => ({ noteId, number, similarity: cosineOf(question, stored(vector)) })),
    )
    .sort((one, other) => other.similarity - one.similarity)
}

function stored(vector: Float32Array): Float32Array {
  return vector.map(Math.f16round)
}

function cosineOf(one: Float32Array, other: Float32Array): number {
  let [product, squares] = [0, 0]
  for (const [i, value] of other.entries()) {
    product += value * (one[i] as number)
    squares += value * value
  }
  return squares === 0 ? 0 : product / Math.sqrt(squares)
}
