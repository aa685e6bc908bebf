import type { Static, TSchema } from 'typebox'
import { AppError } from '../errors/app-error.ts'
import { type Environment, environmentLayers, fromText, treeAt, variablesOf } from './environment.ts'
import { defaultTree, type Layer, mergeLayer } from './merge-layers.ts'
import { asText, type Origin, Origins, type Source } from './origins.ts'
import { Problems } from './problems.ts'
import { SettingsReader } from './read-settings.ts'
import { type GroupSetting, type Mode, settingOf, settingsIn } from './setting.ts'
import { readSettingsFile, type SettingsFile } from './settings-file.ts'

export interface LoadOptions {
  mode: Mode
  /** The process's own unless given, as is `cwd`. */
  env?: Environment
  cwd?: string
  /** From `--config`; else `COMMONPLACE_CONFIG`, else `commonplace.yaml` in `cwd` when it is there. */
  configFile?: string
  /** Setting path to value, for example `{ 'server.port': '8080' }`; `undefined` means not given. */
  flags?: Readonly<Record<string, unknown>>
}

export interface Loaded<Settings> {
  /** Frozen at every depth. */
  settings: Settings
  mode: Mode
  /** Where each key got its value from, by path: `server.port`. */
  sources: Map<string, Source>
  /** The settings file that was read. */
  file: string | null
}

/** Variable without its prefix, by setting path: `{ 'server.port': 'PORT' }`. */
export type ShortNames = Readonly<Record<string, string>>

/** Defaults < file < environment < flags. Throws `SettingsError` with everything that is wrong. */
export async function loadSettings<Schema extends TSchema>(
  schema: Schema,
  shortNames: ShortNames,
  options: LoadOptions,
): Promise<Loaded<Static<Schema>>> {
  const { mode, env = process.env, cwd = workingDirectory(), flags = {} } = options
  const root = settingOf(schema) as GroupSetting
  const [origins, problems] = [new Origins(), new Problems()]
  const file = readSettingsFile(options.configFile ?? (env.COMMONPLACE_CONFIG || undefined), cwd, problems)
  const layers = [
    ...(file ? [{ tree: file.tree, origin: originOf(file) }] : []),
    ...environmentLayers(variablesOf(root, shortNames), env, problems),
    ...flagLayers(root, flags, problems),
  ]
  const tree = defaultTree(root, mode)
  for (const layer of layers) mergeLayer(root, tree, layer, { origins, problems })
  const settings = new SettingsReader({ mode, cwd }, origins, problems).read(root, tree, [])
  problems.throwIfAny()
  const keys = [...settingsIn(root)].filter(({ setting }) => setting.kind !== 'group')
  const sources = new Map(keys.map(({ path }) => [path.join('.'), origins.of(path).source]))
  return { settings: deepFreeze(settings) as Static<Schema>, mode, sources, file: file?.path ?? null }
}

function workingDirectory(): string {
  try {
    return process.cwd()
  } catch (cause) {
    // As in a shell that stands where a release was that has been replaced.
    throw new AppError('failed_precondition', 'The working directory is gone: change to one that is there', { cause })
  }
}

function originOf(file: SettingsFile): Origin {
  return { source: 'file', name: file.path, path: [], placeOf: file.placeOf }
}

function flagLayers(root: GroupSetting, flags: Readonly<Record<string, unknown>>, problems: Problems): Layer[] {
  const known = new Map([...settingsIn(root)].map((entry) => [entry.path.join('.'), entry]))
  return Object.entries(flags).flatMap(([key, value]): Layer[] => {
    if (value === undefined) return []
    const path = known.get(key)?.path ?? key.split('.')
    const setting = known.get(key)?.setting
    const name = `--${path.at(-1)?.replaceAll('_', '-')}`
    const read = typeof value === 'string' && setting ? fromText(setting, value) : { raw: value }
    if (read) return [{ tree: treeAt(path, read.raw), origin: { source: 'flag', name, path } }]
    problems.add(() => ({
      path: key,
      message: `is not valid JSON (${name}).`,
      example: `${name} '${asText(setting?.example)}'`,
    }))
    return []
  })
}

function deepFreeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
