import type { FastifyRequest } from 'fastify'
import { keepAnswerIn } from '../../platform/http/answer/idempotent.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { withSecret } from './schema-keys.ts'

/**
 * So that a repeat makes no second one, though nobody was told of the first. Its secret is kept nowhere: whoever was not told
 * of it sees which key it is, and makes another one in its place.
 */
export function keepMadeKey<Key>(request: FastifyRequest, toWire: (key: Key) => { attributes: object }) {
  return (tx: Transaction, key: Key): Promise<void> =>
    keepAnswerIn(tx, request, () => {
      const body = JSON.stringify({ data: withSecret(toWire(key), '') })
      return { status: 201, headers: {}, body }
    })
}
