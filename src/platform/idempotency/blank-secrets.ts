import { isSecretName } from '../audit/record.ts'

/**
 * A JSON document as it may be kept: texts under the name of a secret are emptied, and so is every member that the
 * operation names. A secret is shown once, and never to whoever can read the database.
 */
export function blankSecrets(body: string, names: readonly string[]): string {
  if (body === '') return body
  return JSON.stringify(
    JSON.parse(body, function (this: unknown, name: string, value: unknown) {
      if (Array.isArray(this)) return value
      if (names.includes(name)) return blank(value)
      return typeof value === 'string' && isSecretName(name) ? '' : value
    }),
  )
}

function blank(value: unknown): unknown {
  if (typeof value === 'string') return ''
  if (Array.isArray(value)) return []
  return typeof value === 'object' && value !== null ? {} : null
}
