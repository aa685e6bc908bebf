import type { DestinationService } from './destination/destination-service.ts'
import type { SendTests } from './destination/send/send-tests.ts'
import {
  namespaceMessage,
  namespacePageMessage,
  pageTokenText,
  readNamespaceChangeMessage,
  readNewNamespaceMessage,
} from './namespace/namespace-message.ts'
import type { NamespaceService } from './namespace/namespace-service.ts'
import type { ReplayService } from './replay/replay-service.ts'
import { type AdditionalMethods, rpcCall } from './rpc-callbacks.ts'
import type { AttemptsService } from './run/attempts-service.ts'

export interface AdditionalServices {
  attempts: AttemptsService
  replays: ReplayService
  destinations: DestinationService
  tests: SendTests
  namespaces: NamespaceService
}

/** The operations that only this server has, as its HTTP surface offers them. */
export function additionalMethods(services: AdditionalServices): Required<AdditionalMethods> {
  const { attempts, replays, destinations, tests, namespaces } = services
  return {
    listCallbackAttempts: {
      access: 'callbacks_read',
      handler: (request, context) => attempts.list(request, rpcCall(context)),
    },
    retryCallbackExecution: {
      access: 'callbacks_write',
      handler: (request, context) => attempts.retry(request, rpcCall(context)),
    },
    replayCallbackExecution: {
      access: 'callbacks_write',
      handler: (request, context) => replays.replay(request, rpcCall(context)),
    },
    startBulkReplay: {
      access: 'callbacks_write',
      handler: (request, context) => replays.startBulk(request, rpcCall(context)),
    },
    describeBulkReplay: {
      access: 'callbacks_read',
      handler: (request, context) => replays.describeBulk(request, rpcCall(context)),
    },
    listDestinations: {
      access: 'callbacks_read',
      handler: (request, context) => destinations.list(request, rpcCall(context)),
    },
    updateDestination: {
      access: 'callbacks_write',
      handler: (request, context) => destinations.update(request, rpcCall(context)),
    },
    resetDestination: {
      access: 'callbacks_write',
      handler: (request, context) => destinations.reset(request, rpcCall(context)),
    },
    sendTest: {
      access: 'callbacks_write',
      handler: (request, context) => tests.send(request, rpcCall(context)),
    },
    ...namespaceMethods(namespaces),
  }
}

type NamespaceMethods = Pick<
  Required<AdditionalMethods>,
  'listNamespaces' | 'createNamespace' | 'getNamespace' | 'updateNamespace' | 'deleteNamespace'
>

function namespaceMethods(namespaces: NamespaceService): NamespaceMethods {
  return {
    listNamespaces: {
      access: 'callbacks_read',
      async handler(request, { principal }) {
        const pageToken = pageTokenText(request.nextPageToken)
        return namespacePageMessage(await namespaces.list(principal, { pageSize: request.pageSize, pageToken }))
      },
    },
    createNamespace: {
      access: 'org_management',
      async handler(request, context) {
        const { principal, client } = rpcCall(context)
        const made = await namespaces.create(principal, readNewNamespaceMessage(request), client)
        return namespaceMessage(made, made.generatedSecret)
      },
    },
    getNamespace: {
      access: 'callbacks_read',
      async handler(request, { principal }) {
        return namespaceMessage(await namespaces.get(principal, { name: request.namespace }))
      },
    },
    updateNamespace: {
      access: 'org_management',
      async handler(request, context) {
        const { principal, client } = rpcCall(context)
        const wish = { ...readNamespaceChangeMessage(request), name: request.namespace }
        const changed = await namespaces.update(principal, wish, client)
        return namespaceMessage(changed, changed.generatedSecret)
      },
    },
    deleteNamespace: {
      access: 'org_management',
      async handler(request, context) {
        const { principal, client } = rpcCall(context)
        await namespaces.delete(principal, { name: request.namespace }, client)
        return {}
      },
    },
  }
}
