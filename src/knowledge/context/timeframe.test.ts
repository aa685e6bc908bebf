import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../platform/errors/app-error.ts'
import { momentOf, sinceOf } from './timeframe.ts'

const NOW = Date.UTC(2026, 5, 15, 1, 30) * 1_000
const DAY = 86_400_000_000

const DAYS_AGO: [text: string, days: number][] = [
  ['7d', 7],
  ['7 d', 7],
  ['7D', 7],
  [' 7  days ', 7],
  ['2 weeks ago', 14],
  ['2w', 14],
  ['a week ago', 7],
  ['one month', 30],
  ['last month', 30],
  ['the past 3 days', 3],
  ['this week', 7],
  ['week', 7],
  ['1.5 days', 1.5],
  ['three days ago', 3],
  ['48h', 2],
  ['1y', 365],
  ['365d', 365],
  ['2 wks', 14],
  ['3mo', 90],
  ['1 yr', 365],
  ['36 hrs ago', 1.5],
  ['2880 min', 2],
  ['172800 secs', 2],
  ['yesterday', 1],
  ['2026-06-01', 14 + 1.5 / 24],
  ['2026-06-01T01:30', 14],
  ['2026-06-01T01:30:00Z', 14],
  ['2026-06-01T03:30:00.000+02:00', 14],
  ['2026-06-01 01:30', 14],
]

test('a timeframe says when it began', () => {
  for (const [text, days] of DAYS_AGO) assert.equal((NOW - sinceOf(text, NOW)) / DAY, days, text)
})

test('a timeframe reaches back a day at least', () => {
  for (const text of ['today', 'now', 'an hour ago', 'zero days', '1h', '5m', '30 minutes ago', '0d', '2026-06-15']) {
    assert.equal(NOW - sinceOf(text, NOW), DAY, text)
  }
})

test('a timeframe in the future, too long ago or without a meaning is refused', () => {
  const wrong = ['tomorrow', 'in 3 days', 'next week', '2 days from now', '2027-01-01', '366d', '2y', '1999-01-01']
  wrong.push('', 'abc', '7', '-7d', '7d7', '2026-13-01', 'constructor', '7 constructors', 'x'.repeat(1_000), '∞ days')
  for (const text of wrong) {
    assert.throws(
      () => sinceOf(text, NOW),
      (error) => isAppError(error, 'unprocessable'),
      text,
    )
  }
})

test('whoever asks for the future is told that it is none', () => {
  for (const text of ['tomorrow', 'in 3 days', 'next week', '2 days from now', '2027-01-01']) {
    assert.throws(() => sinceOf(text, NOW), /must not lie in the future/, text)
  }
  for (const text of ['abc', '7', 'tomorrowish', 'next'])
    assert.throws(() => sinceOf(text, NOW), /not understood/, text)
})

test('today began at midnight', () => {
  assert.equal(momentOf('today', NOW), Date.UTC(2026, 5, 15) * 1_000)
  assert.equal(momentOf('now', NOW), NOW)
})

test('a day, a month or a year may be named as people do', () => {
  const named: [text: string, day: string][] = [
    ['2026', '2026-01-01'],
    ['2025-09', '2025-09-01'],
    ['March 2026', '2026-03-01'],
    ['mar 2026', '2026-03-01'],
    ['Sept. 2025', '2025-09-01'],
    ['March 2, 2026', '2026-03-02'],
    ['march 2nd 2026', '2026-03-02'],
    ['2 March 2026', '2026-03-02'],
    ['2nd of March, 2026', '2026-03-02'],
    ['May', '2026-05-01'],
    ['june', '2026-06-01'],
    ['July', '2025-07-01'],
    ['15 June', '2026-06-15'],
    ['June 16', '2025-06-16'],
    ['29 february', '2024-02-29'],
    ['Monday', '2026-06-15'],
    ['last monday', '2026-06-08'],
    ['on Sunday', '2026-06-14'],
    ['in March', '2026-03-01'],
    ['since March 2nd', '2026-03-02'],
    ['tue', '2026-06-09'],
    ['last thurs', '2026-06-11'],
  ]
  for (const [text, day] of named) assert.equal(momentOf(text, NOW), Date.parse(`${day}T00:00:00Z`) * 1_000, text)
})

test('what names no day, or another one in every other country, is no moment', () => {
  const wrong = ['03/02/2026', '30 February', 'February 30 2026', '2026-13', '2026-00', '0 May', 'may 0', 'ma', 'mayor']
  wrong.push(
    '2 March 2',
    '2 Mondays 2026',
    'Monday 2026',
    '12026',
    '202',
    '20263',
    'May 2 26',
    'of May',
    'last',
    'on',
    'in 3 days',
    'on in May',
  )
  for (const text of wrong) assert.equal(momentOf(text, NOW), undefined, text)
})

test('a day or an hour that no calendar and no clock has is no moment', () => {
  const wrong = ['2025-02-30', '2025-02-29', '2100-02-29', '2025-04-31', '2025-13-01', '2025-00-10', '2025-01-00']
  wrong.push('2025-01-32', '2025-02-30T10:00Z', '2025-02-28 24:61', '2025-02-28T10:60', '2025-02-28T10:00:61Z')
  wrong.push('2025-02-28T10:00+24:00', '2025-02-28T10:00+02:60')
  for (const text of wrong) assert.equal(momentOf(text, NOW), undefined, text)
})

test('leap days are days, and so are those of other ages', () => {
  for (const day of [
    '2024-02-29',
    '2000-02-29',
    '1970-01-01',
    '2025-12-31',
    '2999-01-01',
    '9999-12-31',
    '0001-01-01',
  ]) {
    assert.equal(momentOf(day, NOW), Date.parse(`${day}T00:00:00Z`) * 1_000, day)
  }
  assert.equal(momentOf('2024-03-01T00:30+01:00', NOW), Date.UTC(2024, 1, 29, 23, 30) * 1_000)
})
