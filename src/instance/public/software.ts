import { VERSION } from '../../version.ts'
import type { InstanceSettings } from '../settings.ts'

/** As programs name us; people read `Commonplace`. */
export const SOFTWARE_NAME = 'commonplace'

/** Raised with each change of what this surface says. */
export const API_VERSION = 1

/** Some clients refuse whatever they take for an old version of the software that they were written for. */
export function versionText({ compat }: Pick<InstanceSettings, 'compat'>): string {
  return compat.mastodon_version === null ? VERSION : `${compat.mastodon_version} (compatible; Commonplace ${VERSION})`
}
