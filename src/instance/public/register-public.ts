import type { FastifyInstance } from 'fastify'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import type { InstanceChanges } from '../changes.ts'
import type { ContactReader } from '../contact/contact-reader.ts'
import type { InstanceDeps } from '../deps.ts'
import { ImageFiles } from '../images/image-files.ts'
import { ImageService } from '../images/image-service.ts'
import { imageRoutes } from '../images/routes-images.ts'
import { nodeInfoRoutes } from '../nodeinfo/routes-nodeinfo.ts'
import type { NumbersReader } from '../numbers/numbers-reader.ts'
import { instancePageRoutes } from '../pages/routes-pages.ts'
import type { SettingsKeeper } from '../settings/settings-keeper.ts'
import { translationRoutes } from '../translation/routes-translation.ts'
import { TranslationService } from '../translation/translation-service.ts'
import { InstanceFace } from './instance-face.ts'
import { InstanceReader } from './instance-reader.ts'
import { PublicBodies } from './public-bodies.ts'
import { publicShortcuts } from './public-shortcuts.ts'
import { domainRoutes } from './routes-domains.ts'
import { publicRoutes } from './routes-public.ts'
import { ensureVapidKey } from './vapid-key.ts'

export interface PublicDeps extends InstanceDeps {
  changes: InstanceChanges
  keeper: SettingsKeeper
  contact: ContactReader
  numbers: NumbersReader
  rateLimit: readonly RateRule[]
}

/** What everybody may read, and the pictures and languages that belong to it. */
export function registerPublic(server: FastifyInstance, deps: PublicDeps): { load(): Promise<void> } {
  const { db, keeper, jobs, rateLimit, baseUrl, limits } = deps
  const translation = new TranslationService({ ...deps, settings: keeper })
  translation.schedule(jobs)
  let known: Promise<string> | undefined
  const vapidKey = () => {
    known ??= ensureVapidKey(deps).catch((error: unknown) => {
      known = undefined
      throw error
    })
    return known
  }
  const face = new InstanceFace({ ...deps, reader: new InstanceReader({ ...deps, translation }), vapidKey })
  server.addHook('onClose', async () => face.close())
  const parts = { face, bodies: new PublicBodies({ enforced: limits, baseUrl }), translation, rateLimit, baseUrl }
  publicRoutes(server, parts)
  domainRoutes(server, parts)
  publicShortcuts(server, parts)
  imageRoutes(server, { images: new ImageService(deps), files: new ImageFiles(db), rateLimit, baseUrl })
  translationRoutes(server, translation, rateLimit)
  instancePageRoutes(server, parts)
  nodeInfoRoutes(server, face, baseUrl)
  server.platform.unknownRouteLimits = (path) => (isCounted(path) ? rateLimit : [])
  return {
    /** The key is made at the first start, not at the first question. */
    load: async () => void (await vapidKey()),
  }
}

const COUNTED = ['/api/v1/instance', '/api/v2/instance', '/api/v1/peers', '/api/v1/admin']

function isCounted(path: string): boolean {
  return COUNTED.some((prefix) => path.startsWith(prefix))
}
