/** The body of each endpoint, made from a view when it is first asked for. */
import { activityDocument } from './activity-document.ts'
import { BodyKeeper } from './body-keeper.ts'
import type { EnforcedLimits } from './configuration-document.ts'
import { allowDocument, blockDocument } from './domain-documents.ts'
import { instanceV1, instanceV2, ruleDocument } from './instance-documents.ts'
import type { InstanceView } from './instance-face.ts'
import { knownLanguages } from './known-languages.ts'
import type { PreparedBody } from './prepared-body.ts'
import { extendedDescription, privacyPolicy, termsOfDate, termsOfService } from './text-documents.ts'

export interface PublicBodiesOptions {
  enforced: EnforcedLimits
  baseUrl(): string
}

/** A promise while a long one is written. */
export type ListBody = PreparedBody | Promise<PreparedBody>

const ALWAYS = {}

export class PublicBodies {
  readonly #options: PublicBodiesOptions
  readonly #keeper = new BodyKeeper()

  constructor(options: PublicBodiesOptions) {
    this.#options = options
  }

  v2({ data }: InstanceView): PreparedBody {
    return this.#keeper.body('v2', data, () => ({ document: instanceV2(data, this.#context()) }))
  }

  v1({ data }: InstanceView): PreparedBody {
    return this.#keeper.body('v1', data, () => ({ document: instanceV1(data, this.#context()) }))
  }

  rules({ data }: InstanceView): PreparedBody {
    return this.#keeper.body('rules', data, () => ({ document: data.rules.map(ruleDocument) }))
  }

  activity({ data }: InstanceView): PreparedBody {
    return this.#keeper.body('activity', data, () => ({ document: activityDocument(data) }))
  }

  peers({ lists }: InstanceView): ListBody {
    return this.#keeper.list('peers', lists, lists.peers, (domain) => domain)
  }

  domainBlocks({ lists }: InstanceView, showsComments: boolean): ListBody {
    const name = showsComments ? 'blocks with comments' : 'blocks'
    return this.#keeper.list(name, lists, lists.blocks, (block) => blockDocument(block, showsComments))
  }

  domainAllows({ lists }: InstanceView): ListBody {
    return this.#keeper.list('allows', lists, lists.allowed, allowDocument)
  }

  extendedDescription({ data }: InstanceView): PreparedBody {
    return this.#keeper.body('extended description', data, () => extendedDescription(data, this.#options.baseUrl()))
  }

  privacyPolicy({ data }: InstanceView): PreparedBody {
    return this.#keeper.body('privacy policy', data, () => privacyPolicy(data, this.#options.baseUrl()))
  }

  /** Undefined when there are none. */
  terms(view: InstanceView, date?: string): PreparedBody | undefined {
    const { data, today } = view
    const known = date === undefined ? data.terms.length > 0 : data.terms.some((one) => one.effectiveDate === date)
    if (!known) return undefined
    const baseUrl = this.#options.baseUrl()
    const make = () =>
      date === undefined ? termsOfService(data, baseUrl, today) : termsOfDate(data, baseUrl, today, date)
    return this.#keeper.body(`terms ${date ?? ''}`, data, () => make() as NonNullable<ReturnType<typeof make>>)
  }

  /** Undefined while the list is not known. */
  translationLanguages({ languages }: InstanceView): PreparedBody | undefined {
    return languages && this.#keeper.body('translation languages', languages, () => ({ document: languages }))
  }

  languages(): PreparedBody {
    return this.#keeper.body('languages', ALWAYS, () => ({ document: knownLanguages() }))
  }

  #context() {
    return { baseUrl: this.#options.baseUrl(), enforced: this.#options.enforced }
  }
}
