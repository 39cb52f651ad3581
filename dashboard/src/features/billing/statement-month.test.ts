import { expect, test } from 'bun:test'
import { listMonths, toStatementMonth } from './statement-month'

const nowMs = Date.parse('2026-11-30T20:00:00Z')

test('the month is that of the address, else the current one of the browser', () => {
  expect(toStatementMonth(undefined, nowMs, 'Asia/Tokyo')).toEqual({
    month: '2026-12',
    zone: 'Asia/Tokyo',
  })
  expect(toStatementMonth('2026-10', nowMs, 'Asia/Tokyo')).toEqual({
    month: '2026-10',
    zone: 'Asia/Tokyo',
  })
})

test('months of long ago have days in UTC', () => {
  expect(toStatementMonth('2026-08', nowMs, 'Asia/Tokyo')).toEqual({
    month: '2026-08',
    zone: 'UTC',
  })
})

const values = (first: string, shown: string) =>
  listMonths({ first, shown }, nowMs, 'UTC').map(({ value }) => value)

test('all months since the first one can be chosen, the newest first', () => {
  expect(values('2026-09', '2026-11')).toEqual(['2026-11', '2026-10', '2026-09'])
  expect(values('2026-11', '2026-01')).toEqual(['2026-11', '2026-01'])
  expect(values('2025-12', '2026-11')).toHaveLength(12)
})
