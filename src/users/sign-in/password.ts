import { hash, verify } from '@node-rs/argon2'
import { AppError } from '../../platform/errors/app-error.ts'
import { passwordText } from './password-text.ts'

// 19 MiB, two passes, one lane: about 50 ms. Argon2id is the library's default algorithm.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// Half of the threads that the process has for such work: the others write the log, compress answers and look names up.
const AT_ONCE = 2
// Some seconds; who comes behind them would wait in vain.
const MOST_WAITING = 100

/** Slow by design and off the event loop; never call it inside a transaction. */
export function hashPassword(password: string): Promise<string> {
  return inLine(() => hash(passwordText(password), COST))
}

// Hash of nothing anybody can type, made on first need: an unknown user must cost as much time as a wrong password.
let decoy: Promise<string> | undefined

export function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  return inLine(async () => {
    decoy ??= hash(Buffer.from([0xff, 0xfe]), COST)
    const matches = await verify(stored ?? (await decoy), passwordText(password))
    return matches && stored !== null
  })
}

let underWay = 0
const line: (() => void)[] = []

async function inLine<T>(work: () => Promise<T>): Promise<T> {
  if (underWay < AT_ONCE) underWay++
  else if (line.length < MOST_WAITING) await new Promise<void>((resolve) => line.push(resolve))
  else throw busy()
  try {
    return await work()
  } finally {
    const next = line.shift()
    if (next === undefined) underWay--
    else next()
  }
}

function busy(): AppError {
  return new AppError('unavailable', 'Too many passwords are being checked right now: try again in a moment', {
    headers: { 'retry-after': '5' },
  })
}
