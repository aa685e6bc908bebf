import { MICROS_PER_SECOND, type Micros } from '../../platform/clock/clock.ts'
import { malformed } from '../malformed.ts'
import { readIsoTime } from '../text/iso-time.ts'
import { namedDay } from './named-day.ts'

const MINUTE = 60 * MICROS_PER_SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SHORTEST = DAY
const LONGEST = 365 * DAY

const UNITS: Readonly<Record<string, number>> = {
  s: MICROS_PER_SECOND,
  sec: MICROS_PER_SECOND,
  second: MICROS_PER_SECOND,
  m: MINUTE,
  min: MINUTE,
  minute: MINUTE,
  h: HOUR,
  hr: HOUR,
  hour: HOUR,
  d: DAY,
  day: DAY,
  w: 7 * DAY,
  wk: 7 * DAY,
  week: 7 * DAY,
  mo: 30 * DAY,
  month: 30 * DAY,
  y: 365 * DAY,
  yr: 365 * DAY,
  year: 365 * DAY,
}

const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')
const SPAN = /^(?:(?:the )?(?:last|past|this) )?(?:(\d{1,9}(?:\.\d{1,3})?|[a-z]+) ?)??([a-z]+)( ago)?$/
const IN_FUTURE = 'must not lie in the future'
const FUTURE = /^(?:tomorrow|next [a-z]+|in .+|.+ from now)$/

/**
 * When a span of time began: `today`, `7d`, `2 weeks ago`, `last month`, a day or month by its name, or an ISO date
 * or time (UTC where it does not say). At least a day ago, since "today" at one in the morning would show nothing.
 */
export function sinceOf(timeframe: string, now: Micros, part: 'query' | 'body' = 'query'): Micros {
  const refused = (text: string) => malformed([part, 'timeframe'], `The timeframe ${text}`)
  const text = plainText(timeframe)
  const since = momentOf(text, now)
  if (since === undefined) {
    if (FUTURE.test(text)) throw refused(IN_FUTURE)
    throw refused('is not understood: use "7d", "2 weeks ago", "today" or an ISO date')
  }
  if (since > now) throw refused(IN_FUTURE)
  if (now - since > LONGEST) throw refused('must not reach back more than 365 days')
  return Math.min(since, now - SHORTEST)
}

/** The moment that such a text names, whenever that is; undefined when it is not understood. */
export function momentOf(text: string, now: Micros): Micros | undefined {
  const plain = plainText(text)
  return readIsoTime(plain) ?? agoOf(plain, now) ?? namedDay(plain, now)
}

function plainText(text: string): string {
  return text.length > 100 ? '' : text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
}

function agoOf(text: string, now: Micros): Micros | undefined {
  if (text === 'now') return now
  if (text === 'today') return now - (now % DAY)
  if (text === 'yesterday') return now - DAY
  const match = SPAN.exec(text)
  const unit = unitOf(match?.[2] ?? '')
  const count = countOf(match?.[1])
  if (unit === undefined || count === undefined) return undefined
  return Math.round(now - count * unit)
}

function unitOf(word: string): number | undefined {
  if (Object.hasOwn(UNITS, word)) return UNITS[word]
  const singular = word.endsWith('s') ? word.slice(0, -1) : ''
  return Object.hasOwn(UNITS, singular) ? UNITS[singular] : undefined
}

function countOf(word: string | undefined): number | undefined {
  if (word === undefined || word === 'a' || word === 'an') return 1
  if (/^\d/.test(word)) return Number(word)
  const number = NUMBERS.indexOf(word)
  return number < 0 ? undefined : number
}
