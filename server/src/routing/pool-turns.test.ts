import { expect, test } from 'bun:test'
import type { ContinuedConversation } from './conversation'
import { PoolTurns } from './pool-turns'
import type { OwnedConnection, CandidatePlace } from '../catalog/offer'
import { sampleConnection } from '../../testing/catalog/samples'

const connection = (id: string): OwnedConnection => ({
  ...sampleConnection({ id }),
  found: new Map(),
})

type Strategy = NonNullable<CandidatePlace['pool']>['strategy']

const pool = (strategy: Strategy, id = 'pool_1'): CandidatePlace => ({
  provider: 'fake',
  connections: [connection('a'), connection('b'), connection('c')],
  pool: { id, strategy },
  billing: 'byok',
  organizationId: null,
})

const orders = (turns: PoolTurns, place: CandidatePlace, times: number) =>
  Array.from({ length: times }, () =>
    turns
      .orderOf(place)
      .map(({ id }) => id)
      .join(' '),
  )

test('by priority the order is always the same', () => {
  expect(orders(new PoolTurns(), pool('priority'), 3)).toEqual(['a b c', 'a b c', 'a b c'])
})

test('round robin begins with the next one each time, in each pool for itself', () => {
  const turns = new PoolTurns()
  expect(orders(turns, pool('round_robin'), 4)).toEqual(['a b c', 'b c a', 'c a b', 'a b c'])
  expect(orders(turns, pool('round_robin', 'pool_2'), 2)).toEqual(['a b c', 'b c a'])
})

test('least used begins with who has least to do, and counts requests until they end', () => {
  const turns = new PoolTurns()
  const endOfA = turns.began('a')
  turns.began('a')
  turns.began('b')
  expect(orders(turns, pool('least_used'), 1)).toEqual(['c b a'])
  endOfA()
  endOfA()
  expect(turns.runningOn('a')).toBe(1)
})

test('at random every one begins, and each is in every order once', () => {
  const all = orders(new PoolTurns(), pool('random'), 200)
  expect(new Set(all.map((order) => order[0]))).toEqual(new Set(['a', 'b', 'c']))
  expect(new Set(all.map((order) => order.split(' ').toSorted().join(' ')))).toEqual(
    new Set(['a b c']),
  )
})

const idsOf = (connections: readonly { id: string }[]) => connections.map(({ id }) => id).join(' ')

/** One that every process sends to the last of the alphabet first. */
const continued = (connectionId?: string): ContinuedConversation => ({
  isContinued: true,
  preferred: connectionId === undefined ? undefined : { modelId: 'fake/one', connectionId },
  order: (items, idOf) => items.toSorted((one, other) => (idOf(one) < idOf(other) ? 1 : -1)),
})

const sharing = [['round_robin'], ['least_used'], ['random']] as const

test.each(sharing)('%s: a conversation stays with who served it, and takes no turn', (strategy) => {
  const turns = new PoolTurns(() => 0)
  expect(idsOf(turns.orderOf(pool(strategy), continued('b')))).toBe('b c a')
  expect(idsOf(turns.orderOf(pool(strategy), continued('b')))).toBe('b c a')
  expect(idsOf(turns.orderOf(pool(strategy)))).toBe('a b c')
})

test.each(sharing)(
  '%s: one that was served elsewhere goes where every process sends it, whatever the turn and the load',
  (strategy) => {
    const turns = new PoolTurns(() => 0)
    turns.began('c')
    orders(turns, pool(strategy), 2)
    expect(idsOf(turns.orderOf(pool(strategy), continued()))).toBe('c b a')
  },
)

test('a first request is sent by turns', () => {
  const turns = new PoolTurns()
  const first = { ...continued(), isContinued: false }
  const begun = [1, 2].map(() => idsOf(turns.orderOf(pool('round_robin'), first)))
  expect(begun).toEqual(['a b c', 'b c a'])
})

test('a conversation leaves who is failing, who is gone, and an order that is meant', () => {
  const place = pool('round_robin')
  const failing: CandidatePlace = {
    ...place,
    connections: [connection('a'), { ...connection('b'), isFailing: true }, connection('c')],
  }
  expect(idsOf(new PoolTurns().orderOf(failing, continued('b')))).toBe('c a b')
  expect(idsOf(new PoolTurns().orderOf(place, continued('d')))).toBe('c b a')
  expect(idsOf(new PoolTurns().orderOf(pool('priority'), continued('b')))).toBe('a b c')
})
