import { createHash, randomFillSync } from 'node:crypto'

/** Branding keeps a UserId from being passed as a RoleId; at run time it is a lower-case UUID string. */
export type Id<Brand extends string> = string & { readonly __brand: Brand }

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** The id in canonical form, or undefined when the text is no UUID. */
export function parseId<B extends string>(text: string): Id<B> | undefined {
  const lower = text.toLowerCase()
  return UUID.test(lower) ? (lower as Id<B>) : undefined
}

// Random bytes are drawn in bulk: one system call serves 256 ids.
const POOL = Buffer.alloc(10 * 256)
let used = POOL.length
let lastMs = 0
let sequence = 0

/**
 * UUID version 7: sorts by creation time, so indexes grow at one end. The 12 bits after the version are a
 * counter within the millisecond, which keeps ids of one process strictly ascending.
 */
export function newId<B extends string>(nowMs: number = Date.now()): Id<B> {
  if (used + 10 > POOL.length) {
    randomFillSync(POOL)
    used = 0
  }
  if (nowMs > lastMs) {
    lastMs = nowMs
    // Start low enough that 2,000 ids fit into the millisecond before the counter has to borrow from the next.
    sequence = POOL.readUInt16BE(used) & 0x7ff
  } else if (++sequence > 0xfff) {
    lastMs++
    sequence = 0
  }
  const time = lastMs.toString(16).padStart(12, '0')
  const variant = (0x80 | (POOL.readUInt8(used + 2) & 0x3f)).toString(16)
  const tail = POOL.toString('hex', used + 3, used + 10)
  used += 10
  const counter = (0x7000 | sequence).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-${counter}-${variant}${tail.slice(0, 2)}-${tail.slice(2)}` as Id<B>
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
