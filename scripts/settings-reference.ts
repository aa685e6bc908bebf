// Writes docs/settings.md from the settings themselves; with --check it only says whether the file is current.

import { readFileSync, writeFileSync } from 'node:fs'
import { asText } from '../src/platform/config/origins.ts'
import { type GroupSetting, type Setting, settingsIn } from '../src/platform/config/setting.ts'
import { ROOT, SHORT_NAMES } from '../src/settings.ts'

const FILE = new URL('../docs/settings.md', import.meta.url)

const INTRODUCTION = `# Settings

<!-- Made by \`node scripts/settings-reference.ts\` from the settings' own declarations. Do not edit. -->

Built-in defaults < settings file < environment < command-line flags. The settings file is YAML: \`--config FILE\`, else
\`COMMONPLACE_CONFIG\`, else \`commonplace.yaml\` in the working directory when it is there.

\`\`\`yaml
server:
  base_url: https://kb.example.org
callbacks:
  request_timeout: 5s
  retry: { max_interval: 10m }
\`\`\`

- The environment reaches every key: \`COMMONPLACE_\` and the path in upper case joined by \`__\`, for example
  \`COMMONPLACE_CALLBACKS__RETRY__MAX_INTERVAL=10m\`. Lists and maps are JSON. An empty variable or \`null\` is null where
  a key can be null. For \`true\` and \`false\` a variable or flag may also say \`yes\`, \`on\`, \`1\` and \`no\`, \`off\`, \`0\`.
- Durations are text: \`500ms\`, \`10s\`, \`5m\`, \`1h\`, \`30d\`, or \`0\`. Sizes are bytes. Relative paths count from the
  working directory.
- A secret can be kept in a file: \`admin_token_file: /run/secrets/admin_token\`, or \`COMMONPLACE_ADMIN_TOKEN_FILE\`. White
  space around it is dropped; of a list each line is one entry.
- A layer adds its entries to a map of the layer below; the empty map \`{}\` clears it. A list replaces the list below.
- A key that is not listed here, a variable \`COMMONPLACE_…\` that is none of these, or a bad value stops the start with all
  problems at once. \`commonplace config\` shows what is in effect and where it comes from, but for what administrators stored under
  \`instance\`, which lies over it: \`GET /api/v1/admin/instance\` shows that.
`

/** The whole page. */
export function renderReference(): string {
  const sections = Object.entries(ROOT.members).map(([name, section]) => renderSection(name, section as GroupSetting))
  return `${[INTRODUCTION, renderShortNames(), ...sections].join('\n')}`
}

function renderShortNames(): string {
  const rows = Object.entries(SHORT_NAMES).map(([path, name]) => `| \`COMMONPLACE_${name}\` | \`${path}\` |`)
  return ['## Short names', '', '| Variable | Setting |', '|---|---|', ...rows, ''].join('\n')
}

function renderSection(name: string, section: GroupSetting): string {
  const rows = settingsIn(section, [name])
    .filter(({ setting }) => setting.kind !== 'group')
    .map(({ path, setting }) => renderRow(path.slice(1).join('.'), path, setting))
  const head = ['| Key | Default | Meaning |', '|---|---|---|']
  return [`## \`${name}\``, '', section.description, '', ...head, ...rows, ''].join('\n')
}

function renderRow(key: string, path: readonly string[], setting: Setting): string {
  const secret = setting.secret === undefined ? '' : ` Secret: also \`${path.at(-1)}_file\`.`
  const isShown = setting.example === setting.default
  const example = isShown ? '' : ` Example: \`${asText(setting.example)}\`.`
  const meaning = `${setting.description} ${capital(kindOf(setting))}.${secret}${example}`
  return `| \`${key}\` | ${defaultsOf(setting)} | ${meaning.replaceAll('|', '\\|')} |`
}

function defaultsOf(setting: Setting): string {
  const inDev = setting.byMode && 'dev' in setting.byMode ? `; in \`dev\` ${code(setting.byMode.dev)}` : ''
  return `${code(setting.default)}${inDev}`
}

function code(value: unknown): string {
  return value === '' ? 'empty' : `\`${asText(value)}\``
}

function kindOf(setting: Setting): string {
  switch (setting.kind) {
    case 'scalar':
      return setting.what
    case 'nullable':
      return `${setting.inner.what}, or null`
    case 'list':
      return setting.item.kind === 'scalar' ? `a list; each ${setting.item.what}` : 'a list'
    default:
      return 'a map'
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function main(args: string[]): void {
  const wanted = renderReference()
  if (!args.includes('--check')) {
    writeFileSync(FILE, wanted)
  } else if (readFileSync(FILE, 'utf8') !== wanted) {
    console.error('docs/settings.md is not current: run `node scripts/settings-reference.ts`')
    process.exitCode = 1
  }
}

if (import.meta.main) main(process.argv.slice(2))
