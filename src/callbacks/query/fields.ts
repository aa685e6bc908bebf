export const SEARCH_ATTRIBUTE_TYPES = ['Keyword', 'KeywordList', 'Text', 'Int', 'Double', 'Bool', 'Datetime'] as const

export type FieldType = (typeof SEARCH_ATTRIBUTE_TYPES)[number]

/** What a query may ask about: a fact that every run has, or a search attribute of the namespace. */
export interface Field {
  name: string
  type: FieldType
  isSystem: boolean
}

export type FieldCatalogue = ReadonlyMap<string, Field>

/** By the name that a query uses; the long one is a synonym. */
export const EXECUTION_STATUSES = ['Running', 'Succeeded', 'Failed', 'Terminated'] as const

export type ExecutionStatusName = (typeof EXECUTION_STATUSES)[number]

const SYSTEM_TYPES = {
  ExecutionStatus: 'Keyword',
  CallbackId: 'Keyword',
  RunId: 'Keyword',
  StartTime: 'Datetime',
  CloseTime: 'Datetime',
  ExecutionDuration: 'Int',
  StateTransitionCount: 'Int',
} as const satisfies Record<string, FieldType>

export type SystemFieldName = keyof typeof SYSTEM_TYPES

const SYSTEM_FIELDS: FieldCatalogue = new Map([
  ...Object.entries(SYSTEM_TYPES).map(([name, type]) => [name, { name, type, isSystem: true }] as const),
  ['CreateTime', { name: 'StartTime', type: 'Datetime', isSystem: true }] as const,
])

/** Whether the name is taken, so that no search attribute may have it. */
export function isSystemField(name: string): boolean {
  return SYSTEM_FIELDS.has(name)
}

export function fieldCatalogue(searchAttributes: Readonly<Record<string, string>>): FieldCatalogue {
  const catalogue = new Map<string, Field>()
  for (const [name, declared] of Object.entries(searchAttributes)) {
    const type = SEARCH_ATTRIBUTE_TYPES.find((known) => known === declared)
    if (type !== undefined) catalogue.set(name, { name, type, isSystem: false })
  }
  for (const [name, field] of SYSTEM_FIELDS) catalogue.set(name, field)
  return catalogue
}

const LONG_STATUS = 'CALLBACK_EXECUTION_STATUS_'

/** The short name of a status for its long one; every other text as it is, since an unknown status is no mistake. */
export function statusName(text: string): string {
  if (!text.startsWith(LONG_STATUS)) return text
  const long = text.slice(LONG_STATUS.length)
  return EXECUTION_STATUSES.find((status) => status.toUpperCase() === long) ?? text
}
