import { VERSION } from '../../version.ts'
import type { InstanceData } from '../public/instance-data.ts'
import { SOFTWARE_NAME } from '../public/software.ts'

export type NodeInfoVersion = '2.0' | '2.1'

export function nodeInfoLinks(baseUrl: string) {
  return {
    links: [{ rel: 'http://nodeinfo.diaspora.software/ns/schema/2.0', href: `${baseUrl}/nodeinfo/2.0` }],
  }
}

export function nodeInfoDocument({ settings, numbers }: InstanceData, version: NodeInfoVersion) {
  const users = settings.whitelist_mode
    ? { total: 0, activeMonth: 0, activeHalfyear: 0 }
    : { total: numbers.userCount, activeMonth: numbers.activeMonth, activeHalfyear: numbers.activeHalfyear }
  return {
    version,
    software: {
      name: SOFTWARE_NAME,
      version: VERSION,
      ...(version === '2.1' && { repository: settings.source_url }),
    },
    protocols: settings.nodeinfo.protocols,
    services: { inbound: [], outbound: [] },
    usage: { users, localPosts: numbers.statusCount },
    openRegistrations: settings.registrations.mode !== 'none',
    metadata: {
      nodeName: settings.title,
      nodeDescription: settings.description,
      // Clients that do not know us take it for the API that we speak.
      ...(settings.compat.mastodon_version !== null && { upstream: { name: 'mastodon' } }),
    },
  }
}
