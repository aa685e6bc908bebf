import { createHash, randomFillSync } from 'node:crypto'

/** Branding keeps a UserId from being passed as a RoleId; at run time it is a lower-case UUID string. */
export type Id<Brand extends string> = string & { readonly __brand: Brand }

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The id in canonical form, or undefined when the text is no UUID. */
export function parseId<B extends string>(text: string): Id<B> | undefined {
  const lower = text.toLowerCase()
  return UUID.test(lower) ? (lower as Id<B>) : undefined
}

const BARE = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/

/** The same where missing hyphens are forgiven, too; null when the text is no UUID. */
export function parseBareId(text: string): string | null {
  return parseId(text) ?? BARE.exec(text.toLowerCase())?.slice(1).join('-') ?? null
}

// Random digits are drawn in bulk, and the digits of a millisecond are written once: an id is mostly one concatenation.
const POOL = Buffer.alloc(4_096)
const DIGITS_PER_ID = 16
let digits = ''
let used = 0
let lastMs = 0
let timeDigits = ''
let sequence = 0

/** By the code of a random hexadecimal digit: the digit that carries the variant and two random bits. */
const VARIANT_DIGITS = Array.from(
  { length: 128 },
  (_, code) => '89ab'[Number.parseInt(String.fromCharCode(code), 16) & 3],
)

/**
 * UUID version 7: sorts by creation time, so indexes grow at one end. The 12 bits after the version are a
 * counter within the millisecond, which keeps ids of one process strictly ascending.
 */
export function newId<B extends string>(nowMs: number = Date.now()): Id<B> {
  if (used + DIGITS_PER_ID > digits.length) {
    digits = randomFillSync(POOL).toString('hex')
    used = 0
  }
  if (nowMs > lastMs) {
    // Starts in the lower half, so that 2,000 ids fit into the millisecond before the counter has to borrow from the next.
    startMillisecond(nowMs, Number.parseInt(digits.slice(used, used + 3), 16) & 0x7ff)
  } else if (++sequence > 0xfff) {
    startMillisecond(lastMs + 1, 0)
  }
  const at = used
  used += DIGITS_PER_ID
  const variant = VARIANT_DIGITS[digits.charCodeAt(at)]
  return `${timeDigits}${(0x7000 | sequence).toString(16)}-${variant}${digits.slice(at + 1, at + 4)}-${digits.slice(at + 4, used)}` as Id<B>
}

function startMillisecond(ms: number, firstInIt: number): void {
  lastMs = ms
  sequence = firstInIt
  const time = ms.toString(16).padStart(12, '0')
  timeDigits = `${time.slice(0, 8)}-${time.slice(8)}-`
}

/** UUID version 5: the same name gives the same id on every instance. */
export function nameId<B extends string>(namespace: string, name: string): Id<B> {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name, 'utf8')
    .digest()
  hash[6] = ((hash[6] as number) & 0x0f) | 0x50
  hash[8] = ((hash[8] as number) & 0x3f) | 0x80
  const hex = hash.toString('hex', 0, 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Id<B>
}
