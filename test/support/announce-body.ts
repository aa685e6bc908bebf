import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestServer } from './start-server.ts'

/** What is answered to a body that is only announced: one that is too large is refused before any of it has come. */
export async function announceBody(
  server: Pick<TestServer, 'url' | 'adminToken'>,
  path: string,
  { bytes, type = 'application/json' }: { bytes: number; type?: string },
): Promise<{ status: number | undefined; text: string }> {
  const sending = request(new URL(path, server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': type, 'content-length': bytes },
  })
  sending.flushHeaders()
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  const body = await text(answer)
  sending.on('error', () => {}).destroy()
  return { status: answer.statusCode, text: body }
}
