/**
 * The one place where an RPC method says who may call it. A method that is left out, or has no `access`, does not
 * compile; one that slips past the compiler keeps the server from starting.
 */
import type {
  DescFile,
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf'
import { isPermissionName, type PermissionName } from '../auth/permissions.ts'
import type { CallContext, SignedInCallContext } from './call.ts'

/** `public`: no credentials are looked at. `signed_in`: any good credentials. Otherwise the permission it needs. */
export type RpcAccess = 'public' | 'signed_in' | PermissionName

export type RpcHandler<M extends DescMethod, Context> =
  M extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, context: Context) => Promise<MessageInitShape<O>> | MessageInitShape<O>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, context: Context) => AsyncIterable<MessageInitShape<O>>
      : M extends DescMethodClientStreaming<infer I, infer O>
        ? (requests: AsyncIterable<MessageShape<I>>, context: Context) => Promise<MessageInitShape<O>>
        : M extends DescMethodBiDiStreaming<infer I, infer O>
          ? (requests: AsyncIterable<MessageShape<I>>, context: Context) => AsyncIterable<MessageInitShape<O>>
          : never

export type RpcMethod<M extends DescMethod> =
  | { access: 'public'; handler: RpcHandler<M, CallContext> }
  | { access: Exclude<RpcAccess, 'public'>; handler: RpcHandler<M, SignedInCallContext> }

export type RpcMethods<Service extends DescService> = {
  [Name in keyof Service['method']]: RpcMethod<Service['method'][Name]>
}

export interface RpcServiceOptions {
  /** The largest request message; the server's limit when absent. */
  readMaxBytes?: number
  /** Files that no method refers to but that clients may ask about, such as those of error details. */
  alsoReflect?: readonly DescFile[]
  /** Log lines of these calls are for debugging only: probes come every few seconds. */
  isQuiet?: boolean
}

/** What a feature hands over to createRpc. Made by rpcService() only. */
export interface RpcService {
  readonly desc: DescService
  readonly options: RpcServiceOptions
  /** By the local name of the method, `getServerInfo`. */
  readonly methods: ReadonlyMap<string, DeclaredMethod>
}

export interface DeclaredMethod {
  readonly access: RpcAccess
  // The generated types were checked by rpcService(); behind it all methods look alike.
  readonly handler: (request: never, context: never) => unknown
}

export function rpcService<Service extends DescService>(
  desc: Service,
  methods: RpcMethods<Service>,
  options: RpcServiceOptions = {},
): RpcService {
  const declared = new Map(Object.entries(methods as Record<string, DeclaredMethod | undefined>))
  const checked = new Map<string, DeclaredMethod>()
  for (const { localName, name } of desc.methods) {
    const method = declared.get(localName)
    if (typeof method?.handler !== 'function') throw new Error(`${desc.typeName}/${name} has no handler`)
    if (!isAccess(method.access)) throw new Error(`${desc.typeName}/${name} does not say who may call it`)
    checked.set(localName, method)
    declared.delete(localName)
  }
  for (const name of declared.keys()) throw new Error(`${desc.typeName} has no method ${name}`)
  return { desc, options, methods: checked }
}

function isAccess(access: unknown): access is RpcAccess {
  return typeof access === 'string' && (access === 'public' || access === 'signed_in' || isPermissionName(access))
}
