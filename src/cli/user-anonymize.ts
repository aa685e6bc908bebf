import { Command } from 'commander'
import { InstanceChanges, instancePersonalData } from '../instance/index.ts'
import { AppError } from '../platform/errors/app-error.ts'
import { JobEngine } from '../platform/jobs/job-engine.ts'
import { PersonalData } from '../platform/personal-data/personal-data.ts'
import { AnonymizeService, resolveUser, type User, usersPersonalData } from '../users/index.ts'
import { askYes } from './ask-yes.ts'
import { printJson } from './print-json.ts'
import { withStorageFlags } from './settings-options.ts'
import { type IdentityContext, withIdentity } from './with-identity.ts'

export function anonymizeCommand(): Command {
  return withStorageFlags(new Command('anonymize'))
    .description('erase everything that names a user, for ever; the id stays')
    .argument('<user>', 'id or email address of the user')
    .option('--yes', 'do not ask whether it is meant')
    .option('--json', 'answer as JSON')
    .action(async (text: string, options: { yes?: boolean; json?: boolean }, command: Command) => {
      if (!options.yes && !process.stdin.isTTY) {
        command.error('error: there is no terminal to ask on: add --yes if it is meant', { exitCode: 2 })
      }
      await withIdentity(command, async (context) => {
        const user = await resolveUser(context.db, context.principal, text)
        if (!options.yes) await askWhether(user)
        await anonymize(context, user)
        if (options.json) printJson({ id: user.id, anonymized: true })
        else console.log(`anonymized ${user.id}`)
      })
    })
}

async function anonymize(context: IdentityContext, { id }: User): Promise<void> {
  const { db, principal, clock } = context
  const changes = new InstanceChanges(db)
  const personalData = new PersonalData()
  // All that a server has: what is left behind here, nobody finds later by the name or the address.
  personalData.join(...usersPersonalData({ clock }), ...instancePersonalData({ changes }))
  // Never started: what it is asked to do later is left to the server.
  const jobs = new JobEngine(context)
  const { errors } = await new AnonymizeService({ ...context, jobs, personalData })
    .anonymize(principal, [id])
    .finally(() => changes.close())
  const [refused] = errors
  if (refused !== undefined) throw new AppError('failed_precondition', refused.error)
}

async function askWhether({ email, id }: User): Promise<void> {
  const question = `This erases everything that names ${email} (${id}) and cannot be undone.\nType yes to go on: `
  if (!(await askYes(question))) throw new AppError('canceled', 'Nothing was changed')
}
