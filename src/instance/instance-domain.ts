import type { InstanceSettings } from './settings.ts'

/** The name of the server: as set, else the host of its address, with a port that does not go without saying. */
export function instanceDomain(settings: Pick<InstanceSettings, 'domain'>, baseUrl: string): string {
  return settings.domain ?? new URL(baseUrl).host
}
