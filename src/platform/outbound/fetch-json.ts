import type { IpFilter } from './ip-filter.ts'
import type { Outbound } from './outbound-request.ts'

const MAX_BODY_BYTES = 1024 * 1024

export type FetchJson = (
  url: string,
  options: { headers: Record<string, string>; timeoutMs: number },
) => Promise<unknown>

/** A GET whose answer is JSON, for services that the operator names. Rejects for whatever is not a 200 with JSON. */
export function createFetchJson(outbound: Outbound, filter: IpFilter): FetchJson {
  return async (address, { headers, timeoutMs }) => {
    const url = new URL(address)
    const { answer, error } = await outbound.send({
      url,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers: new Map([['accept', 'application/json'], ...Object.entries(headers)]),
      body: new Uint8Array(),
      filter,
      timeoutMs,
      maxBodyBytes: MAX_BODY_BYTES,
      isSuccessEnough: false,
    })
    // Neither the whole address nor the headers are named: both may hold a key.
    if (answer === undefined) throw new Error(`${url.host} could not be asked: ${error.message}`)
    if (answer.bodyProblem !== undefined) throw new Error(`${url.host} was not understood: ${answer.bodyProblem}`)
    if (answer.status !== 200) throw new Error(`${url.host} answered ${answer.status}`)
    try {
      return JSON.parse(new TextDecoder().decode(answer.body))
    } catch {
      throw new Error(`${url.host} did not answer with JSON`)
    }
  }
}
