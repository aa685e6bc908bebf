/**
 * One call from its first header to its last: who it came from, when it began, how it ended. The record travels in
 * the context values, so that the gate, the handler and the log line speak about the same call.
 */
import {
  type Code,
  type ContextValues,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect'
import { codeToString } from '@connectrpc/connect/protocol-connect'
import type { Principal } from '../auth/principal.ts'

export type RpcPort = 'main' | 'grpc'
export type RpcProtocol = 'connect' | 'grpc-web' | 'grpc'

/** What the listener knows about the other side. */
export interface Peer {
  port: RpcPort
  /** Of the connection itself, whatever a proxy may say. */
  remoteAddress: string
  /** Of the caller behind the proxies that are trusted, for the audit log. */
  clientAddress: string
  /** Host and port the caller asked for: the Host header or :authority. */
  authority: string
  requestId: string
  /** Told who is calling as soon as that is known; for the access log of the listener. */
  onIdentified?(principal: Principal): void
}

export interface Call {
  readonly peer: Peer
  /** `package.Service/Method`: only names of served methods, so it is safe as a metric label. */
  readonly method: string
  readonly startedMs: number
  principal: Principal | null
  /** Throws unless the caller may make it, at the gate and again after waiting. */
  readonly admit: () => Promise<void>
  /** The handler has given its whole answer. */
  isAnswered: boolean
}

/** What a handler learns about its call. */
export interface CallContext {
  readonly principal: Principal | null
  readonly requestId: string
  /** For the audit log. */
  readonly clientAddress: string
  readonly protocol: RpcProtocol
  /** Aborts at the deadline, when the caller goes away, and when a stop of the server runs out of patience. */
  readonly signal: AbortSignal
  /** Aborts when the server begins to stop: work without an end of its own (watching, long polls) should end now. */
  readonly closing: AbortSignal
  /** Request headers or metadata. */
  readonly header: Headers
  readonly responseHeader: Headers
  readonly responseTrailer: Headers
  /** What is left until the caller's deadline; undefined without one. */
  timeoutMs(): number | undefined
  /** For whoever waited: throws what a new call would be refused with. */
  refuseUnlessStillAllowed(this: void): Promise<void>
}

export interface SignedInCallContext extends CallContext {
  readonly principal: Principal
}

const peerKey = createContextKey<Peer | undefined>(undefined, { description: 'peer' })
const callKey = createContextKey<Call | undefined>(undefined, { description: 'call' })

export function peerValues(peer: Peer): ContextValues {
  return createContextValues().set(peerKey, peer)
}

export function beginCall(context: HandlerContext, startedMs: number, admit: (call: Call) => Promise<void>): Call {
  const peer = context.values.get(peerKey)
  if (peer === undefined) throw new Error('the listener did not say who is calling')
  const method = `${context.service.typeName}/${context.method.name}`
  const call: Call = {
    peer,
    method,
    startedMs,
    principal: null,
    isAnswered: false,
    admit: () => admit(call),
  }
  context.values.set(callKey, call)
  return call
}

export function callOf(context: HandlerContext): Call {
  const call = context.values.get(callKey)
  if (call === undefined) throw new Error('the call did not pass the gate')
  return call
}

/** The name that metrics and log lines use: `ok`, `not_found`, `deadline_exceeded` … */
export function outcomeName(code: Code | undefined): string {
  return code === undefined ? 'ok' : codeToString(code)
}
