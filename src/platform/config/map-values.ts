import { emptyTree } from './merge-layers.ts'
import type { ScalarSetting, Setting } from './setting.ts'

/** A copy of a read value in which every single value is what `change` makes of it. Null stays null. */
export function mapValues(
  setting: Setting,
  value: unknown,
  change: (scalar: ScalarSetting, value: unknown) => unknown,
): unknown {
  switch (setting.kind) {
    case 'scalar':
      return change(setting, value)
    case 'nullable':
      return value === null ? null : change(setting.inner, value)
    case 'list':
      return (value as unknown[]).map((item) => mapValues(setting.item, item, change))
    case 'map':
      return Object.assign(
        emptyTree(),
        mapEntries(value, (_, entry) => mapValues(setting.entry, entry, change)),
      )
    case 'group':
      return mapEntries(value, (key, member) => mapValues(setting.members[key] as Setting, member, change))
  }
}

function mapEntries(value: unknown, change: (key: string, value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value as object).map(([key, inner]) => [key, change(key, inner)]))
}
