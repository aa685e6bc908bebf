// The value messages that callbacks carry, as plain shapes. Generated messages fit them, and so do literals in tests:
// members in lowerCamelCase, bytes as Uint8Array, 64-bit numbers as bigint, enums as numbers, a oneof as `{ case, value }`.

export interface Duration {
  seconds: bigint
  nanos: number
}

export interface Payload {
  metadata: { [key: string]: Uint8Array }
  data: Uint8Array
  externalPayloads: { sizeBytes: bigint }[]
}

export interface Payloads {
  payloads: Payload[]
}

export interface SearchAttributes {
  indexedFields: { [key: string]: Payload }
}

type OneOf<Members extends object> =
  | { [Name in keyof Members]: { case: Name; value: Members[Name] } }[keyof Members]
  | { case: undefined; value?: undefined }

export interface NexusCallback {
  url: string
  header: { [key: string]: string }
  token: string
}

export interface Callback {
  variant: OneOf<{ nexus: NexusCallback; internal: { data: Uint8Array } }>
  links: Link[]
}

export interface Link {
  variant: OneOf<{
    workflowEvent: WorkflowEventLink
    batchJob: { jobId: string }
    activity: { namespace: string; activityId: string; runId: string }
    nexusOperation: { namespace: string; operationId: string; runId: string }
  }>
}

export interface WorkflowEventLink {
  namespace: string
  workflowId: string
  runId: string
  reference: OneOf<{
    eventRef: { eventId: bigint; eventType: number }
    requestIdRef: { requestId: string; eventType: number }
  }>
}

export interface Failure {
  message: string
  source: string
  stackTrace: string
  cause?: Failure
  encodedAttributes?: Payload
  failureInfo: OneOf<FailureInfos>
}

export interface FailureInfos {
  applicationFailureInfo: ApplicationFailureInfo
  timeoutFailureInfo: { timeoutType: number; lastHeartbeatDetails?: Payloads }
  canceledFailureInfo: { details?: Payloads; identity: string }
  terminatedFailureInfo: { identity: string }
  serverFailureInfo: { nonRetryable: boolean }
  resetWorkflowFailureInfo: { lastHeartbeatDetails?: Payloads }
  activityFailureInfo: ActivityFailureInfo
  childWorkflowExecutionFailureInfo: ChildWorkflowExecutionFailureInfo
  nexusOperationExecutionFailureInfo: NexusOperationFailureInfo
  nexusHandlerFailureInfo: NexusHandlerFailureInfo
}

export interface ApplicationFailureInfo {
  type: string
  nonRetryable: boolean
  details?: Payloads
  nextRetryDelay?: Duration
  category: number
}

export interface ActivityFailureInfo {
  scheduledEventId: bigint
  startedEventId: bigint
  identity: string
  activityType?: { name: string }
  activityId: string
  retryState: number
}

export interface ChildWorkflowExecutionFailureInfo {
  namespace: string
  workflowExecution?: { workflowId: string; runId: string }
  workflowType?: { name: string }
  initiatedEventId: bigint
  startedEventId: bigint
  retryState: number
}

export interface NexusOperationFailureInfo {
  scheduledEventId: bigint
  endpoint: string
  service: string
  operation: string
  operationId: string
  operationToken: string
}

export interface NexusHandlerFailureInfo {
  type: string
  retryBehavior: number
}

export interface CallbackExecutionCompletion {
  result: OneOf<{ success: Payload; failure: Failure }>
}

export interface CallbackExecutionOutcome {
  value: OneOf<{ success: object; failure: Failure }>
}
