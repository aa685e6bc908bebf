import { Command } from 'commander'
import { readNamespaceChange } from '../callbacks/index.ts'
import { printJson } from './print-json.ts'
import { readSecretFromPipe } from './read-secret.ts'
import { withStorageFlags } from './settings-options.ts'
import { withNamespaces } from './with-namespaces.ts'

interface SecretOptions {
  secretStdin?: boolean
  json?: boolean
}

export function addSecretCommand(): Command {
  return withStorageFlags(new Command('add-secret'))
    .description('make a signing secret up and print it, this once; those that sign already go on signing')
    .argument('<name>', 'name of the namespace')
    .option('--secret-stdin', 'read the secret (whsec_…) from standard input instead of making one up')
    .option('--json', 'answer as JSON')
    .action(async (name: string, options: SecretOptions, command: Command) => {
      const signing = options.secretStdin ? { add: await readSecretFromPipe() } : { generate: true }
      const { secret, count } = await changeSigning(command, name, signing)
      if (options.json) return printJson({ name, secretCount: count, ...(secret !== null && { secret }) })
      if (secret !== null) console.log(secret)
      process.stderr.write(`${count} ${count === 1 ? 'secret signs' : 'secrets sign'} in ${name}\n`)
    })
}

export function dropSecretCommand(): Command {
  return withStorageFlags(new Command('drop-secret'))
    .description('drop the oldest signing secret, once receivers know the new one')
    .argument('<name>', 'name of the namespace')
    .option('--secret-stdin', 'drop the secret that is read from standard input instead of the oldest')
    .option('--json', 'answer as JSON')
    .action(async (name: string, options: SecretOptions, command: Command) => {
      const drop = options.secretStdin ? await readSecretFromPipe() : 'oldest'
      const { count } = await changeSigning(command, name, { drop })
      if (options.json) return printJson({ name, secretCount: count })
      console.log(`${count} ${count === 1 ? 'secret signs' : 'secrets sign'} in ${name}`)
    })
}

async function changeSigning(command: Command, name: string, signing: Record<string, unknown>) {
  const wish = readNamespaceChange({ signing })
  return withNamespaces(command, async ({ principal, namespaces }) => {
    const { generatedSecret, secretCount } = await namespaces.update(principal, { ...wish, name })
    return { secret: generatedSecret, count: secretCount }
  })
}
