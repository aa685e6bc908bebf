import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { group } from './keys.ts'
import { type GroupSetting, isRecord, type Setting, settingOf } from './setting.ts'

/** Any part of a group: inner groups may be given in part too, lists and maps only as a whole. */
export type Overrides<Value> = {
  [Key in keyof Value]?: Value[Key] extends unknown[] | null
    ? Value[Key]
    : Value[Key] extends object
      ? Overrides<Value[Key]>
      : Value[Key]
}

/** A group whose keys may all be left out, to differ from another group in some of them, and `own` keys. */
export function overridesOf<Members extends TProperties, Own extends TProperties>(base: TObject<Members>, own: Own) {
  const setting = settingOf(group(own)) as GroupSetting
  const members = { ...setting.members, ...partial(settingOf(base) as GroupSetting).members }
  return Type.Unsafe<Static<TObject<Own>> & Overrides<Static<TObject<Members>>>>({
    type: 'object',
    setting: { ...setting, members },
  } as TSchema)
}

/** `base` with every key that `overrides` gives; neither is changed. */
export function withOverrides<Value>(base: Value, overrides: Overrides<Value>): Value {
  const merged: Record<string, unknown> = { ...(base as Record<string, unknown>) }
  for (const [key, value] of Object.entries(overrides)) {
    if (!Object.hasOwn(merged, key)) continue
    const below = merged[key]
    merged[key] = isRecord(below) && isRecord(value) ? withOverrides(below, value) : value
  }
  return merged as Value
}

function partial(base: GroupSetting): GroupSetting {
  const members = Object.entries(base.members).map(([key, member]): [string, Setting] => {
    const given = member.kind === 'group' ? partial(member) : member
    return [key, { ...given, default: undefined, byMode: undefined, optional: true }]
  })
  // Whether the parts fit together can only be told with the other group below them.
  return { ...base, members: Object.fromEntries(members), checks: [] }
}
