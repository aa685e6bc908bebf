import { type Static, Type } from 'typebox'
import type { AuditFilter, RecordedEvent } from '../../platform/audit/list.ts'
import { MICROS_PER_MS, type Micros, toRfc3339 } from '../../platform/clock/clock.ts'
import { nullable } from '../../platform/http/input/nullable.ts'
import { parseId } from '../../platform/ids/uuid.ts'

function time(description: string) {
  return Type.Optional(
    Type.Refine(
      Type.String({ description, documented: { format: 'date-time' } }),
      (text) => toMicros(text) !== undefined,
      () => 'is not a valid RFC 3339 time',
    ),
  )
}

export const AuditQuery = Type.Object({
  'filter[action]': Type.Optional(Type.String({ allowEmptyValue: true, description: 'Such as user.created.' })),
  'filter[actor]': Type.Optional(Type.String({ allowEmptyValue: true, description: 'Id of the user who did it.' })),
  'filter[target]': Type.Optional(Type.String({ allowEmptyValue: true, description: 'Id of what it was done to.' })),
  'filter[from]': time('Not before this time.'),
  'filter[to]': time('Not after this time.'),
  'page[limit]': Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 10 })),
  'page[cursor]': Type.Optional(Type.String({ description: 'meta.page.after of the page before.' })),
})

const AuditResource = Type.Object({
  type: Type.Literal('audit_events'),
  id: Type.String(),
  attributes: Type.Object({
    timestamp: Type.String({ format: 'date-time' }),
    action: Type.String(),
    actor: Type.Object({
      user_id: nullable(Type.String()),
      kind: Type.String({ description: 'user, service_account, system or scim' }),
      auth_method: nullable(Type.String()),
      credential_id: nullable(Type.String()),
    }),
    target: nullable(Type.Object({ type: Type.String(), id: Type.String() })),
    outcome: Type.String({ description: 'success or failure' }),
    client_address: nullable(Type.String()),
    user_agent: nullable(Type.String()),
    request_id: nullable(Type.String()),
    changes: Type.Unknown({ description: 'Attribute to its old and new value.' }),
  }),
})

export const AuditListDocument = Type.Object({
  data: Type.Array(AuditResource),
  meta: Type.Object({ page: Type.Object({ after: nullable(Type.String()) }) }),
})

export type WireAuditEvent = Static<typeof AuditResource>

export function auditEventToWire(event: RecordedEvent): WireAuditEvent {
  const { actor, client } = event
  return {
    type: 'audit_events',
    id: event.id,
    attributes: {
      timestamp: toRfc3339(event.at),
      action: event.action,
      actor: {
        user_id: actor.id,
        kind: actor.kind,
        auth_method: actor.method,
        credential_id: actor.credentialId,
      },
      target: event.target,
      outcome: event.outcome,
      client_address: client.address,
      user_agent: client.userAgent,
      request_id: client.requestId,
      changes: event.changes,
    },
  }
}

export function auditFilter(query: Static<typeof AuditQuery>): AuditFilter {
  const { 'filter[from]': from, 'filter[to]': to, 'filter[target]': target } = query
  return {
    action: query['filter[action]'],
    actorId: query['filter[actor]']?.toLowerCase(),
    // Not every target has a UUID: names of operations are told apart by case.
    targetId: target && (parseId(target) ?? target),
    from: from === undefined ? undefined : toMicros(from),
    // Times are answered in milliseconds, so the last one is meant as a whole.
    to: to === undefined ? undefined : (toMicros(to) as Micros) + MICROS_PER_MS - 1,
  }
}

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+ -]\d\d:\d\d)$/

/** A `+` of an offset arrives as a blank when it was not percent-encoded. */
function toMicros(text: string): Micros | undefined {
  if (!RFC3339.test(text)) return undefined
  const millis = Date.parse(text.replace(/ (?=\d\d:\d\d$)/, '+').replace(' ', 'T'))
  return Number.isNaN(millis) || !isDay(text.slice(0, 10)) ? undefined : millis * MICROS_PER_MS
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isDay(date: string): boolean {
  const midnight = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(midnight) && toRfc3339(midnight * MICROS_PER_MS).startsWith(date)
}
