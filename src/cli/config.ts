import { Command, Option } from 'commander'
import { stringify } from 'yaml'
import { mapValues } from '../platform/config/map-values.ts'
import { maskValue } from '../platform/config/mask-secrets.ts'
import type { Mode, ScalarSetting } from '../platform/config/setting.ts'
import { isRecord } from '../platform/config/setting.ts'
import { type LoadedSettings, loadSettings, ROOT } from '../settings.ts'
import { flagsOf, withServerFlags } from './settings-options.ts'

export function configCommand(): Command {
  return withServerFlags(new Command('config'))
    .description('show the settings in effect, secrets masked, and where each one comes from')
    .addOption(new Option('--mode <mode>', 'whose defaults to show').choices(['dev', 'serve']).default('serve'))
    .option('--json', 'answer as JSON')
    .addHelpText(
      'after',
      '\nWhat administrators stored under "instance" lies over it and is not shown: GET /api/v1/admin/instance shows it.' +
        '\nEvery setting, its default and its environment variable: docs/settings.md',
    )
    .action(async (options: { mode: Mode; json?: boolean }, command: Command) => {
      const loaded = await loadSettings({ mode: options.mode, ...flagsOf(command) })
      process.stdout.write(options.json ? asJson(loaded) : asYaml(loaded))
    })
}

/** A settings file that would give the same settings, but for the secrets. */
export function asYaml(loaded: LoadedSettings): string {
  const lines = [`# mode: ${loaded.mode}`, `# settings file: ${loaded.file ?? 'none'}`]
  function add(group: Record<string, unknown>, above: string[]): void {
    for (const [key, value] of Object.entries(group)) {
      const path = [...above, key]
      const source = loaded.sources.get(path.join('.'))
      const start = `${'  '.repeat(above.length)}${key}:`
      lines.push(source === undefined ? start : `${start} ${onOneLine(value)} # ${source}`)
      if (source === undefined && isRecord(value)) add(value, path)
    }
  }
  add(asWritten(loaded), [])
  return `${lines.join('\n')}\n`
}

function asJson(loaded: LoadedSettings): string {
  const { mode, file, sources } = loaded
  return `${JSON.stringify({ mode, file, settings: asWritten(loaded), sources: Object.fromEntries(sources) }, null, 2)}\n`
}

// Durations and the like in the form that a settings file has them.
function asWritten({ settings }: LoadedSettings): Record<string, unknown> {
  const write = (setting: ScalarSetting, value: unknown) => maskValue(setting, setting.toRaw(value))
  return mapValues(ROOT, settings, write) as Record<string, unknown>
}

function onOneLine(value: unknown): string {
  const text = stringify(value, {
    collectionStyle: 'flow',
    lineWidth: 0,
    blockQuote: false,
    singleQuote: false,
    doubleQuotedAsJSON: true,
  }).slice(0, -'\n'.length)
  // A text of several lines without a sign that needs quotation marks gets none, and would go on outside of its key.
  return text.includes('\n') ? JSON.stringify(value) : text
}
