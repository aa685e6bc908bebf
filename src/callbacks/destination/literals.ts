// Names on the wire that existing receivers and clients know. They are not ours to change.

export const TOKEN_HEADER = 'temporal-callback-token'
export const OPAQUE_PAYLOAD_TYPE = 'application/x-temporal-payload'
export const FAILURE_TYPE = 'temporal.api.failure.v1.Failure'
export const HANDLER_ERROR_TYPE = 'nexus.HandlerError'
export const ERROR_DETAIL_PREFIX = 'type.googleapis.com/temporal.api.errordetails.v1.'

export const STATE_HEADER = 'nexus-operation-state'
export const START_TIME_HEADER = 'nexus-operation-start-time'
export const CLOSE_TIME_HEADER = 'nexus-operation-close-time'
export const RETRYABLE_HEADER = 'nexus-request-retryable'
