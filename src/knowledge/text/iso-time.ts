import { MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'

const FORM =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?([Zz]|[+-]\d\d(?::?\d\d)?))?)?$/

/** An ISO 8601 date or date-time, UTC unless it says otherwise; null when it is none or too far away to be stored. */
export function readIsoTime(text: string): Micros | null {
  const parts = FORM.exec(text)
  if (parts === null) return null
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0)) as Six
  if (hour > 23 || minute > 59 || second > 59) return null
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null
  const offset = offsetMinutes(parts[8] ?? 'Z')
  if (offset === null) return null
  const ms = date.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000
  const micros = ms * MICROS_PER_MS + Number((parts[7] ?? '').slice(0, 6).padEnd(6, '0'))
  return Number.isSafeInteger(micros) ? micros : null
}

type Six = [number, number, number, number, number, number]

function offsetMinutes(zone: string): number | null {
  if (zone === 'Z' || zone === 'z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || 0)
  if (hours > 23 || minutes > 59) return null
  return (hours * 60 + minutes) * (zone[0] === '-' ? -1 : 1)
}
