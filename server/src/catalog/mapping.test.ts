import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import {
  fillTarget,
  sortMappings,
  Mappings,
  findReferences,
  countWildcards,
  toPattern,
} from './mapping'

const letter = fc.constantFrom('a', 'b', '/')
const name = fc.string({ unit: letter, maxLength: 12 })
const pattern = fc
  .array(fc.string({ unit: letter, maxLength: 3 }), { minLength: 1, maxLength: 6 })
  .map((literals) => literals.join('*'))

/** The same in other words: a regular expression, which tries again wherever it did not fit. */
const toRegExp = (source: string) => new RegExp(`^${source.split('*').join('(.*?)')}$`, 's')

describe('a pattern', () => {
  test('fits the same texts as a regular expression, with the same runs', () => {
    fc.assert(
      fc.property(pattern, name, (source, modelName) => {
        const found = toRegExp(source).exec(modelName)
        const expected = found ? found.slice(1).join('|') : undefined
        return toPattern(source).match(modelName)?.join('|') === expected
      }),
      { numRuns: 5000 },
    )
  })

  test('gives a name back when its runs are put where its stars were', () => {
    fc.assert(
      fc.property(pattern, name, (source, modelName) => {
        const runs = toPattern(source).match(modelName)
        const target = source.split('*').reduce((text, literal, at) => `${text}$${at}${literal}`)
        return runs === undefined || fillTarget(target, runs) === modelName
      }),
      { numRuns: 5000 },
    )
  })

  test('looks for each literal once, without the endless retries of a backtracking matcher', () => {
    const stars = '*a'.repeat(100)
    expect(toPattern(`${stars}*b`).match(`${'a'.repeat(255)}c`)).toBeUndefined()
    expect(toPattern(`${stars}*b`).match(`${'a'.repeat(254)}b`)).toHaveLength(101)
    expect(toPattern(`*${'a'.repeat(100)}b*${'a'.repeat(90)}c`).match('a'.repeat(256))).toBe(
      undefined,
    )
  })
})

test('one pass: the result of a mapping is not mapped again, not even its runs', () => {
  const mappings = new Mappings([
    { id: 'map_1', source: 'x-*', target: '$1/y', priority: 100 },
    { id: 'map_2', source: '*/y', target: 'never', priority: 100 },
  ])
  expect(mappings.apply('x-$1')).toEqual({ mappingId: 'map_1', target: '$1/y' })
  expect(mappings.apply('x-z')).toEqual({ mappingId: 'map_1', target: 'z/y' })
})

const rule = (id: string, source: string, priority = 100) => ({
  id: `map_${id}`,
  source,
  target: `to/${id}`,
  priority,
})

describe('several mappings that fit', () => {
  const cases: Record<string, ReturnType<typeof rule>[]> = {
    'the exact one comes first, whatever its priority': [
      rule('1', 'gpt-4o', 1000),
      rule('0', 'gpt-*', 1),
    ],
    'then the one of lower priority': [rule('2', 'gpt*', 5), rule('1', 'gpt-4*', 6)],
    'then the one with the longer literal part': [rule('2', 'gpt-4*'), rule('1', 'gpt*')],
    'then the older one': [rule('1', 'gpt*'), rule('2', '*4o')],
  }
  test.each(Object.entries(cases))('%s', (_what, [first, second]) => {
    if (!first || !second) throw new Error('two mappings')
    for (const given of [
      [first, second],
      [second, first],
    ]) {
      expect(new Mappings(given).apply('gpt-4o')?.mappingId).toBe(first.id)
      expect(sortMappings(given).map(({ id }) => id)).toEqual([first.id, second.id])
    }
  })
})

test('a target names runs by $1 to $9, and a pattern has as many as it has stars', () => {
  expect(findReferences('a/$1-$5$9$')).toEqual([1, 5, 9])
  expect(countWildcards('a*b*')).toBe(2)
  expect(countWildcards('a')).toBe(0)
})
