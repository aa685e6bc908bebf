// Longer ones only cost memory and time in the hash.
export const LONGEST_PASSWORD = 1_024

// Long enough for the default minimum and still among the first that anybody tries.
const COMMON = new Set([
  ...['123456789012', '1234567890123', '12345678901234', '123456789012345', '1234567890123456', '012345678910'],
  ...[
    '111111111111',
    '000000000000',
    'aaaaaaaaaaaa',
    'abcdefghijkl',
    'abcdefghijklm',
    'abcdefghijklmnop',
    'abcd12345678',
  ],
  ...[
    'qwertyuiop12',
    'qwertyuiop123',
    'qwertyuiopasdf',
    'qwertyuiop[]',
    'qwerty123456',
    'qwertyqwerty',
    '1q2w3e4r5t6y',
  ],
  ...[
    '1qaz2wsx3edc',
    '1qaz2wsx3edc4rfv',
    'zaq12wsxcde3',
    'asdfghjkl123',
    'asdfasdfasdf',
    'zxcvbnm12345',
    'q1w2e3r4t5y6',
  ],
  ...[
    'passwordpassword',
    'password1234',
    'password12345',
    'password123456',
    'mypassword123',
    'passw0rd1234',
    'p@ssw0rd1234',
  ],
  ...[
    'changemechangeme',
    'changeme1234',
    'changemenow1',
    'letmeinletmein',
    'letmein12345',
    'welcome12345',
    'welcome123456',
  ],
  ...[
    'administrator',
    'administrator1',
    'adminadminadmin',
    'admin1234567',
    'admin12345678',
    'rootrootroot',
    'superuser123',
  ],
  ...[
    'iloveyou1234',
    'iloveyouforever',
    'trustno1trustno1',
    'dragondragon',
    'monkeymonkey',
    'sunshine1234',
    'princess1234',
  ],
  ...['football1234', 'baseball1234', 'superman1234', 'correcthorsebatterystaple', 'commonplace1', 'commonplace123'],
])

/** Why the password is refused, as the end of "The password …"; undefined when it is good. */
export function passwordProblem(password: string, rules: { minLength: number; email: string }): string | undefined {
  const length = password.length > LONGEST_PASSWORD ? password.length : [...password].length
  if (length > LONGEST_PASSWORD) return `must have at most ${LONGEST_PASSWORD} characters`
  if (length < rules.minLength) return `must have at least ${rules.minLength} characters`
  const folded = password.trim().toLowerCase()
  if (folded === '' || COMMON.has(folded)) return 'is one of the first that anybody would try'
  if (folded === rules.email.toLowerCase()) return 'must not be the email address'
  return undefined
}
