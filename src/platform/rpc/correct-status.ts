import { Code, ConnectError } from '@connectrpc/connect'

// What Connect says with `internal` when the bytes of the caller are at fault.
const UNREADABLE = /^(parse binary|received compressed envelope|decompression failed)/
const RESET = /^http\/2 stream closed/

/**
 * Connect calls an unreadable message, a reset by the caller and an answer that cannot be written all `internal`. Only
 * the last one is a defect of ours, and its text is not for the caller. Changes the error in place.
 *
 * NOTE Connect aborts the signal of a call before it writes the error to the wire. That is what makes a change in an
 * abort listener reach the caller, and there is no other place that sees these errors. test/api/rpc/hostile.test.ts
 * fails should a new version do otherwise.
 */
export function correctStatus(error: ConnectError, hide: (defect: Error) => ConnectError): void {
  // Our own errors have details; see rpc-error.ts.
  if (error.code !== Code.Internal || error.details.length > 0) return
  if (UNREADABLE.test(error.rawMessage)) {
    become(error, Code.InvalidArgument, `The message is unreadable: ${error.rawMessage}.`)
  } else if (RESET.test(error.rawMessage)) {
    become(error, Code.Canceled, 'The call was cancelled.')
  } else {
    const hidden = hide(new Error(error.rawMessage, { cause: error.cause }))
    become(error, hidden.code, hidden.rawMessage)
    error.details.push(...hidden.details)
  }
}

function become(error: ConnectError, code: Code, rawMessage: string): void {
  const { message } = new ConnectError(rawMessage, code)
  Object.assign(error, { code, rawMessage, message })
}
