import type { DescService } from '@bufbuild/protobuf'
import { ServerService, WhoAmIResponse_Kind } from '../../gen/commonplace/server/v1/server_pb.js'
import type { PrincipalKind } from '../auth/principal.ts'
import { type RpcService, rpcService } from './rpc-service.ts'

export interface ServerInfo {
  version: string
  /** Public surfaces that are switched on. */
  surfaces: readonly string[]
}

const KINDS: Record<PrincipalKind, WhoAmIResponse_Kind> = {
  user: WhoAmIResponse_Kind.USER,
  service_account: WhoAmIResponse_Kind.SERVICE_ACCOUNT,
  system: WhoAmIResponse_Kind.SYSTEM,
}

export function serverService(info: ServerInfo, served: readonly DescService[]): RpcService {
  return rpcService(
    ServerService,
    {
      getServerInfo: {
        access: 'public',
        handler: () => ({
          name: 'commonplace',
          version: info.version,
          surfaces: [...info.surfaces],
          services: served.map(({ typeName }) => typeName).sort(),
        }),
      },
      whoAmI: {
        access: 'signed_in',
        handler: (_request, { principal }) => ({
          kind: KINDS[principal.kind],
          userId: principal.userId ?? '',
          organizationId: principal.organizationId,
          permissions: [...principal.permissions].sort(),
          method: principal.method,
        }),
      },
    },
    { readMaxBytes: 16 * 1024 },
  )
}
