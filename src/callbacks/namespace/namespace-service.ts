import { auditChange, type Change, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { enqueueJob } from '../../platform/jobs/enqueue.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database, Reader, Transaction } from '../../platform/storage/database.ts'
import { NAMESPACE_NAME } from '../settings.ts'
import { namespaceNotFound } from '../wire/error-details.ts'
import { fittingItems, textBytes } from '../wire/fitting-items.ts'
import { applyWish, refuseContradictions } from './apply-wish.ts'
import { changesBetween } from './audited-changes.ts'
import { newNamespace } from './ensure-namespaces.ts'
import type { Namespace, ShownNamespace } from './namespace.ts'
import type { NamespacePolicies } from './namespace-policies.ts'
import type { NamespaceWish, NewNamespace } from './namespace-wish.ts'
import { decodePageToken, encodePageToken } from './page-token.ts'
import { PURGE_AFTER_MICROS, PURGE_NAMESPACE } from './purge-namespace.ts'
import { changeSecrets, isSigningChange, type SigningChange, sealSecrets } from './signing-secrets.ts'
import { hasRunning, holdNamespace } from './store-namespace-runs.ts'
import { findNamespace, insertNamespace, listNamespaces, retireNamespace, updateNamespace } from './store-namespaces.ts'

export interface NamespaceServiceOptions {
  db: Database
  clock: Clock
  cipher: Cipher
  policies: NamespacePolicies
}

export interface ChangedNamespace extends ShownNamespace {
  /** False when it was so already. */
  changed: boolean
  /** A secret that was made up, to be shown this once. */
  generatedSecret: string | null
}

export interface NamespacePage {
  namespaces: ShownNamespace[]
  /** Null on the last page. */
  nextPageToken: string | null
}

const LARGEST_PAGE = 1_000
// Of everything that is never long.
const BYTES_BESIDE = 2_000

/** Who may do what is decided before: reading needs `callbacks_read`, everything else `org_management`. */
export class NamespaceService {
  readonly #options: NamespaceServiceOptions

  constructor(options: NamespaceServiceOptions) {
    this.#options = options
  }

  /** Oldest first. */
  async list(_principal: Principal, input: { pageSize?: number; pageToken?: string } = {}): Promise<NamespacePage> {
    const { pageSize = 0, pageToken = '' } = input
    const limit = pageSize > 0 && pageSize < LARGEST_PAGE ? pageSize : LARGEST_PAGE
    const after = pageToken === '' ? null : decodePageToken(pageToken)
    // One more than asked for tells whether there is another page.
    const found = await listNamespaces(this.#options.db, { after, limit: limit + 1 })
    const page = fittingItems(
      found.slice(0, limit).map((namespace) => this.#show(namespace)),
      namespaceBytes,
    )
    const last = found.length > page.length ? page.at(-1) : undefined
    return { namespaces: page, nextPageToken: last === undefined ? null : encodePageToken(last.namespace.id) }
  }

  async get(_principal: Principal, { name }: { name: string }): Promise<ShownNamespace> {
    return this.#show(await requireNamespace(this.#options.db, name))
  }

  async create(principal: Principal, input: NewNamespace, client?: ClientInfo): Promise<ChangedNamespace> {
    const { db, clock, policies } = this.#options
    if (!NAMESPACE_NAME.test(input.name)) throw new AppError('invalid_argument', 'The name of a namespace is not valid')
    const empty = newNamespace(input.name, {}, clock.now())
    return db.write(async (tx) => {
      const wished = applyWish(empty, input)
      refuseContradictions(policies.policyOf(wished), input)
      const { namespace, generatedSecret } = this.#sign(wished, input.signing)
      if (!(await insertNamespace(tx, namespace))) throw alreadyThere(input.name)
      const changes = { name: { new: namespace.name }, ...changesBetween(empty, namespace) }
      await audit(tx, principal, namespace, { action: 'namespace.created', changes }, client)
      policies.announce(tx)
      return { ...this.#show(namespace), changed: true, generatedSecret }
    })
  }

  update(
    principal: Principal,
    input: NamespaceWish & { name: string },
    client?: ClientInfo,
  ): Promise<ChangedNamespace> {
    const { db, clock, policies } = this.#options
    return db.write(async (tx) => {
      const before = await requireNamespace(tx, input.name)
      this.#refuseListedAttributes(input)
      const wished = applyWish(before, input)
      refuseContradictions(policies.policyOf(wished), input)
      const { namespace: after, generatedSecret } = this.#sign(wished, input.signing)
      const changes = changesBetween(before, after)
      const changed = Object.keys(changes).length > 0
      if (!changed) return { ...this.#show(before), changed, generatedSecret }
      after.modifiedAt = clock.now()
      await updateNamespace(tx, after)
      await audit(tx, principal, after, { action: 'namespace.updated', changes }, client)
      policies.announce(tx)
      return { ...this.#show(after), changed, generatedSecret }
    })
  }

  /** Its name is free at once. What it held goes in the background. */
  async delete(principal: Principal, { name }: { name: string }, client?: ClientInfo): Promise<void> {
    const { db, clock, policies } = this.#options
    await db.write(
      async (tx) => {
        const namespace = await requireNamespace(tx, name, holdNamespace)
        if (policies.listed(name) !== undefined) throw stillListed(`The namespace "${name}"`, `callbacks.namespaces`)
        if (await hasRunning(tx, namespace.id)) {
          throw new AppError(
            'failed_precondition',
            `Callbacks are running in the namespace "${name}": wait for them or terminate them first`,
          )
        }
        const now = clock.now()
        await retireNamespace(tx, namespace, now)
        const payload = { namespaceId: namespace.id, organizationId: principal.organizationId }
        const dueAt = now + PURGE_AFTER_MICROS
        await enqueueJob(tx, { kind: PURGE_NAMESPACE, key: namespace.id, payload, dueAt }, now)
        await audit(tx, principal, namespace, { action: 'namespace.deleted', changes: { name: { old: name } } }, client)
        policies.announce(tx)
      },
      { isolation: 'read committed' },
    )
  }

  #sign(namespace: Namespace, change: SigningChange | undefined) {
    if (change === undefined || !isSigningChange(change)) return { namespace, generatedSecret: null }
    const { cipher, policies } = this.#options
    // A list that replaces the old one must work also when the old one cannot be read.
    const current = change.secrets === undefined ? policies.secretsOf(namespace) : []
    const { secrets, generated } = changeSecrets(current, change)
    const sealedSecrets = secrets && sealSecrets(cipher, namespace.id, secrets)
    return { namespace: { ...namespace, sealedSecrets }, generatedSecret: generated }
  }

  #show(namespace: Namespace): ShownNamespace {
    const policy = this.#options.policies.policyOf(namespace)
    return { namespace, policy, secretCount: (namespace.sealedSecrets ?? policy.signing_secrets).length }
  }

  #refuseListedAttributes({ name, searchAttributes = {} }: NamespaceWish & { name: string }): void {
    const listed = this.#options.policies.listed(name)?.search_attributes ?? {}
    const removed = Object.keys(searchAttributes).filter((attribute) => searchAttributes[attribute] === null)
    const first = removed.find((attribute) => Object.hasOwn(listed, attribute))
    if (first === undefined) return
    throw stillListed(`The search attribute "${first}"`, `callbacks.namespaces.${name}.search_attributes`)
  }
}

function namespaceBytes({ namespace: { description, searchAttributes }, policy }: ShownNamespace): number {
  // On the wire a type has a longer name than here.
  const { allowed_addresses, allowed_private_cidrs, denied_ports } = policy
  const lists = JSON.stringify([searchAttributes, allowed_addresses, allowed_private_cidrs, denied_ports])
  return BYTES_BESIDE + textBytes(description) + 2 * Buffer.byteLength(lists)
}

async function requireNamespace<R extends Reader>(
  reader: R,
  name: string,
  find: (reader: R, name: string) => Promise<Namespace | undefined> = findNamespace,
): Promise<Namespace> {
  const namespace = NAMESPACE_NAME.test(name) ? await find(reader, name) : undefined
  if (namespace === undefined) throw namespaceNotFound(name)
  return namespace
}

function audit(
  tx: Transaction,
  principal: Principal,
  { id }: Namespace,
  change: Omit<Change, 'target'>,
  client?: ClientInfo,
): Promise<void> {
  return auditChange(tx, principal, { ...change, target: { type: 'namespaces', id } }, client)
}

function alreadyThere(name: string): AppError {
  return new AppError('conflict', `A namespace named "${name}" already exists`)
}

/** What the settings name is there again after the next start. */
function stillListed(what: string, path: string): AppError {
  return new AppError('failed_precondition', `${what} is listed in the settings: remove it from ${path} first`)
}
