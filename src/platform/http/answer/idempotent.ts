/** `Idempotency-Key` on an operation: its answer is kept, and a repeat of the request gets that one again. */
import { hash } from 'node:crypto'
import type {
  FastifyReply,
  FastifyRequest,
  onErrorHookHandler,
  onSendHookHandler,
  preHandlerHookHandler,
} from 'fastify'
import type { Principal } from '../../auth/principal.ts'
import { ERROR_CODES } from '../../errors/codes.ts'
import { blankSecrets } from '../../idempotency/blank-secrets.ts'
import { type Answer, type Claim, type Idempotency, subjectOf } from '../../idempotency/idempotency.ts'
import { parseBareId, parseId } from '../../ids/uuid.ts'
import type { Transaction } from '../../storage/database.ts'
import { toAppError } from '../failure/to-app-error.ts'
import type { Idempotent } from '../operation-options.ts'
import type { HttpPlatform } from '../platform.ts'
import { pathOf, type Surface } from '../surface.ts'
import { JSON_TYPE } from './send-hook.ts'

interface Pending {
  idempotency: Idempotency
  claim: Claim
  /** As it was renewed last: its own, too, where that was committed and nobody was told so. */
  renewed: Claim
  /** What an earlier process had done under the key. */
  done: string | null
  /** The next try may have another answer. */
  isPassing: boolean
  /** What was asked for is committed, and the key knows it. */
  isDone: boolean
}

const pending = new WeakMap<FastifyRequest, Pending>()

const KEPT_HEADERS = ['location', 'etag']
const LONGEST_PATH = 300

export interface IdempotentHooks {
  preHandler: preHandlerHookHandler
  onError: onErrorHookHandler
  onSend: onSendHookHandler<unknown>
}

export function idempotentHooks(
  platform: HttpPlatform,
  surface: Surface,
  { blank = [], isCallersOwn, remake }: Idempotent,
): IdempotentHooks | undefined {
  const { idempotency, log } = platform
  if (idempotency === undefined) return undefined

  /** Of the answer as it leaves: what it becomes does not matter to a second try. */
  function settling({ claim, renewed, isPassing, isDone }: Pending, reply: FastifyReply, payload: unknown) {
    const status = reply.statusCode
    if (status >= 500 || isPassing || typeof payload !== 'string') {
      return async () => {
        if (isDone) return
        for (const own of new Set([claim, renewed])) await idempotency?.release(own)
      }
    }
    const answer = { status, headers: keptHeaders(reply), body: isCallersOwn ? payload : blankSecrets(payload, blank) }
    return async () => idempotency?.keep(claim, answer)
  }

  return {
    /** After the body was judged: a malformed request is answered the same every time, and keeps no key. */
    preHandler(request, reply, done) {
      const key = request.headers['idempotency-key']
      if (key === undefined || request.principal === null) return done()
      const place = { subject: subjectFor(request.principal), route: routeOf(request, surface), key: String(key) }
      const keyed = { ...place, content: contentOf(request) }
      idempotency.begin(keyed, remake && ((kept) => remake(request, kept))).then((verdict) => {
        if (verdict.kind === 'first') {
          const { claim, done: before } = verdict
          const state = { done: before, isPassing: false, isDone: false }
          pending.set(request, { idempotency, claim, renewed: claim, ...state })
          done()
        } else replay(reply, verdict.answer)
      }, done)
    },

    onError(request, _reply, error, done) {
      const one = pending.get(request)
      if (one !== undefined) one.isPassing = ERROR_CODES[toAppError(error, surface).code].retryable
      done()
    },

    onSend(request, reply, payload, done) {
      const one = pending.get(request)
      if (one === undefined) return done(null, payload)
      pending.delete(request)
      const settle = settling(one, reply, payload ?? '')
      void settle()
        .catch((error: unknown) => {
          // What was asked for has happened, or not: the caller is told.
          log.warn({ err: error, request: request.id }, 'an answer could not be kept for its Idempotency-Key')
          void idempotency.insist(settle)
        })
        .then(() => done(null, payload))
    },
  }
}

/**
 * To be called in the transaction that does what was asked for, by an operation with `remake`: a repeat is answered even when this
 * process dies before it has answered. Without a key it does nothing.
 */
export function keepDone(tx: Transaction, request: FastifyRequest, answer: Omit<Answer, 'body'>): Promise<void> {
  return doneIn(tx, request, ({ idempotency, claim }) => idempotency.keepDone(tx, claim, answer))
}

/** The same by an operation that knows its whole answer by then: that one is given again. Without a key it is not asked for it. */
export function keepAnswerIn(
  tx: Transaction,
  request: FastifyRequest,
  answer: () => Promise<Answer> | Answer,
): Promise<void> {
  return doneIn(tx, request, async ({ idempotency, claim }) => idempotency.keepIn(tx, claim, await answer()))
}

async function doneIn(tx: Transaction, request: FastifyRequest, keep: (one: Pending) => Promise<void>): Promise<void> {
  const one = pending.get(request)
  if (one === undefined) return
  await keep(one)
  tx.afterCommit(() => {
    one.isDone = true
  })
}

/**
 * To be called at the end of each of several transactions, with all that is done by then: the key stays the request's own for another
 * while, what another request has begun to do in its place is not done twice, and a repeat after a crash learns of it by `doneBefore`.
 */
export async function renewClaim(tx: Transaction, request: FastifyRequest, done: () => string): Promise<void> {
  const one = pending.get(request)
  if (one === undefined) return
  const claim = await one.idempotency.renew(tx, one.claim, done())
  one.renewed = claim
  tx.afterCommit(() => {
    one.claim = claim
  })
}

/** Whether a repeat of the request would be known as one. */
export function hasKey(request: FastifyRequest): boolean {
  return pending.has(request)
}

/** What the same request had done when its process died, or storage was away, as `renewClaim` was told it. */
export function doneBefore(request: FastifyRequest): string | null {
  return pending.get(request)?.done ?? null
}

function replay(reply: FastifyReply, { status, headers, body }: Answer): void {
  reply.code(status).headers(headers).header('idempotent-replayed', 'true')
  if (body === '') reply.send()
  else reply.header('content-type', JSON_TYPE).send(body)
}

function subjectFor({ userId, kind }: Principal): string {
  return userId === null ? kind : subjectOf(userId)
}

/** An operation has one path here, however many it is reached by, and however its ids are written. */
function routeOf({ method, raw, params, routeOptions }: FastifyRequest, surface: Surface): string {
  const url = routeOptions.config.operation?.url
  const path = url === undefined ? pathOf(raw.url ?? '/') : filledIn(url, params as Record<string, string>, surface)
  return `${method} ${path.length > LONGEST_PATH ? hash('sha256', path) : path}`
}

function filledIn(url: string, params: Record<string, string>, surface: Surface): string {
  return url.replaceAll(/:(\w+)|\*$/g, (part, name = part) => spelled(params[name] ?? '', surface))
}

/** Only knowledge forgives missing hyphens: elsewhere such an id is another one, which nobody has. */
function spelled(param: string, surface: Surface): string {
  return (surface === 'knowledge' ? parseBareId(param) : parseId(param)) ?? encodeURIComponent(param)
}

function contentOf({ raw, body }: FastifyRequest): string {
  const url = raw.url ?? ''
  return JSON.stringify([url.slice(pathOf(url).length), body ?? null])
}

function keptHeaders(reply: FastifyReply): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of KEPT_HEADERS) {
    const value = reply.getHeader(name)
    if (typeof value === 'string') headers[name] = value
  }
  return headers
}
