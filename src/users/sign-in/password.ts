import { hash, verify } from '@node-rs/argon2'

// 19 MiB, two passes, one lane: about 50 ms. Argon2id is the library's default algorithm.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Slow by design and off the event loop; never call it inside a transaction. */
export function hashPassword(password: string): Promise<string> {
  return hash(normalize(password), COST)
}

// Hash of nothing anybody can type, made on first need: an unknown user must cost as much time as a wrong password.
let decoy: Promise<string> | undefined

export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  decoy ??= hash(Buffer.from([0xff, 0xfe]), COST)
  const matches = await verify(stored ?? (await decoy), normalize(password))
  return matches && stored !== null
}

/** The same keys give the same bytes on every keyboard and system. */
function normalize(password: string): string {
  return password.normalize('NFKC')
}
