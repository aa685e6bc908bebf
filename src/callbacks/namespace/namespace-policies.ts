import { LookUpCache } from '../../platform/auth/look-up-cache.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { createIpFilter } from '../../platform/outbound/ip-filter.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { OtherProcesses } from '../../platform/storage/other-processes.ts'
import type { TargetPolicy } from '../destination/address/find-target-problem.ts'
import { readSigningSecret } from '../destination/send/signature.ts'
import { type CallbackPolicy, type CallbacksSettings, NAMESPACE_NAME, policyOf } from '../settings.ts'
import { type RetryPolicy, retryPolicyOf } from '../state/retry-policy.ts'
import type { Namespace, NamespaceId, SearchAttributeTypes } from './namespace.ts'
import { openSecrets } from './signing-secrets.ts'
import { findNamespaceRow, findNamespaceRowById, type NamespaceRow, toNamespace } from './store-namespaces.ts'

/** The values in effect, ready to be used. */
export interface EffectivePolicy {
  /** Without `signing_secrets`: those that sign are below. */
  policy: CallbackPolicy
  targetPolicy: TargetPolicy
  retryPolicy: RetryPolicy
  /** The bytes, newest first; empty: nothing is signed. */
  signingSecrets: readonly Uint8Array[]
}

/** A namespace as starts and attempts use it. */
export interface ActiveNamespace extends EffectivePolicy {
  id: NamespaceId
  name: string
  searchAttributes: SearchAttributeTypes
}

export interface NamespacePoliciesOptions {
  db: Database
  clock: Clock
  cipher: Cipher
  settings: CallbacksSettings
}

const TOPIC = 'namespaces'
// A change is told to every process at once. This is for one that did not hear it: a listener that lost its connection,
// or a command beside a server on SQLite.
const MAX_AGE_MS = 1_000
const MOST = 1_000

/** What holds in each namespace, from memory as a rule. An unchanged namespace keeps its object. */
export class NamespacePolicies {
  /** The server's own values, for a namespace that nobody has made. */
  readonly server: EffectivePolicy
  readonly #options: NamespacePoliciesOptions
  readonly #cache: LookUpCache<ActiveNamespace>
  readonly #made = new Map<NamespaceId, { row: NamespaceRow; value: ActiveNamespace }>()
  readonly #listeners = new Set<() => void>()
  readonly #unsubscribe: () => void

  constructor(options: NamespacePoliciesOptions) {
    this.#options = options
    const { db, clock, settings } = options
    this.server = effective(policyOf(settings, ''))
    this.#cache = new LookUpCache({ clock, maxAgeMs: MAX_AGE_MS, maxFound: MOST, maxMissing: MOST })
    const onChange = () => {
      this.#cache.clear()
      for (const listener of this.#listeners) listener()
    }
    const unsubscribe = db.subscribe(TOPIC, onChange)
    const unwatch = new OtherProcesses(db, clock).watch(onChange)
    this.#unsubscribe = () => {
      unsubscribe()
      unwatch()
    }
  }

  async find(name: string): Promise<ActiveNamespace | null> {
    if (!NAMESPACE_NAME.test(name)) return null
    let isOwn = false
    const lookUp = async () => {
      isOwn = true
      return this.#policyFor(await findNamespaceRow(this.#options.db, name))
    }
    const found = await this.#cache.get(name, lookUp)
    // That there was none before this was asked is no answer: another process may have made it since.
    return (found === undefined && !isOwn ? await lookUp() : found) ?? null
  }

  /** Also of a namespace that was deleted while something of it is left. */
  async findById(id: NamespaceId): Promise<ActiveNamespace | null> {
    const { db } = this.#options
    return (await this.#cache.get(idKey(id), async () => this.#policyFor(await findNamespaceRowById(db, id)))) ?? null
  }

  /** Without waiting: undefined when it has to be looked up, or there is none. */
  peek(name: string): ActiveNamespace | undefined {
    return this.#cache.peek(name)
  }

  peekById(id: NamespaceId): ActiveNamespace | undefined {
    return this.#cache.peek(idKey(id))
  }

  /** Of a namespace as it is stored, or would be. */
  policyOf({ name, overrides }: Pick<Namespace, 'name' | 'overrides'>): CallbackPolicy {
    return policyOf(this.#options.settings, name, overrides)
  }

  /** What the settings file says the namespace has; undefined when it does not name it. */
  listed(name: string): CallbacksSettings['namespaces'][string] | undefined {
    const { namespaces } = this.#options.settings
    return Object.hasOwn(namespaces, name) ? namespaces[name] : undefined
  }

  /** The secrets that sign, newest first. */
  secretsOf(namespace: Namespace): readonly string[] {
    return openSecrets(this.#options.cipher, namespace) ?? this.policyOf(namespace).signing_secrets
  }

  /** Part of every change of a namespace. */
  announce(tx: Transaction): void {
    tx.afterCommit(() => this.#cache.clear())
    tx.signal(TOPIC)
  }

  /** Told when a namespace may have changed, in whichever process; the answer ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#unsubscribe()
  }

  #policyFor(row: NamespaceRow | undefined): ActiveNamespace | undefined {
    if (row === undefined) return undefined
    const known = this.#made.get(row.id)
    if (known !== undefined && isSame(known.row, row)) return known.value
    const namespace = toNamespace(row)
    const value = {
      ...effective(this.policyOf(namespace), this.secretsOf(namespace)),
      id: namespace.id,
      name: namespace.name,
      searchAttributes: namespace.searchAttributes,
    }
    this.#made.delete(row.id)
    this.#made.set(row.id, { row, value })
    for (const id of this.#made.keys()) {
      if (this.#made.size <= MOST) break
      this.#made.delete(id)
    }
    return value
  }
}

function effective(policy: CallbackPolicy, secrets: readonly string[] = policy.signing_secrets): EffectivePolicy {
  return {
    policy: { ...policy, signing_secrets: [] },
    targetPolicy: {
      rules: policy.allowed_addresses,
      filter: createIpFilter(policy.allowed_private_cidrs),
      deniedPorts: policy.denied_ports,
    },
    retryPolicy: retryPolicyOf(policy.retry),
    signingSecrets: secrets.map(readSigningSecret),
  }
}

function isSame(one: NamespaceRow, other: NamespaceRow): boolean {
  return one.name === other.name && one.settings === other.settings && one.search_attributes === other.search_attributes
}

// No name of a namespace holds a blank.
function idKey(id: NamespaceId): string {
  return `id ${id}`
}
