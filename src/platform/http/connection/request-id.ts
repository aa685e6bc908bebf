import { newId } from '../../ids/uuid.ts'

const ECHOED = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's own id when it is harmless in a header and in a log line, else a new one. */
export function requestIdFor(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && ECHOED.test(sent) ? sent : newId()
}
