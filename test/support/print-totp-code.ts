// Prints what an app would show now for a secret: `node print-totp-code.ts SECRET`
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { stepAt, totpCode } from '../../src/users/sign-in/totp.ts'
import { fromBase32 } from './accounts.ts'

console.log(totpCode(fromBase32(process.argv[2] ?? ''), stepAt(new SystemClock().now())))
