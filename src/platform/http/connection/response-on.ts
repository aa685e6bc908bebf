import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What the connection is for now. */
export function responseOn(socket: Socket): ServerResponse | null {
  // NOTE Not part of Node's public interface. test/api/platform/limits.test.ts fails when a later Node no longer has it.
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? null
}
