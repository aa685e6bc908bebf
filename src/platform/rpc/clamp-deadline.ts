/**
 * A deadline beyond 2^31-1 milliseconds would overflow the timer behind it and fire at once. Nobody waits for 24 days:
 * such a deadline is cut to that.
 */
const LONGEST_MS = 2_147_483_647

const UNIT_MS: Record<string, number> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 }

/** Values that cannot be read stay as they are; the protocol answers them with INVALID_ARGUMENT. */
export function clampDeadline(header: Headers): void {
  const grpc = /^(\d{1,8})([HMSmun])$/.exec(header.get('grpc-timeout') ?? '')
  if (grpc !== null && Number(grpc[1]) * (UNIT_MS[grpc[2] as string] as number) > LONGEST_MS) {
    header.set('grpc-timeout', `${Math.floor(LONGEST_MS / 1_000)}S`)
  }
  const connect = header.get('connect-timeout-ms')
  if (connect !== null && /^\d{1,10}$/.test(connect) && Number(connect) > LONGEST_MS) {
    header.set('connect-timeout-ms', String(LONGEST_MS))
  }
}
