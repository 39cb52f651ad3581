import { expect, test } from 'bun:test'
import {
  array,
  assert,
  asyncProperty,
  bigInt,
  constantFrom,
  nat,
  record,
} from '../../testing/property'
import { settled } from '../../testing/clock'
import { budget } from '../../testing/metering/cluster-budgets'
import { ShareCluster } from '../../testing/metering/share-cluster'
import { findAmountInForce } from '../platform/amount-override'
import type { WindowLimit } from '../limits/caller-limits'

const size = 5
const demand = { full: 20n, floor: 8n, tokens: { full: 15n, floor: 6n } }
const startMs = Date.UTC(2026, 1, 10)
const stepMs = 60_000
const between = (from: number, until: number, amount: bigint) => ({
  amount,
  fromMs: startMs + from * stepMs,
  untilMs: startMs + until * stepMs,
})

/** Raised and lowered, at other times. */
const limits = [
  budget('user_1', 'total', { spend: 100n, override: between(2, 6, 300n) }),
  budget('key_1', 'total', { spend: 260n, override: between(4, 9, 60n) }),
  budget('key_1', 'day', { tokens: 90n, override: between(1, 5, 200n) }),
  budget('user_1', 'day', { tokens: 250n, override: between(3, 7, 30n) }),
  budget('user_1', 'day', { requests: 4, override: between(5, 8, 12n) }),
]

const amountAt = ({ spend, tokens, requests, budget: terms }: WindowLimit, atMs: number) =>
  findAmountInForce(spend ?? tokens ?? BigInt(requests ?? 0), terms?.override ?? null, atMs)

/** The use of a limit in the unit that it has. */
function usedOf(cluster: ShareCluster, limit: WindowLimit): bigint {
  const { spent, tokens, requests } = cluster.countIn(limit, cluster.wallMs)
  if (limit.spend !== null) return spent
  return limit.tokens ? tokens : BigInt(requests)
}

/** Whether a request began while the amount was in force that is now. */
function hasBegun(cluster: ShareCluster, limit: WindowLimit): boolean {
  const { fromMs } = amountAt(limit, cluster.wallMs)
  return [...cluster.ended, ...cluster.running].some(
    ({ startedAt }) => Date.parse(startedAt) >= fromMs,
  )
}

const command = record({
  does: constantFrom(
    'ask',
    'ask',
    'end',
    'cancel',
    'book',
    'refresh',
    'step',
    'step',
    'lose',
    'move',
  ),
  cost: bigInt({ min: 0n, max: demand.full }),
  place: nat(60),
})

test('five nodes admit nothing beyond the amount in force, with exchanges that are late or lost while it changes', async () => {
  const property = asyncProperty(array(command, { maxLength: 120 }), async (commands) => {
    const cluster = new ShareCluster(size, limits)
    cluster.isHeld = true
    for (const { does, cost, place } of commands) {
      if (does === 'ask') void cluster.ask(place, demand)
      else if (does === 'end') cluster.end(place, cost)
      else if (does === 'cancel') cluster.end(place, undefined)
      else if (does === 'book') cluster.book(place)
      else if (does === 'refresh') void cluster.nodes[place % size]?.limits.refresh()
      else if (does === 'move') cluster.wallMs += stepMs
      else await cluster.step(place, does === 'step' ? 'stored' : 'lost')
      await settled()
      for (const limit of limits) {
        if (hasBegun(cluster, limit))
          expect(usedOf(cluster, limit)).toBeLessThanOrEqual(amountAt(limit, cluster.wallMs).amount)
      }
    }
  })
  await assert(property, { numRuns: 300 })
})

test('five nodes admit a request exactly where the amounts in force cover it', async () => {
  const property = asyncProperty(array(command, { maxLength: 100 }), async (commands) => {
    const cluster = new ShareCluster(size, limits)
    for (const { does, cost, place } of commands) {
      if (does === 'end') cluster.end(place, cost)
      else if (does === 'book') cluster.book(place)
      else if (does === 'move') cluster.wallMs += stepMs
      if (does !== 'ask') continue
      const left = limits.map((limit) => {
        const rest = amountAt(limit, cluster.wallMs).amount - usedOf(cluster, limit)
        if (limit.requests !== null) return rest >= 1n
        return rest >= (limit.tokens ? demand.tokens.floor : demand.floor)
      })
      const asked = await cluster.ask(place, demand)
      expect(asked !== undefined).toBe(left.every((isEnough) => isEnough))
    }
  })
  await assert(property, { numRuns: 300 })
})
