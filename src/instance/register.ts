import type { FastifyInstance } from 'fastify'
import { InstanceChanges } from './changes.ts'
import { ContactReader } from './contact/contact-reader.ts'
import type { InstanceDeps } from './deps.ts'
import { DocumentService } from './documents/document-service.ts'
import { documentRoutes } from './documents/routes-documents.ts'
import { termsRoutes } from './documents/routes-terms.ts'
import { TermsService } from './documents/terms-service.ts'
import { BlockService } from './domains/block-service.ts'
import { DomainRules } from './domains/domain-rules.ts'
import { NamedDomainService } from './domains/named-domain-service.ts'
import { blockFileRoutes } from './domains/routes-block-files.ts'
import { blockRoutes } from './domains/routes-blocks.ts'
import { namedDomainRoutes } from './domains/routes-named-domains.ts'
import { instanceDomain } from './instance-domain.ts'
import { NumbersReader } from './numbers/numbers-reader.ts'
import { scheduleNumbersRetention } from './numbers/retention.ts'
import { instancePersonalData } from './personal-data.ts'
import { registerPublic } from './public/register-public.ts'
import { instanceRateRules } from './rate-rules.ts'
import { ruleRoutes } from './rules/routes-rules.ts'
import { RuleService } from './rules/rule-service.ts'
import { settingsRoutes } from './settings/routes-settings.ts'
import { SettingsKeeper } from './settings/settings-keeper.ts'
import { SettingsService } from './settings/settings-service.ts'

/** What outlives a request. */
export interface Instance {
  readonly settings: SettingsKeeper
  /** Which hosts nothing may be delivered to. */
  readonly domainRules: DomainRules
  /** Reads what requests decide by. Before the server listens. */
  load(): Promise<void>
}

/** The table of contents of the instance surface. */
export function registerInstance(server: FastifyInstance, deps: InstanceDeps): Instance {
  const { db, clock, log, baseUrl } = deps
  const changes = new InstanceChanges(db)
  const keeper = new SettingsKeeper({ ...deps, changes })
  const rateLimit = instanceRateRules(keeper)
  const options = { db, clock, changes, keeper, baseUrl }
  const paged = { rateLimit, baseUrl }
  server.addHook('onClose', async () => changes.close())
  server.platform.realm = () => instanceDomain(keeper.known(), baseUrl())

  deps.personalData.join(...instancePersonalData({ changes }))
  scheduleNumbersRetention(deps)
  settingsRoutes(server, new SettingsService({ ...deps, changes, keeper }), rateLimit)
  ruleRoutes(server, new RuleService(options), rateLimit)
  documentRoutes(server, new DocumentService(options), rateLimit)
  termsRoutes(server, new TermsService(options), rateLimit)
  blockFileRoutes(server, options, rateLimit)
  blockRoutes(server, new BlockService(options), paged)
  const allows = {
    path: '/api/v1/admin/domain_allows',
    name: 'DomainAllow',
    many: 'allowed domains',
    one: 'an allowed domain',
    domains: new NamedDomainService(options, 'domain_allows'),
  }
  namedDomainRoutes(server, allows, paged)
  const peers = {
    path: '/api/v1/admin/instance/peers',
    name: 'DeclaredPeer',
    many: 'declared peers',
    one: 'a declared peer',
    domains: new NamedDomainService(options, 'declared_peers'),
  }
  namedDomainRoutes(server, peers, paged)

  const domainRules = new DomainRules({ db, clock, log, changes, keeper })
  const contact = new ContactReader(deps)
  const numbers = new NumbersReader(deps)
  const publicFace = registerPublic(server, { ...deps, changes, keeper, contact, numbers, rateLimit })
  return {
    settings: keeper,
    domainRules,
    async load() {
      await keeper.current()
      await domainRules.load()
      await publicFace.load()
    },
  }
}
