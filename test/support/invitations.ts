import type { Principal, UserId } from '../../src/platform/auth/principal.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { type EmailChange, onEmailChanged } from '../../src/users/invitation/email-verification.ts'
import { InvitationService } from '../../src/users/invitation/invitation-service.ts'
import { deliverMails } from '../../src/users/mail/deliver-mails.ts'
import { MailOutbox } from '../../src/users/mail/mail-outbox.ts'
import { jobBench } from '../jobs/job-bench.ts'
import { accounts } from './accounts.ts'
import { FakeClock } from './fake-clock.ts'

export const PUBLIC_URL = 'https://commonplace.example.org'

const SETTINGS = {
  smtp_url: null as string | null,
  mail_from: null as string | null,
  invitation_ttl: 48 * 3_600_000,
  login_methods: ['password'],
}

/** Invitations and mail over a database after its first start, on a clock that the test drives. */
export async function invitationBench(
  db: Database,
  { clock = new FakeClock(), ...chosen }: Partial<typeof SETTINGS> & { clock?: FakeClock } = {},
) {
  const account = await accounts(db, clock, { ...SETTINGS, ...chosen })
  const settings = { ...account.settings, ...SETTINGS, ...chosen }
  // Longer than a mail may take: no lease is renewed while the clock jumps.
  const jobs = jobBench(db, { clock, leaseMs: 600_000 })
  const deps = { ...account, settings, jobs: jobs.engine, baseUrl: () => PUBLIC_URL }
  const outbox = new MailOutbox(deps)
  const service = new InvitationService({ ...deps, outbox })
  const changed = onEmailChanged(deps)
  deliverMails(deps)

  /** Somebody who can be invited. */
  async function pending(email: string): Promise<UserId> {
    const { id } = await account.users.create(account.operator, { email })
    return id
  }

  return {
    ...deps,
    clock,
    bench: jobs,
    invitations: service,
    outbox,
    pending,
    /** Sends one and answers it. */
    async invite(userId: UserId, principal: Principal = account.operator) {
      const { invitations, acceptLinks } = await service.send(principal, { userIds: [userId] })
      const [invitation] = invitations
      if (invitation === undefined) throw new Error('Nobody was invited')
      return { invitation, token: acceptLinks?.get(invitation.id)?.split('#token=')[1] ?? '' }
    },
    changeEmail: (change: EmailChange) => db.write((tx) => changed(tx, change)),
    actions: async () =>
      (await db.query.selectFrom('audit_events').select('action').orderBy('position').execute())
        .map(({ action }) => action)
        .filter((action) => action.startsWith('invitation.')),
  }
}
