/**
 * The key of the translation service is shown masked, and stays so: who has not got it cannot have it sent to an address of their own.
 * The provider's own host, and an address that the operator set, may have it.
 */
import type { FieldProblem } from '../invalid.ts'
import type { InstanceSettings } from '../settings.ts'
import type { Patched } from './settings-patch.ts'

type Translation = InstanceSettings['translation']

const KEY = 'translation.api_key'
const ENDPOINT = 'translation.endpoint'

/** What of the patch would have a key that is not in it sent where it was not sent before. */
export function keyAddressProblem(before: Translation, after: Translation, patched: Patched): FieldProblem | undefined {
  const { stored, given } = patched
  if (after.api_key === null || after.provider === null || typeof stored.get(ENDPOINT) !== 'string') return undefined
  if (given.includes(KEY)) return undefined
  const isOperators = !stored.has(KEY)
  for (const member of ['endpoint', 'provider'] as const) {
    const field = `translation.${member}`
    if (after[member] !== before[member]) return isOperators ? fixed(field) : withoutKey(field)
  }
  return after.api_key === before.api_key ? undefined : alone
}

function withoutKey(field: string): FieldProblem {
  const text = `needs ${KEY} in the same request: the key that is there would be sent to another address`
  return { field, text, code: 'ERR_INVALID' }
}

function fixed(field: string): FieldProblem {
  return { field, text: "is called with a key from the server's settings: change it there", code: 'ERR_FIXED' }
}

const alone: FieldProblem = {
  field: KEY,
  text: `cannot be dropped without ${ENDPOINT}: the key from the server's settings would be sent to it`,
  code: 'ERR_INVALID',
}
