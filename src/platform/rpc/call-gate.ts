/**
 * Runs after the headers of a call and before the first byte of its body: credentials, then permission, then everything
 * else. A caller who may not call a method learns nothing about what it would say to a bad request.
 */
import type { DescMethod } from '@bufbuild/protobuf'
import { ConnectError, type HandlerContext } from '@connectrpc/connect'
import type { Denial } from '../audit/denials.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { CredentialSource } from '../auth/credentials.ts'
import { type Authentication, allows, type Principal } from '../auth/principal.ts'
import { AppError } from '../errors/app-error.ts'
import { beginCall, type Call } from './call.ts'
import { correctStatus } from './correct-status.ts'
import type { RpcAccess } from './rpc-service.ts'
import { abortStatus, type HandlerRuntime, untilAborted } from './run-handler.ts'

export interface GateDeps extends HandlerRuntime {
  authenticator: Authenticator
  /** Scheme, host and port under which the main port is reached. */
  serverOrigin(): string
  /** Told about callers with good credentials who lack the permission. Must not throw. */
  onDenied?(denial: Denial): void
  accessOf(method: DescMethod): RpcAccess
  onEnd(call: Call, error: ConnectError | undefined): void
}

export function callGate(deps: GateDeps) {
  return async function gate(context: HandlerContext): Promise<void> {
    const call = beginCall(context, deps.elapsedMs(), (begun) => admitCall(begun, context))
    // On the main port every response has it, whoever writes the response.
    if (call.peer.port === 'grpc') context.responseHeader.set('x-request-id', call.peer.requestId)
    // Every way a call can end aborts the signal: answered, refused, unreadable, out of time, caller gone.
    if (context.signal.aborted) deps.onEnd(call, abortStatus(context.signal))
    else context.signal.addEventListener('abort', () => deps.onEnd(call, endOf(call, context, deps)), { once: true })
    try {
      await untilAborted(call.admit, context.signal)
    } catch (error) {
      throw deps.toStatus(error, call)
    }
  }

  async function admitCall(call: Call, context: HandlerContext): Promise<void> {
    const access = deps.accessOf(context.method)
    if (access !== 'public') {
      context.responseHeader.set('cache-control', 'no-store')
      call.principal = principalOf(await deps.authenticator.authenticate(sourceOf(call, context, deps.serverOrigin())))
      call.peer.onIdentified?.(call.principal)
    }
    if (access === 'public' || access === 'signed_in' || call.principal === null) return
    if (allows(call.principal, access)) return
    deps.onDenied?.({
      principal: call.principal,
      operationId: call.method,
      reason: `Missing permission: ${access}`,
      client: clientOf(call, context),
    })
    throw new AppError('permission_denied', `This call needs the permission ${access}.`)
  }
}

function clientOf({ peer }: Call, { requestHeader }: HandlerContext): Denial['client'] {
  return {
    address: peer.clientAddress,
    userAgent: requestHeader.get('user-agent'),
    requestId: peer.requestId,
  }
}

function endOf(call: Call, context: HandlerContext, deps: GateDeps): ConnectError | undefined {
  const reason: unknown = context.signal.reason
  if (!(reason instanceof ConnectError)) return call.isAnswered ? undefined : abortStatus(context.signal)
  correctStatus(reason, (hidden) => deps.toStatus(hidden, call))
  return reason
}

function principalOf(authentication: Authentication): Principal {
  if (authentication.kind === 'ok') return authentication.principal
  if (authentication.kind === 'none') {
    throw new AppError(
      'unauthenticated',
      'This call needs credentials: a bearer token, or an API key and an application key.',
    )
  }
  throw new AppError(
    'unauthenticated',
    authentication.reason === 'csrf'
      ? 'A call with the session cookie must repeat the session’s token in the header X-CSRF-Token.'
      : 'The credentials of this call are not valid.',
  )
}

function sourceOf(call: Call, context: HandlerContext, serverOrigin: string): CredentialSource {
  // Browsers send cookies by themselves. Only the protocol that browsers speak to us may carry one.
  const takesCookie = call.peer.port === 'main' && context.protocolName === 'connect'
  return {
    header(name) {
      if (name === 'cookie' && !takesCookie) return undefined
      if (name === 'host') return call.peer.authority
      return context.requestHeader.get(name) ?? undefined
    },
    headerNames: () => context.requestHeader.keys(),
    remoteAddress: call.peer.remoteAddress,
    method: context.requestMethod,
    serverOrigin,
  }
}
