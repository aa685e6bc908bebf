import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MICROS_PER_MS } from '../../platform/clock/clock.ts'
import { DAYS_PER_WEEK, dateOf, dayOf, daysOfWeek, lastMondays, mondayOf, secondOf } from './weeks.ts'

const micros = (text: string) => Date.parse(text) * MICROS_PER_MS

test('a week begins on Monday at midnight in UTC', () => {
  for (const [at, monday] of [
    ['2024-12-30T00:00:00Z', '2024-12-30'],
    ['2024-12-29T23:59:59.999Z', '2024-12-23'],
    ['2025-01-01T12:00:00Z', '2024-12-30'],
    ['2025-01-05T23:59:59.999Z', '2024-12-30'],
    ['2024-02-29T00:00:00Z', '2024-02-26'],
    ['1970-01-01T00:00:00Z', '1969-12-29'],
    // Where clocks are changed, nothing changes here.
    ['2025-03-30T01:30:00Z', '2025-03-24'],
    ['2025-10-26T01:30:00Z', '2025-10-20'],
  ] as const) {
    assert.equal(dateOf(mondayOf(dayOf(micros(at)))), monday, at)
  }
})

test('weeks follow each other without gap, and every one has the seconds that the contract names', () => {
  const moment = fc.date({
    min: new Date('1980-01-01T00:00:00Z'),
    max: new Date('2200-01-01T00:00:00Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(moment, fc.integer({ min: 1, max: 60 }), (date, count) => {
      const at = date.getTime() * MICROS_PER_MS
      const mondays = lastMondays(dayOf(at), count)
      assert.equal(mondays.length, count)
      for (const [index, monday] of mondays.entries()) {
        assert.equal(secondOf(monday) % 604_800, 345_600)
        assert.equal(new Date(secondOf(monday) * 1_000).getUTCDay(), 1)
        if (index > 0) assert.equal(secondOf(mondays[index - 1] as number) - secondOf(monday), 604_800)
      }
      const start = secondOf(mondays[0] as number) * 1_000
      assert.ok(start <= date.getTime() && date.getTime() < start + DAYS_PER_WEEK * 86_400_000)
      assert.ok(daysOfWeek(mondays[0] as number).includes(dayOf(at)))
      assert.equal(dateOf(dayOf(at)), date.toISOString().slice(0, 10))
    }),
  )
})
