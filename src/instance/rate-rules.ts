import type { RateRule } from '../platform/http/entry/rate-rules.ts'
import type { InstanceSettings } from './settings.ts'

/** The limits of the instance paths, as large as the settings in effect say at that moment. */
export function instanceRateRules(settings: { known(): InstanceSettings }): readonly RateRule[] {
  const sizeOf = (limit: 'per_ip' | 'per_token' | 'per_user') => () => {
    const { rate_limits: limits } = settings.known()
    // Answers come from memory; counting them in the database would cost more than all the rest.
    return { limit: limits[limit], period: limits.window_seconds * 1_000, isLocal: true }
  }
  return [
    { bucket: 'instance_ip', per: 'anonymous', size: sizeOf('per_ip') },
    { bucket: 'instance_token', per: 'credential', size: sizeOf('per_token') },
    { bucket: 'instance_user', per: 'user', size: sizeOf('per_user') },
  ]
}
