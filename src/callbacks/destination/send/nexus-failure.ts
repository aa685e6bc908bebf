/**
 * A failure as receivers read it. Whoever knows no `cause` finds the causes in `details`, so each is written once more for
 * every failure above it: what a cause says becomes text once, and that text is repeated.
 */
import type { Failure, NexusHandlerFailureInfo } from '../../wire/messages.ts'
import { FAILURE_TYPE, HANDLER_ERROR_TYPE } from '../literals.ts'
import { failureJson, type JsonObject, payloadJson } from './failure-json.ts'

/** The JSON texts of one failure, without its cause. */
interface Level {
  /** What stands before `details`. */
  head: string
  details: string
  /** As it stands in the `details` of those above. */
  whole: string
  isHandlerError: boolean
}

const RETRYABLE_BY_BEHAVIOR = [undefined, true, false]

export function nexusFailureText(failure: Failure): string {
  let body: string | undefined
  let whole: string | undefined
  for (const level of levelsOf(failure).reverse()) {
    const details = level.isHandlerError ? level.details : withCause(level.details, whole)
    // In one go: to take a long text apart, its pieces are put together first.
    body = `${level.head.slice(0, -1)},"details":${details}${body === undefined ? '' : `,"cause":${body}`}}`
    whole = withCause(level.whole, whole)
  }
  return body as string
}

/** How long that text is, within a few bytes and never too little. It is not made for it: it may be a hundred times as long. */
export function nexusFailureBytes(failure: Failure): number {
  let body = 0
  let whole = 0
  for (const level of levelsOf(failure).reverse()) {
    const details = Buffer.byteLength(level.details) + (level.isHandlerError ? 0 : whole)
    body += Buffer.byteLength(level.head) + ',"details":'.length + details + ',"cause":'.length
    whole += Buffer.byteLength(level.whole) + ',"cause":'.length
  }
  return body
}

function levelsOf(top: Failure): Level[] {
  const levels: Level[] = []
  for (let failure: Failure | undefined = top; failure !== undefined; failure = failure.cause) {
    const { message, stackTrace, failureInfo } = failure
    const { cause: _, ...alone } = failure
    const isHandlerError = failureInfo.case === 'nexusHandlerFailureInfo'
    const head = {
      message,
      ...(stackTrace === '' ? {} : { stackTrace }),
      metadata: { type: isHandlerError ? HANDLER_ERROR_TYPE : FAILURE_TYPE },
    }
    const details = isHandlerError
      ? handlerErrorDetails(failure, failureInfo.value)
      : failureJson({ ...alone, message: '', stackTrace: '' })
    levels.push({
      head: JSON.stringify(head),
      details: JSON.stringify(details),
      whole: JSON.stringify(failureJson(alone)),
      isHandlerError,
    })
  }
  return levels
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

function withCause(object: string, cause: string | undefined): string {
  if (cause === undefined) return object
  return `${object.slice(0, -1)}${object === '{}' ? '' : ','}"cause":${cause}}`
}
