import { answeredList } from './answered-list.ts'
import { CallFailed } from './call-failed.ts'
import { unitVector } from './unit-vector.ts'

/** The vectors of an answer in the order of the texts, at length one. Throws for whatever is wrong with it. */
export function readEmbeddings(body: Uint8Array, count: number, who: string): Float32Array[] {
  const list = answeredList(body, 'data', 'vectors')
  if (typeof list === 'string') throw misunderstood(who, list)
  if (list.length !== count) throw misunderstood(who, `gave ${list.length} vectors for ${count} texts`)
  const vectors: (Float32Array | undefined)[] = Array.from({ length: count })
  for (const [at, item] of list.entries()) {
    const { index = at, embedding } = (item ?? {}) as { index?: unknown; embedding?: unknown }
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) {
      throw misunderstood(who, 'gave a vector for a text that it was not asked about')
    }
    if (vectors[index] !== undefined) throw misunderstood(who, 'gave two vectors for one text')
    vectors[index] = unitVector(numbersOf(embedding, who), who)
  }
  return vectors as Float32Array[]
}

/** Some services answer with base64 of 32-bit numbers whatever they are asked for. */
function numbersOf(embedding: unknown, who: string): ArrayLike<number> {
  if (Array.isArray(embedding) && embedding.length > 0) return embedding
  if (typeof embedding === 'string' && embedding !== '') {
    const bytes = Buffer.from(embedding, 'base64')
    if (bytes.length > 0 && bytes.length % 4 === 0) {
      return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(4 * at))
    }
  }
  throw misunderstood(who, 'gave something that is no vector')
}

function misunderstood(who: string, what: string): CallFailed {
  return new CallFailed(`${who} ${what}`, { isTransient: false, mayBeOfTexts: true })
}
