// The proto3 JSON form of a failure: defaults left out, 64-bit numbers as texts, enums by name, payloads never in short.
import type { Duration, Failure, Payload, Payloads } from '../../wire/messages.ts'
import { base64 } from '../../wire/write-message.ts'

export type Json = string | number | boolean | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

type WriteValue = (value: never) => Json

const ENUMS: Record<string, [prefix: string, names: string[]]> = {
  timeoutType: [
    'TIMEOUT_TYPE_',
    ['UNSPECIFIED', 'START_TO_CLOSE', 'SCHEDULE_TO_START', 'SCHEDULE_TO_CLOSE', 'HEARTBEAT'],
  ],
  retryState: [
    'RETRY_STATE_',
    [
      'UNSPECIFIED',
      'IN_PROGRESS',
      'NON_RETRYABLE_FAILURE',
      'TIMEOUT',
      'MAXIMUM_ATTEMPTS_REACHED',
      'RETRY_POLICY_NOT_SET',
      'INTERNAL_SERVER_ERROR',
      'CANCEL_REQUESTED',
    ],
  ],
  category: ['APPLICATION_ERROR_CATEGORY_', ['UNSPECIFIED', 'BENIGN']],
  retryBehavior: ['NEXUS_HANDLER_ERROR_RETRY_BEHAVIOR_', ['UNSPECIFIED', 'RETRYABLE', 'NON_RETRYABLE']],
}

/** Members that are no scalar; one name has one meaning in all kinds of failure. */
const MESSAGES: Record<string, WriteValue> = {
  details: payloadsJson,
  lastHeartbeatDetails: payloadsJson,
  nextRetryDelay: durationJson,
  activityType: membersJson,
  workflowType: membersJson,
  workflowExecution: membersJson,
}

/** Of one failure alone: whoever writes it adds its cause. */
export function failureJson(failure: Omit<Failure, 'cause'>): JsonObject {
  const { message, source, stackTrace, encodedAttributes, failureInfo } = failure
  const json: JsonObject = {}
  if (message !== '') json.message = message
  if (source !== '') json.source = source
  if (stackTrace !== '') json.stackTrace = stackTrace
  if (encodedAttributes !== undefined) json.encodedAttributes = payloadJson(encodedAttributes)
  if (failureInfo.case !== undefined) json[failureInfo.case] = membersJson(failureInfo.value)
  return json
}

export function payloadJson({ metadata, data, externalPayloads }: Payload): JsonObject {
  const json: JsonObject = {}
  const entries = Object.entries(metadata).map(([key, value]) => [key, base64(value)] as const)
  if (entries.length > 0) json.metadata = Object.fromEntries(entries)
  if (data.length > 0) json.data = base64(data)
  if (externalPayloads.length > 0) json.externalPayloads = externalPayloads.map(membersJson)
  return json
}

function payloadsJson({ payloads }: Payloads): JsonObject {
  return payloads.length === 0 ? {} : { payloads: payloads.map(payloadJson) }
}

function membersJson(message: object): JsonObject {
  const json: JsonObject = {}
  for (const [name, value] of Object.entries(message) as [string, unknown][]) {
    // `$typeName` and `$unknown` of a generated message are no members.
    if (name.startsWith('$') || value === undefined) continue
    const isDefault = value === '' || value === 0 || value === 0n || value === false
    if (!isDefault) json[name] = memberJson(name, value)
  }
  return json
}

function memberJson(name: string, value: unknown): Json {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') return enumJson(name, value)
  if (typeof value === 'object') return (MESSAGES[name] as WriteValue)(value as never)
  return value as string | boolean
}

/** A value that a later version added stays a number. */
function enumJson(name: string, value: number): Json {
  const [prefix, names] = ENUMS[name] as [string, string[]]
  return names[value] === undefined ? value : prefix + names[value]
}

function durationJson({ seconds, nanos }: Duration): string {
  const sign = seconds < 0n || nanos < 0 ? '-' : ''
  const whole = seconds < 0n ? -seconds : seconds
  const digits = Math.abs(nanos).toString().padStart(9, '0')
  const fraction = nanos === 0 ? '' : `.${digits.replace(/(000){1,2}$/, '')}`
  return `${sign}${whole}${fraction}s`
}
