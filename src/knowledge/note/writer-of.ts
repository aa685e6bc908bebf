import type { FastifyRequest } from 'fastify'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import type { Writer } from './write-transaction.ts'

export function writerOf(request: FastifyRequest): Writer {
  return { principal: callerOf(request), client: clientOf(request) }
}
