import { Command } from 'commander'
import { namespaceToJson, readNamespaceChange, readNewNamespace, type ShownNamespace } from '../callbacks/index.ts'
import { type ChangeOptions, changeOf, type NewOptions, withChangeFlags, withNewFlags } from './namespace-options.ts'
import { addSecretCommand, dropSecretCommand } from './namespace-secrets.ts'
import { printJson } from './print-json.ts'
import { printTable } from './print-table.ts'
import { withStorageFlags } from './settings-options.ts'
import { withNamespaces } from './with-namespaces.ts'

export function namespaceCommand(): Command {
  return new Command('namespace')
    .description('create, list, change and delete namespaces of callbacks, and change their signing secrets')
    .addCommand(listCommand())
    .addCommand(createCommand())
    .addCommand(showCommand())
    .addCommand(updateCommand())
    .addCommand(deleteCommand())
    .addCommand(addSecretCommand())
    .addCommand(dropSecretCommand())
}

function listCommand(): Command {
  return withStorageFlags(new Command('list'))
    .description('list namespaces, oldest first')
    .option('--json', 'answer as JSON')
    .action(async (options: { json?: boolean }, command: Command) => {
      await withNamespaces(command, async ({ principal, namespaces }) => {
        const all: ShownNamespace[] = []
        let pageToken: string | null = ''
        while (pageToken !== null) {
          const page = await namespaces.list(principal, { pageToken })
          all.push(...page.namespaces)
          pageToken = page.nextPageToken
        }
        const rows = all.map((one) => namespaceToJson(one))
        if (options.json) return printJson(rows)
        printTable(
          ['NAME', 'ATTRIBUTES', 'SECRETS', 'OVERRIDES', 'DESCRIPTION'],
          rows.map((one) => [
            one.name,
            String(Object.keys(one.searchAttributes).length),
            String(one.signing.secretCount),
            one.overrides.join(', ') || '-',
            one.description || '-',
          ]),
        )
      })
    })
}

function createCommand(): Command {
  return withNewFlags(withStorageFlags(new Command('create')))
    .description('create a namespace')
    .argument('<name>', 'its name: letters, digits, ".", "_" and "-"')
    .option('--json', 'answer as JSON')
    .action(async (name: string, options: NewOptions, command: Command) => {
      const wish = readNewNamespace({ ...changeOf(options), name })
      await withNamespaces(command, async ({ principal, namespaces }) => {
        const made = await namespaces.create(principal, wish)
        if (options.json) return printJson(namespaceToJson(made))
        console.log(`created ${made.namespace.name} (${made.namespace.id})`)
      })
    })
}

function showCommand(): Command {
  return withStorageFlags(new Command('show'))
    .description('show a namespace with the values in effect in "serve"; secrets are only counted')
    .argument('<name>', 'its name')
    .option('--json', 'answer as JSON')
    .action(async (name: string, options: { json?: boolean }, command: Command) => {
      await withNamespaces(command, async ({ principal, namespaces }) => {
        const shown = namespaceToJson(await namespaces.get(principal, { name }))
        if (options.json) return printJson(shown)
        printTable(
          ['MEMBER', 'VALUE'],
          Object.entries(shown).map(([member, value]) => [
            member,
            typeof value === 'string' ? value : JSON.stringify(value),
          ]),
        )
      })
    })
}

function updateCommand(): Command {
  return withChangeFlags(withStorageFlags(new Command('update')))
    .description('change a namespace; what no flag names stays')
    .argument('<name>', 'its name')
    .option('--json', 'answer as JSON')
    .action(async (name: string, options: ChangeOptions, command: Command) => {
      const wish = readNamespaceChange(changeOf(options))
      await withNamespaces(command, async ({ principal, namespaces }) => {
        const { changed, ...shown } = await namespaces.update(principal, { ...wish, name })
        if (options.json) return printJson({ ...namespaceToJson(shown), changed })
        console.log(changed ? `changed ${name}` : `${name} was so already`)
      })
    })
}

function deleteCommand(): Command {
  return withStorageFlags(new Command('delete'))
    .description('delete a namespace in which nothing runs; a running server then removes its closed callbacks')
    .argument('<name>', 'its name')
    .option('--json', 'answer as JSON')
    .action(async (name: string, options: { json?: boolean }, command: Command) => {
      await withNamespaces(command, async ({ principal, namespaces }) => {
        await namespaces.delete(principal, { name })
        if (options.json) return printJson({ name, deleted: true })
        console.log(`deleted ${name}`)
      })
    })
}
