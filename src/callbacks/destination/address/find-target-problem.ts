import type { IpFilter } from '../../../platform/outbound/ip-filter.ts'
import { type AddressRule, findRuleProblem } from './address-rules.ts'
import { portOf, type Target } from './target.ts'

export interface TargetPolicy {
  rules: readonly AddressRule[]
  filter: IpFilter
  deniedPorts: readonly number[]
}

/** Why a target may not be called, as far as its text tells; asked at start and again before every attempt. */
export function findTargetProblem(target: Target, policy: TargetPolicy): string | undefined {
  const known = judged.get(target)
  if (known?.policy === policy) return known.problem
  const problem = judge(target, policy)
  judged.set(target, { policy, problem })
  return problem
}

// Many runs go to one target, and neither it nor the policy is ever changed: another one takes its place.
const judged = new WeakMap<Target, { policy: TargetPolicy; problem: string | undefined }>()

function judge(target: Target, policy: TargetPolicy): string | undefined {
  const problem = findRuleProblem(policy.rules, target)
  if (problem !== undefined) return problem
  if (target.hasCredentials) return 'callback url must not contain a user or password: send them as a header'
  if (policy.filter.isDenied(target.url.hostname)) return 'callback url names a destination address not allowed'
  const port = portOf(target)
  // Nothing listens at port 0: every attempt would fail.
  return port === 0 || policy.deniedPorts.includes(port)
    ? `callback url uses port ${port}, which is not allowed`
    : undefined
}
