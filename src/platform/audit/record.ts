import type { OrganizationId, Principal } from '../auth/principal.ts'
import { type Micros, SystemClock } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import { newId } from '../ids/uuid.ts'
import type { Transaction } from '../storage/database.ts'
import { storableText } from '../text/storable-text.ts'
import { insertAuditEvent } from './store.ts'

export interface AuditActor {
  kind: 'user' | 'service_account' | 'system'
  id: string | null
  method: string | null
  credentialId: string | null
}

export interface AuditEvent {
  organizationId: OrganizationId
  /** `noun.verb`, such as `user.created`. */
  action: string
  outcome?: 'success' | 'failure'
  actor: AuditActor
  target: { type: string; id: string } | null
  changes?: Record<string, { old?: unknown; new?: unknown }>
  client?: { address: string | null; userAgent: string | null; requestId: string | null }
  /** Now when absent. */
  at?: Micros
}

// The log is evidence about the real world, so its default time is the real one; a test that needs another gives it.
const clock = new SystemClock()

const LONGEST_TEXT = 512
const LARGEST_CHANGES = 65_536

/**
 * Appends to the audit log inside the transaction of the change: there is no change without its event and no event
 * without its change. Events are never edited; retention removes old ones, and anonymization blanks what names a
 * person (client_address, user_agent and changes, in events by and about that person).
 */
export async function recordAudit(tx: Transaction, event: AuditEvent): Promise<void> {
  const { actor, target, client } = event
  await tx.send(insertAuditEvent, {
    id: newId<'AuditEvent'>(),
    organization_id: event.organizationId,
    at: event.at ?? clock.now(),
    action: event.action,
    outcome: event.outcome ?? 'success',
    actor_kind: actor.kind,
    actor_id: actor.id,
    auth_method: actor.method,
    credential_id: actor.credentialId,
    target_type: target?.type ?? null,
    target_id: bounded(target?.id ?? null),
    client_address: bounded(client?.address ?? null),
    user_agent: bounded(client?.userAgent ?? null),
    request_id: bounded(client?.requestId ?? null),
    changes: event.changes === undefined ? '{}' : encodeChanges(event.changes),
  })
}

export function actor(principal: Pick<Principal, 'kind' | 'userId' | 'method' | 'credentialId'>): AuditActor {
  const { kind, userId, method, credentialId } = principal
  return { kind, id: userId, method, credentialId }
}

/** The server itself: first start, retention, catalogue sync. */
export const SYSTEM_ACTOR: AuditActor = { kind: 'system', id: null, method: null, credentialId: null }

// A client writes these as it likes.
function bounded(text: string | null): string | null {
  return text === null ? null : storableText(text, LONGEST_TEXT)
}

function encodeChanges(changes: NonNullable<AuditEvent['changes']>): string {
  refuseSecrets(changes, 0)
  const text = JSON.stringify(changes)
  if (text.length <= LARGEST_CHANGES) return text
  // That it changed is worth more than a row of any size.
  return JSON.stringify(
    Object.fromEntries(
      Object.keys(changes)
        .slice(0, 100)
        .map((name) => [name.slice(0, 100), { omitted: true }]),
    ),
  )
}

const SECRET_WORDS = new Set([
  'password',
  'passphrase',
  'secret',
  'token',
  'key',
  'hash',
  'otp',
  'totp',
  'credential',
  'cookie',
])
const DEEPEST = 16

/** Defence in depth: a secret must not get here at all, so one that does is a defect, and the change is rolled back. */
function refuseSecrets(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && isSecretName(name)) {
      throw new AppError('internal', 'The change could not be recorded', {
        cause: new Error(`The audit log must not hold the attribute "${name}"`),
      })
    }
    refuseSecrets(inner, depth + 1)
  }
}

/** `clientSecret`, `api_key`, `token-hash`, `Passwords`: any word of the name, in the singular or the plural. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return words.some(
    (word) =>
      SECRET_WORDS.has(word) || SECRET_WORDS.has(word.replace(/e?s$/, '')) || SECRET_WORDS.has(word.replace(/s$/, '')),
  )
}
