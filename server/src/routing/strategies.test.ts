import { describe, expect, test } from 'bun:test'
import { CachedConversation, ConversationAffinity } from './conversation'
import { orderMembers, type MemberChoice } from './strategies'
import * as fc from '../../testing/property'
import { strategies, type Strategy } from '../catalog/collection'

interface Named extends MemberChoice {
  name: string
}

const plain = (name: string, fields: Partial<MemberChoice> = {}): Named => ({
  name,
  id: `fake/${name}`,
  priority: 1,
  weight: 1,
  price: 0n,
  hasTools: false,
  inFlight: 0,
  lastMinute: 0,
  meanLatencyMs: undefined,
  isCoolingDown: false,
  ...fields,
})

const state = fc.record({
  priority: fc.integer({ min: 1, max: 3 }),
  weight: fc.integer({ min: 1, max: 1000 }),
  price: fc.bigInt({ min: 0n, max: 3n }),
  hasTools: fc.boolean(),
  inFlight: fc.nat(2),
  lastMinute: fc.nat(2),
  meanLatencyMs: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
  isCoolingDown: fc.boolean(),
})
const members = fc
  .array(state, { maxLength: 8 })
  .map((states) => states.map((fields, at) => plain(`m${at}`, fields)))
const scope = fc.constantFrom('individual' as const, 'organization' as const, 'system' as const)
const random = () => Math.random()

const names = (found: readonly Named[]) => found.map(({ name }) => name).join(' ')
const order = (strategy: Strategy, given: readonly Named[], nextIndex = 0) =>
  names(orderMembers({ strategy, scope: 'individual' }, given, { random, nextIndex }))

test('every strategy gives each rested member once, and all if none has rested', () => {
  const any = fc.record({ strategy: fc.constantFrom(...strategies), scope })
  fc.assert(
    fc.property(any, members, fc.nat(), (of, given, nextIndex) => {
      const found = orderMembers(of, given, { random, nextIndex })
      const rested = given.filter(({ isCoolingDown }) => !isCoolingDown)
      const expected = rested.length > 0 ? rested : given
      return names(found.toSorted(byName)) === names(expected.toSorted(byName))
    }),
    { numRuns: 2000 },
  )
})

test('a conversation that goes on has its own order of equals, and changes no other ranking', () => {
  const conversation = new CachedConversation(new ConversationAffinity(), 'user_1', {
    prompt_cache_key: 'session',
  })
  const given = ['a', 'b', 'c', 'd', 'e'].map((name, at) =>
    plain(name, { price: BigInt(at), priority: at, meanLatencyMs: at + 1, inFlight: at }),
  )
  const [firstOfAll] = given
  const found = (strategy: Strategy) =>
    [0, 1, 2].map((nextIndex) =>
      names(
        orderMembers({ strategy, scope: 'individual' }, given, { random, nextIndex, conversation }),
      ),
    )
  const own = names(conversation.order(given, ({ id }) => id))
  expect(own).not.toBe(names(given))
  for (const strategy of ['round_robin', 'least_used', 'random', 'weighted'] as const) {
    expect(found(strategy)).toEqual([own, own, own])
  }
  for (const strategy of ['priority', 'lowest_cost', 'lowest_latency'] as const) {
    expect(found(strategy)[0]?.startsWith(String(firstOfAll?.name))).toBe(true)
  }
  const tools = given.map((member) => ({ ...member, hasTools: member.name === 'c' }))
  const chance = { random, nextIndex: 0, conversation }
  expect(names(orderMembers({ strategy: 'random', scope: 'system' }, tools, chance))).toStartWith(
    'c ',
  )
  const tired = given.map((member) => ({ ...member, isCoolingDown: own.startsWith(member.name) }))
  const rested = names(orderMembers({ strategy: 'random', scope: 'individual' }, tired, chance))
  expect(rested).toBe(own.slice(2))
})

const byName = (a: Named, b: Named) => (a.name < b.name ? -1 : 1)

describe('rankings: no member comes before a better one', () => {
  const worse: [Strategy, (one: Named, next: Named) => boolean][] = [
    ['priority', (one, next) => one.priority > next.priority],
    ['lowest_cost', (one, next) => one.price > next.price],
    ['lowest_latency', (one, next) => (one.meanLatencyMs ?? 0) > (next.meanLatencyMs ?? 0)],
    [
      'least_used',
      (one, next) =>
        one.inFlight > next.inFlight ||
        (one.inFlight === next.inFlight && one.lastMinute > next.lastMinute),
    ],
  ]
  test.each(worse)('%s', (strategy, isWorse) => {
    fc.assert(
      fc.property(members, (given) => {
        const found = orderMembers({ strategy, scope: 'individual' }, given, {
          random,
          nextIndex: 0,
        })
        return found.every((one, at) => {
          const next = found[at + 1]
          return next === undefined || !isWorse(one, next)
        })
      }),
    )
  })
})

test('round robin: as many requests as there are members begin at each of them once', () => {
  fc.assert(
    fc.property(members, fc.nat(1000), (given, first) => {
      const rested = given.filter(({ isCoolingDown }) => !isCoolingDown)
      const begun = rested.map((_, at) => order('round_robin', rested, first + at).split(' ')[0])
      return new Set(begun).size === rested.length
    }),
  )
  const three = ['a', 'b', 'c'].map((name) => plain(name))
  expect(order('round_robin', three, 4)).toBe('b c a')
})

const share = (strategy: Strategy, given: readonly Named[]) => {
  const draws = 20_000
  let drawn = 0
  for (let draw = 0; draw < draws; draw++) if (order(strategy, given).startsWith('a')) drawn += 1
  return drawn / draws
}

describe('chance', () => {
  const given = [plain('a', { weight: 1 }), plain('b', { weight: 2 }), plain('c', { weight: 7 })]
  // Six standard deviations.
  test('random: each is first as often as the others', () => {
    expect(Math.abs(share('random', given) - 1 / 3)).toBeLessThan(0.02)
  })
  test('weighted: each is first as often as its weight says', () => {
    expect(Math.abs(share('weighted', given) - 0.1)).toBeLessThan(0.013)
  })
  test('in system collections members with tools are first, for random strategies only', () => {
    const mixed = [plain('a'), plain('b', { hasTools: true })]
    const draw = (strategy: Strategy) =>
      names(orderMembers({ strategy, scope: 'system' }, mixed, { random: () => 0, nextIndex: 0 }))
    expect(draw('random')).toBe('b a')
    expect(draw('weighted')).toBe('a b')
  })
})
