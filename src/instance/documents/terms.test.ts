import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { currentTerms, earliestEffectiveDate, isDate, succeededBy } from './terms.ts'

const dated = (...dates: string[]) => dates.map((effectiveDate) => ({ effectiveDate }))

test('the newest version whose day has come is current; when none has come, the soonest', () => {
  const versions = dated('2030-03-01', '2030-01-01', '2030-02-01')
  assert.equal(currentTerms(versions, '2030-02-01')?.effectiveDate, '2030-02-01')
  assert.equal(currentTerms(versions, '2030-02-28')?.effectiveDate, '2030-02-01')
  assert.equal(currentTerms(versions, '2029-12-31')?.effectiveDate, '2030-01-01')
  assert.equal(currentTerms([], '2030-01-01'), undefined)
})

test('a version is succeeded by the next later one, not by the furthest', () => {
  const versions = dated('2030-03-01', '2030-01-01', '2030-02-01')
  assert.equal(succeededBy(versions, { effectiveDate: '2030-01-01' }), '2030-02-01')
  assert.equal(succeededBy(versions, { effectiveDate: '2030-03-01' }), null)
})

test('a new version may not take effect before the one in effect, or before today when there is none', () => {
  assert.equal(earliestEffectiveDate(dated('2030-01-01', '2031-01-01'), '2030-06-01'), '2030-01-01')
  assert.equal(earliestEffectiveDate(dated('2031-01-01'), '2030-06-01'), '2030-06-01')
})

test('a date is a day of the calendar in one form', () => {
  for (const text of ['2024-02-29', '2030-12-31', '0001-01-01', '9999-12-31']) assert.ok(isDate(text), text)
  for (const text of [
    '',
    '2023-02-29',
    '2030-13-01',
    '2030-00-10',
    '2030-1-1',
    '2030-01-32',
    ' 2030-01-01',
    '2030-01-01T00:00:00Z',
    '20300101',
    '+12030-01-01',
    '２０３０-01-01',
  ]) {
    // biome-ignore format: a list of texts
    assert.equal(isDate(text), false, text)
  }
  const day = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T00:00:00Z'),
    noInvalidDate: true,
  })
  fc.assert(fc.property(day, (date) => assert.ok(isDate(date.toISOString().slice(0, 10)))))
  fc.assert(fc.property(fc.string(), (text) => assert.equal(typeof isDate(text), 'boolean')))
})
