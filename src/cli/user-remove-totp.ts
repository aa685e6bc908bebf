import { Command } from 'commander'
import { resetTotp, resolveUser } from '../users/index.ts'
import { printJson } from './print-json.ts'
import { withStorageFlags } from './settings-options.ts'
import { withIdentity } from './with-identity.ts'

export function removeTotpCommand(): Command {
  return withStorageFlags(new Command('remove-totp'))
    .description('remove the second factor of a user who lost it: the password alone signs in again')
    .argument('<user>', 'id or email address of the user')
    .option('--json', 'answer as JSON')
    .action(async (text: string, options: { json?: boolean }, command: Command) => {
      await withIdentity(command, async (context) => {
        const { db, principal } = context
        const user = await resolveUser(db, principal, text)
        await resetTotp(context, principal, { userId: user.id })
        if (options.json) printJson({ id: user.id, changed: true })
        else console.log(`removed the second factor of ${user.email}`)
      })
    })
}
