import { DOMAIN, MAILBOX, SMTP_URL } from '../platform/config/formats.ts'
import { choice, duration, group, integer, list, map, orNull, text } from '../platform/config/keys.ts'

/** Each counts per credential owner, the two of `public_auth` per client address and per account. */
export const RATE_LIMIT_BUCKETS = {
  users_read: { limit: 600, period: '60s' },
  users_write: { limit: 120, period: '60s' },
  invitations: { limit: 60, period: '60s' },
  anonymize: { limit: 10, period: '60s' },
  public_auth: { limit: 10, period: '60s' },
  public_auth_account: { limit: 5, period: '60s' },
} as const

const USUAL_IDLE_MS = 3_600_000
const bucketNames = Object.keys(RATE_LIMIT_BUCKETS)

const rateLimit = group({
  limit: integer({ description: 'Requests in one period; 0 means no limit.', example: 600, max: 1_000_000_000 }),
  period: duration({ description: 'Length of a window, aligned to the clock.', default: '60s', min: '1s', max: '1d' }),
})

export const usersSettings = group(
  {
    smtp_url: orNull(
      text({
        ...SMTP_URL,
        description:
          'Mail server for invitations; null sends no mail. With a password, to another machine, it must speak TLS; ' +
          '`?require_tls=true` or `?require_tls=false` at the end says otherwise.',
        example: 'smtp://mailer:password@mail.example.org:587',
        secret: 'url',
      }),
    ),
    mail_from: orNull(
      text({
        ...MAILBOX,
        description: 'Sender of mail; null makes one from the host of `server.base_url`.',
        example: 'Commonplace <noreply@example.org>',
      }),
    ),
    invitation_ttl: duration({
      description: 'How long an invitation can be accepted.',
      default: '48h',
      min: '1s',
      max: '365d',
    }),
    session_idle: duration({
      description: 'A session ends after this long without a request.',
      default: '60m',
      min: '1s',
      max: '365d',
    }),
    session_max: duration({
      description: 'A session ends after this long in any case.',
      default: '24h',
      min: '1s',
      max: '365d',
    }),
    password_min_length: integer({ description: 'Shortest new password.', default: 12, min: 8, max: 128 }),
    require_mfa: choice(['off', 'admins', 'all'], {
      description: 'Who needs a second factor; a session without one has no permissions until it is enrolled.',
      default: 'off',
    }),
    login_methods: list(choice(['password', 'oidc'], { example: 'password' }), {
      description:
        'How people may sign in. `oidc` has no effect yet, so that without `password` nobody signs in with a browser.',
      default: ['password'],
      minItems: 1,
      maxItems: 2,
    }),
    allowed_email_domains: list(text({ ...DOMAIN, example: 'example.org' }), {
      description: 'Domains that new addresses must belong to; empty allows any.',
      default: [],
    }),
    icon_provider: choice(['local', 'gravatar'], {
      description: 'Who draws the icons of users; `gravatar` tells a third party who they are.',
      default: 'local',
    }),
    rate_limits: map(rateLimit, {
      description: 'Request limits by bucket, each `{limit, period}`; a limit of 0 switches one off, `{}` all of them.',
      default: RATE_LIMIT_BUCKETS,
      byMode: { dev: {} },
      example: { users_read: { limit: 600, period: '60s' } },
      keys: new RegExp(`^(${bucketNames.join('|')})$`),
      keyWhat: `one of ${bucketNames.map((name) => `\`${name}\``).join(', ')}`,
    }),
    audit_retention: duration({
      description: 'How long audit events are kept.',
      default: '365d',
      min: '1d',
      max: '36500d',
    }),
  },
  {
    description: 'People, roles and how they sign in.',
    checks: [
      ({ session_idle, session_max }, report) => {
        // The default contradicts nothing: whoever shortens sessions means that alone.
        if (session_idle > session_max && session_idle !== USUAL_IDLE_MS)
          report(['session_idle'], 'must not be longer than `users.session_max`', session_max)
      },
    ],
  },
)
