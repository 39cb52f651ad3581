import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { rendezvousOrder } from './rendezvous'

interface Candidate {
  id: string
  weight: number
}

const choice = { idOf: ({ id }: Candidate) => id, weightOf: ({ weight }: Candidate) => weight }
const order = (key: string, candidates: readonly Candidate[]) =>
  rendezvousOrder(key, candidates, choice)
const firstOf = (key: string, candidates: readonly Candidate[]) => order(key, candidates)[0]?.id

const idsOf = (list: readonly Candidate[]) => list.map(({ id }) => id).toSorted()

const candidates = fc.uniqueArray(
  fc.record({ id: fc.string({ maxLength: 40 }), weight: fc.integer({ min: 1, max: 1000 }) }),
  { selector: ({ id }) => id, minLength: 1, maxLength: 12 },
)
const key = fc.string({ maxLength: 60 })

describe('the order of a conversation', () => {
  test('has each candidate once', () => {
    fc.assert(
      fc.property(key, candidates, (of, given) => {
        expect(idsOf(order(of, given))).toEqual(idsOf(given))
      }),
      { numRuns: 500 },
    )
  })

  test('is the same however the candidates are listed', () => {
    const listed = candidates.chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })),
    )
    fc.assert(
      fc.property(key, listed, (of, [given, shuffled]) => {
        expect(order(of, shuffled)).toEqual(order(of, given))
      }),
      { numRuns: 500 },
    )
  })

  test('without one of them is the order of the others', () => {
    const picked = candidates.chain((given) =>
      fc.tuple(fc.constant(given), fc.nat(given.length - 1)),
    )
    fc.assert(
      fc.property(key, picked, (of, [given, at]) => {
        const gone = given[at]
        expect(order(of, given.toSpliced(at, 1))).toEqual(
          order(of, given).filter((candidate) => candidate !== gone),
        )
      }),
      { numRuns: 500 },
    )
  })

  test('changes for a weight only as far as that candidate goes forward', () => {
    fc.assert(
      fc.property(key, candidates, fc.integer({ min: 1, max: 1000 }), (of, given, more) => {
        const [first, ...others] = given
        if (!first) return
        const heavier = { ...first, weight: first.weight + more }
        const before = order(of, given)
        const after = order(of, [heavier, ...others])
        expect(after.indexOf(heavier)).toBeLessThanOrEqual(before.indexOf(first))
        expect(after.filter((one) => one !== heavier)).toEqual(
          before.filter((one) => one !== first),
        )
      }),
      { numRuns: 500 },
    )
  })
})

test('the order is that of every version and machine, as nodes of one installation share it', () => {
  const given = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id: `conn_${id}`, weight: 1 }))
  const orders = ['user_1 named x', 'user_1 named y', 'user_2 1é中'].map((of) =>
    order(of, given)
      .map(({ id }) => id.at(-1))
      .join(''),
  )
  expect(orders).toEqual(['bcdae', 'deabc', 'aedcb'])
})

/** How many of so many conversations each candidate is first for. */
function shares(given: readonly Candidate[], keys: number): Map<string, number> {
  const counts = new Map<string, number>()
  for (let at = 0; at < keys; at++) {
    const first = firstOf(`user_${at % 7} ${at}`, given) ?? ''
    counts.set(first, (counts.get(first) ?? 0) + 1)
  }
  return counts
}

describe('over many conversations', () => {
  const keys = 20_000

  test.each([[[1, 1, 1]], [[1, 2, 5]], [[1000, 1, 1]], [[3, 3, 3, 3, 3, 3, 3, 3]]])(
    'each of the weights %j has its share',
    (weights) => {
      const given = weights.map((weight, at) => ({ id: `conn_${at}`, weight }))
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      const counts = shares(given, keys)
      for (const { id, weight } of given) {
        const share = weight / total
        // Six standard deviations: keys and candidates are the same in every run.
        const margin = 6 * Math.sqrt(keys * share * (1 - share))
        expect(Math.abs((counts.get(id) ?? 0) - keys * share)).toBeLessThan(margin)
      }
    },
  )

  test('a new member takes its share from all, and moves no other conversation', () => {
    const given = Array.from({ length: 4 }, (_, at) => ({ id: `conn_${at}`, weight: 1 }))
    const more = [...given, { id: 'conn_new', weight: 1 }]
    const moved = new Map<string, number>()
    for (let at = 0; at < keys; at++) {
      const [before = '', after] = [firstOf(`${at}`, given), firstOf(`${at}`, more)]
      if (after === before) continue
      expect(after).toBe('conn_new')
      moved.set(before, (moved.get(before) ?? 0) + 1)
    }
    expect(moved.size).toBe(4)
    for (const count of moved.values()) {
      expect(Math.abs(count - keys / 20)).toBeLessThan(6 * Math.sqrt(keys / 20))
    }
  })

  test('the conversations of a removed member are spread over all that stay', () => {
    const given = Array.from({ length: 5 }, (_, at) => ({ id: `conn_${at}`, weight: 1 }))
    const left = given.slice(1)
    const takers = new Map<string, number>()
    for (let at = 0; at < keys; at++) {
      if (firstOf(`${at}`, given) !== 'conn_0') continue
      const taker = firstOf(`${at}`, left) ?? ''
      takers.set(taker, (takers.get(taker) ?? 0) + 1)
    }
    expect(takers.size).toBe(4)
    for (const count of takers.values()) {
      expect(Math.abs(count - keys / 20)).toBeLessThan(6 * Math.sqrt(keys / 20))
    }
  })
})
