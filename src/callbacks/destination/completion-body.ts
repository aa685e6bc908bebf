import type { CallbackExecutionCompletion, Failure, NexusHandlerFailureInfo } from '../wire/messages.ts'
import { failureJson, type JsonObject, payloadJson } from './failure-json.ts'
import { FAILURE_TYPE, HANDLER_ERROR_TYPE } from './literals.ts'
import { type Content, payloadContent } from './payload-content.ts'

export type OperationState = 'succeeded' | 'failed' | 'canceled'

export interface CompletionBody extends Content {
  state: OperationState
}

const RETRYABLE_BY_BEHAVIOR = [undefined, true, false]

export function completionBody({ result }: CallbackExecutionCompletion): CompletionBody {
  if (result.case === 'success') return { state: 'succeeded', ...payloadContent(result.value) }
  if (result.case === undefined) throw new Error('A completion without a result was stored.')
  return {
    state: result.value.failureInfo.case === 'canceledFailureInfo' ? 'canceled' : 'failed',
    headers: new Map([['content-type', 'application/json']]),
    body: Buffer.from(JSON.stringify(nexusFailure(result.value))),
  }
}

function nexusFailure(failure: Failure): JsonObject {
  const { message, stackTrace, cause, failureInfo } = failure
  const isHandlerError = failureInfo.case === 'nexusHandlerFailureInfo'
  return {
    message,
    ...(stackTrace === '' ? {} : { stackTrace }),
    metadata: { type: isHandlerError ? HANDLER_ERROR_TYPE : FAILURE_TYPE },
    details: isHandlerError
      ? handlerErrorDetails(failure, failureInfo.value)
      : failureJson({ ...failure, message: '', stackTrace: '' }),
    ...(cause === undefined ? {} : { cause: nexusFailure(cause) }),
  }
}

function handlerErrorDetails({ encodedAttributes }: Failure, info: NexusHandlerFailureInfo): JsonObject {
  const details: JsonObject = { type: info.type }
  const retryableOverride = RETRYABLE_BY_BEHAVIOR[info.retryBehavior]
  if (retryableOverride !== undefined) details.retryableOverride = retryableOverride
  if (encodedAttributes !== undefined) {
    details.encodedAttributes = Buffer.from(JSON.stringify(payloadJson(encodedAttributes))).toString('base64url')
  }
  return details
}
