import { expect, test } from 'bun:test'
import type { ContinuedConversation } from './conversation'
import { PoolRotation } from './pool-rotation'
import type { OwnedConnection, ProviderOffer } from '../catalog/offer'
import { sampleConnection } from '../../testing/catalog/samples'

const connection = (id: string): OwnedConnection => ({
  ...sampleConnection({ id }),
  discovered: new Map(),
})

type Strategy = NonNullable<ProviderOffer['pool']>['strategy']

const pool = (strategy: Strategy, id = 'pool_1'): ProviderOffer => ({
  provider: 'fake',
  connections: [connection('a'), connection('b'), connection('c')],
  pool: { id, strategy },
  billing: 'byok',
  organizationId: null,
})

const orders = (rotation: PoolRotation, place: ProviderOffer, times: number) =>
  Array.from({ length: times }, () =>
    rotation
      .orderOf(place)
      .map(({ id }) => id)
      .join(' '),
  )

test('by priority the order is always the same', () => {
  expect(orders(new PoolRotation(), pool('priority'), 3)).toEqual(['a b c', 'a b c', 'a b c'])
})

test('round robin begins with the next one each time, in each pool for itself', () => {
  const rotation = new PoolRotation()
  expect(orders(rotation, pool('round_robin'), 4)).toEqual(['a b c', 'b c a', 'c a b', 'a b c'])
  expect(orders(rotation, pool('round_robin', 'pool_2'), 2)).toEqual(['a b c', 'b c a'])
})

test('least used starts with the member of the fewest requests, and counts them until they end', () => {
  const rotation = new PoolRotation()
  const endOfA = rotation.begin('a')
  rotation.begin('a')
  rotation.begin('b')
  expect(orders(rotation, pool('least_used'), 1)).toEqual(['c b a'])
  endOfA()
  endOfA()
  expect(rotation.runningOn('a')).toBe(1)
})

test('at random every one begins, and each is in every order once', () => {
  const all = orders(new PoolRotation(), pool('random'), 200)
  expect(new Set(all.map((order) => order[0]))).toEqual(new Set(['a', 'b', 'c']))
  expect(new Set(all.map((order) => order.split(' ').toSorted().join(' ')))).toEqual(
    new Set(['a b c']),
  )
})

const idsOf = (connections: readonly { id: string }[]) => connections.map(({ id }) => id).join(' ')

/** One that every process sends to the last of the alphabet first. */
const continued = (connectionId?: string): ContinuedConversation => ({
  isContinued: true,
  preferredRoute: connectionId === undefined ? undefined : { modelId: 'fake/one', connectionId },
  order: (items, idOf) => items.toSorted((one, other) => (idOf(one) < idOf(other) ? 1 : -1)),
})

const sharing = [['round_robin'], ['least_used'], ['random']] as const

test.each(sharing)(
  '%s: a conversation stays with its member, and does not advance the rotation',
  (strategy) => {
    const rotation = new PoolRotation(() => 0)
    expect(idsOf(rotation.orderOf(pool(strategy), continued('b')))).toBe('b c a')
    expect(idsOf(rotation.orderOf(pool(strategy), continued('b')))).toBe('b c a')
    expect(idsOf(rotation.orderOf(pool(strategy)))).toBe('a b c')
  },
)

test.each(sharing)(
  '%s: a conversation served elsewhere goes where every process sends it, for any turn and load',
  (strategy) => {
    const rotation = new PoolRotation(() => 0)
    rotation.begin('c')
    orders(rotation, pool(strategy), 2)
    expect(idsOf(rotation.orderOf(pool(strategy), continued()))).toBe('c b a')
  },
)

test('a first request is sent by turns', () => {
  const rotation = new PoolRotation()
  const first = { ...continued(), isContinued: false }
  const begun = [1, 2].map(() => idsOf(rotation.orderOf(pool('round_robin'), first)))
  expect(begun).toEqual(['a b c', 'b c a'])
})

test('a conversation leaves a member that fails or is gone, and yields to a fixed order', () => {
  const place = pool('round_robin')
  const failing: ProviderOffer = {
    ...place,
    connections: [connection('a'), { ...connection('b'), isFailing: true }, connection('c')],
  }
  expect(idsOf(new PoolRotation().orderOf(failing, continued('b')))).toBe('c a b')
  expect(idsOf(new PoolRotation().orderOf(place, continued('d')))).toBe('c b a')
  expect(idsOf(new PoolRotation().orderOf(pool('priority'), continued('b')))).toBe('a b c')
})
