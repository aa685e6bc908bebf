export interface ResolvedAddress {
  address: string
  family: 4 | 6
}

/** All addresses of a name; rejects where it has none. */
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>

/** A burst of attempts at one host asks once: who comes while a question is open waits for the same answer. */
export function shareQuestions(resolve: ResolveHost): ResolveHost {
  const open = new Map<string, ReturnType<ResolveHost>>()
  return (host) => {
    const asked = open.get(host)
    if (asked !== undefined) return asked
    const answer = resolve(host).finally(() => open.delete(host))
    open.set(host, answer)
    return answer
  }
}
