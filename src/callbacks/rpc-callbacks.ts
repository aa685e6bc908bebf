import { CallbackService } from '../gen/commonplace/callbacks/v1/callbacks_pb.js'
import { file_temporal_api_errordetails_v1_message as errorDetails } from '../gen/temporal/api/errordetails/v1/message_pb.js'
import { WorkflowService } from '../gen/temporal/api/workflowservice/v1/service_pb.js'
import { AppError } from '../platform/errors/app-error.ts'
import type { SignedInCallContext } from '../platform/rpc/call.ts'
import { type RpcMethods, type RpcService, rpcService } from '../platform/rpc/rpc-service.ts'
import type { Call } from './call.ts'
import type { RunService } from './run/run-service.ts'

/** The operations that only this server has, by the local name of their method. */
export type AdditionalMethods = Partial<Omit<RpcMethods<typeof CallbackService>, keyof typeof WorkflowService.method>>

/** The same operations under the name that existing clients call, and under ours with the additional ones. */
export function callbackRpcServices(runs: RunService, additional: AdditionalMethods): RpcService[] {
  const methods = runMethods(runs)
  const options = { alsoReflect: [errorDetails] }
  const ours = { ...notOffered(), ...additional, ...methods }
  return [rpcService(WorkflowService, methods, options), rpcService(CallbackService, ours, options)]
}

function runMethods(runs: RunService): RpcMethods<typeof WorkflowService> {
  return {
    startCallbackExecution: {
      access: 'callbacks_write',
      handler: (request, context) => runs.start(request, rpcCall(context)),
    },
    describeCallbackExecution: {
      access: 'callbacks_read',
      handler: (request, context) => runs.describe(request, rpcCall(context)),
    },
    pollCallbackExecution: {
      access: 'callbacks_read',
      handler: (request, context) => runs.poll(request, rpcCall(context)),
    },
    listCallbackExecutions: {
      access: 'callbacks_read',
      handler: (request, context) => runs.list(request, rpcCall(context)),
    },
    countCallbackExecutions: {
      access: 'callbacks_read',
      handler: (request, context) => runs.count(request, rpcCall(context)),
    },
    terminateCallbackExecution: {
      access: 'callbacks_write',
      handler: (request, context) => runs.terminate(request, rpcCall(context)),
    },
    deleteCallbackExecution: {
      access: 'callbacks_write',
      handler: (request, context) => runs.delete(request, rpcCall(context)),
    },
  }
}

export function rpcCall(context: SignedInCallContext): Call {
  const { principal, signal, clientAddress: address, requestId, header, refuseUnlessStillAllowed } = context
  const client = { address, userAgent: header.get('user-agent'), requestId }
  const deadlineMs = context.timeoutMs() ?? null
  return { principal, signal, closed: signal, deadlineMs, isCutOff: true, client, refuseUnlessStillAllowed }
}

/** Every method has to say something. */
function notOffered(): RpcMethods<typeof CallbackService> {
  const handler = () => {
    throw new AppError('unimplemented', 'This server does not offer the operation')
  }
  return Object.fromEntries(
    CallbackService.methods.map(({ localName }) => [localName, { access: 'signed_in', handler }]),
  ) as unknown as RpcMethods<typeof CallbackService>
}
