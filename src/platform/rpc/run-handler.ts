/**
 * Runs a handler so that the caller gets an answer at the deadline even when the handler does not look at its signal,
 * and so that nothing but a mapped status leaves it.
 */
import type { DescMethod } from '@bufbuild/protobuf'
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect'
import { OLDEST_RIGHTS_MS } from '../auth/authenticator.ts'
import { AppError } from '../errors/app-error.ts'
import { ignoreFailure } from '../errors/ignore-failure.ts'
import { type Call, type CallContext, callOf, type RpcProtocol } from './call.ts'
import type { DeclaredMethod } from './rpc-service.ts'

export interface HandlerRuntime {
  readonly closing: AbortSignal
  elapsedMs(): number
  /** Maps to a status and logs what an operator has to know. */
  toStatus(error: unknown, call: Call): ConnectError
}

type AnyHandler = (request: unknown, context: CallContext) => unknown

/** The implementation of a method in the shape that Connect's router takes. */
export function runHandler(method: DescMethod, declared: DeclaredMethod, runtime: HandlerRuntime) {
  const handler = declared.handler as AnyHandler
  const isStream = method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming'
  return isStream ? runStream : runOnce

  async function runOnce(request: unknown, context: HandlerContext): Promise<unknown> {
    const call = callOf(context)
    try {
      const answer = await untilAborted(async () => {
        if (isSlow(call)) await call.admit()
        return handler(request, callContext(context, call, runtime))
      }, context.signal)
      call.isAnswered = true
      return answer
    } catch (error) {
      throw statusOf(error, context, call)
    }
  }

  async function* runStream(request: unknown, context: HandlerContext): AsyncGenerator<unknown> {
    const call = callOf(context)
    let messages: AsyncIterator<unknown> | undefined
    let isOver = false
    try {
      if (isSlow(call)) await untilAborted(call.admit, context.signal)
      messages = (handler(request, callContext(context, call, runtime)) as AsyncIterable<unknown>)[
        Symbol.asyncIterator
      ]()
      const source = messages
      for (;;) {
        const next = await untilAborted(() => source.next(), context.signal)
        if (next.done === true) break
        yield next.value
      }
      isOver = true
      call.isAnswered = true
    } catch (error) {
      throw statusOf(error, context, call)
    } finally {
      // Not awaited: a handler that hangs must not hold back the answer.
      if (!isOver) ignoreFailure(messages?.return?.(), 'how it ends no longer matters')
    }
  }

  /** The message is there by now: who sends it slowly does not act by rights that are gone meanwhile. */
  function isSlow(call: Call): boolean {
    return runtime.elapsedMs() - call.startedMs > OLDEST_RIGHTS_MS
  }

  function statusOf(error: unknown, context: HandlerContext, call: Call): ConnectError {
    const isOurs = error instanceof AppError || error instanceof ConnectError
    return isOurs || !context.signal.aborted ? runtime.toStatus(error, call) : abortStatus(context.signal)
  }
}

/** Why the signal aborted, as a status. Without a reason of its own, the caller has gone. */
export function abortStatus(signal: AbortSignal): ConnectError {
  const reason: unknown = signal.reason
  return reason instanceof ConnectError ? reason : new ConnectError('The call was cancelled.', Code.Canceled)
}

/** The result of `work`, or the status of the signal as soon as it aborts. */
export function untilAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortStatus(signal))
    const onAbort = () => reject(abortStatus(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
  })
}

function callContext(context: HandlerContext, call: Call, runtime: HandlerRuntime): CallContext {
  return {
    principal: call.principal,
    requestId: call.peer.requestId,
    clientAddress: call.peer.clientAddress,
    protocol: context.protocolName as RpcProtocol,
    signal: context.signal,
    closing: runtime.closing,
    header: context.requestHeader,
    responseHeader: context.responseHeader,
    responseTrailer: context.responseTrailer,
    timeoutMs: context.timeoutMs,
    refuseUnlessStillAllowed: call.admit,
  }
}
