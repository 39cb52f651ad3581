import { describe, expect, test } from 'bun:test'
import { findPercentsFault, formatPercents, parsePercents, scaleBar } from './percents'

describe('percents as they are entered', () => {
  test.each([
    ['', []],
    ['80', [80]],
    ['80, 95', [80, 95]],
    [' 80%; 95% ', [80, 95]],
  ])('%j are %j', (text, percents) => {
    expect(parsePercents(text)).toEqual(percents)
    expect(parsePercents(formatPercents(percents))).toEqual(percents)
    expect(findPercentsFault(text, { enforcement: 'hard' })).toBeNull()
  })

  test.each([
    ['many', 'hard', /whole percents/],
    ['80.5', 'hard', /whole percents/],
    ['-5', 'soft', /whole percents/],
    ['0', 'hard', /from 1 to 100/],
    ['101', 'hard', /from 1 to 100/],
    ['1001', 'soft', /from 1 to 1000/],
    ['1 2 3 4 5 6 7 8 9 10 11', 'soft', /at most 10/],
  ] as const)('%j are rejected for a %s budget', (text, enforcement, fault) => {
    expect(findPercentsFault(text, { enforcement })).toMatch(fault)
  })

  test('a soft budget has percents above 100', () => {
    expect(findPercentsFault('80, 150', { enforcement: 'soft' })).toBeNull()
  })
})

describe('the bar of a budget', () => {
  test('ends with the amount', () => {
    expect(scaleBar(40, [80, 95])).toEqual({
      filled: 40,
      marks: [
        { percent: 80, position: 80 },
        { percent: 95, position: 95 },
      ],
    })
  })

  test('ends with the highest percent above the amount, which has a mark then', () => {
    expect(scaleBar(250, [50, 200])).toEqual({
      filled: 100,
      marks: [
        { percent: 50, position: 25 },
        { percent: 100, position: 50 },
        { percent: 200, position: 100 },
      ],
    })
  })
})
