import { randomBytes } from 'node:crypto'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import { MOST_SIGNING_SECRETS } from '../settings.ts'
import type { Namespace, NamespaceId } from './namespace.ts'

/** What is to become of the secrets: another list, or single ones added and dropped. */
export interface SigningChange {
  /** Instead of those that are there; null: those of the settings. Stands alone. */
  secrets?: readonly string[] | null
  /** Put before the others. */
  add?: string
  /** Makes one up and puts it before the others. */
  generate?: boolean
  /** The secret itself, or `oldest`; after one was added. */
  drop?: string
}

export interface ChangedSecrets {
  /** Newest first; null: those of the settings. */
  secrets: readonly string[] | null
  /** To be shown this once. */
  generated: string | null
}

const OLDEST = 'oldest'
// As long as what HMAC-SHA256 makes of it.
const MINTED_BYTES = 32

export function isSigningChange({ secrets, add, generate, drop }: SigningChange): boolean {
  return secrets !== undefined || add !== undefined || generate === true || drop !== undefined
}

/** `current` are those that sign now: an added one joins them, so that receivers have time to change over. */
export function changeSecrets(current: readonly string[], change: SigningChange): ChangedSecrets {
  if (change.secrets !== undefined) return { secrets: change.secrets && unique(change.secrets), generated: null }
  const generated = change.generate === true ? mintSigningSecret() : null
  const added = [generated, change.add].filter((secret) => secret != null)
  const all = unique([...added, ...current])
  const secrets = change.drop === undefined ? all : withoutOne(all, change.drop)
  if (secrets.length > MOST_SIGNING_SECRETS) {
    throw new AppError('failed_precondition', `At most ${MOST_SIGNING_SECRETS} secrets can sign: drop one first`)
  }
  return { secrets, generated }
}

function unique(secrets: readonly string[]): string[] {
  return [...new Set(secrets)]
}

function withoutOne(secrets: readonly string[], drop: string): string[] {
  if (drop === OLDEST) {
    if (secrets.length > 1) return secrets.slice(0, -1)
    throw new AppError(
      'failed_precondition',
      secrets.length === 0
        ? 'No secret signs, so there is none to drop'
        : 'Only one secret signs: add another one first, or set "signing.secrets" to an empty list to sign no more',
    )
  }
  if (!secrets.includes(drop)) throw new AppError('failed_precondition', 'The secret to drop does not sign')
  return secrets.filter((secret) => secret !== drop)
}

function mintSigningSecret(): string {
  return `whsec_${randomBytes(MINTED_BYTES).toString('base64')}`
}

export function sealSecrets(cipher: Cipher, id: NamespaceId, secrets: readonly string[]): string[] {
  return secrets.map((secret) => cipher.encrypt(Buffer.from(secret), bindingOf(id)))
}

/** Those of its own; null where those of the settings sign. */
export function openSecrets(
  cipher: Cipher,
  { id, name, sealedSecrets }: Pick<Namespace, 'id' | 'name' | 'sealedSecrets'>,
): string[] | null {
  if (sealedSecrets === null) return null
  return sealedSecrets.map((sealed) => {
    const secret = cipher.decrypt(sealed, bindingOf(id))
    // To send without a signature what receivers expect to be signed would be worse.
    if (secret === undefined) throw unreadable(name)
    return secret.toString()
  })
}

function unreadable(name: string): AppError {
  return new AppError('internal', `The signing secrets of the namespace "${name}" cannot be read`, {
    cause: new Error(
      `A signing secret of the namespace "${name}" was encrypted with another key: set its secrets anew`,
    ),
  })
}

function bindingOf(id: NamespaceId): string {
  return `namespaces ${id} signing_secrets`
}
