import type { AnswerHeaders, CarriedRequest } from './carrier.ts'
import type { GiveUpSignal } from './give-up.ts'
import type { IpFilter } from './ip-filter.ts'

/** One request to a stranger. */
export interface OutboundRequest {
  /** Scheme, host and port are what counts. */
  url: URL
  /** Path and query as they stand in the request line. */
  path: string
  method: 'GET' | 'POST'
  headers: ReadonlyMap<string, string>
  /** Empty for none. */
  body: Uint8Array
  /** Which addresses may be called. */
  filter: IpFilter
  /** For all of it, from the look-up of the name to the end of the answer. */
  timeoutMs: number
  /** The most that is read of the answer's body. */
  maxBodyBytes: number
  /** A success is certain when its headers are in, and of its body only the beginning is wanted. */
  isSuccessEnough: boolean
  /** Gives it up; the promise is rejected with the reason. */
  signal?: GiveUpSignal
}

/** The same, checked and written down as it is carried. */
export interface ReadyRequest
  extends CarriedRequest,
    Pick<OutboundRequest, 'url' | 'filter' | 'timeoutMs' | 'maxBodyBytes' | 'isSuccessEnough'> {
  /** How much of its time was over before it came to be carried. */
  waitedMs: number
}

export interface Answer {
  status: number
  /** The reason phrase; empty where the protocol has none. */
  statusText: string
  /** By their names in lower case. */
  headers: AnswerHeaders
  /** What was read of the body. */
  body: Uint8Array
  /** Why the body was not read to its end: too large, broken off, too slow. */
  bodyProblem?: string
  /** The time was over before the body was. */
  isLate?: boolean
}

/** What came of it: an answer, or the reason why there is none. */
export type Exchanged = {
  /** The address that was called; null when it did not come to that. */
  address: string | null
} & ({ answer: Answer; error?: undefined } | { error: Error; answer?: undefined })

/** What carries requests out. */
export interface Outbound {
  /** Rejects only when the signal is aborted or it is closed. */
  send(request: OutboundRequest): Promise<Exchanged>
  /** Null when requests can be sent at once; else they can when this is over. Whoever waits for it loses none of their time. */
  preparing(): Promise<void> | null
  /** Breaks off what is underway, whose promises are rejected, and ends when every socket is closed. */
  close(): Promise<void>
}

/** The first one where there are several. */
export function headerOf({ headers }: Answer, name: string): string | undefined {
  return [headers[name]].flat()[0]?.toString()
}
