import { expect, test } from 'bun:test'
import {
  array,
  assert,
  asyncProperty,
  bigInt,
  constantFrom,
  nat,
  oneof,
  record,
} from '../../testing/property'
import { settled } from '../../testing/clock'
import {
  budget,
  countsRequest,
  paymentBudget,
  type Kind,
} from '../../testing/metering/cluster-budgets'
import { ShareCluster } from '../../testing/metering/share-cluster'
import { findWindow } from '../platform/time-window'

const ofModel = { models: ['fake/a'], providers: null, tags: null }
const ofTag = { models: null, providers: null, tags: ['batch'] }

/** The payments of an organization: for all members, for one of them, and for a department, which has a tag. */
const ofAll = { organizationId: 'org_1', memberId: null }
const ofMember = { organizationId: 'org_1', memberId: 'user_2' }
const ofDepartment = { models: null, providers: null, tags: ['(budget_1)'] }

/** Three of them count the same usage, and some a part of the requests. */
const limits = [
  budget('user_1', 'day', { spend: 150n }),
  budget('user_1', 'total', { spend: 900n }),
  budget('key_1', 'hour', { spend: 70n }),
  budget('key_1', 'hour', { requests: 6 }),
  budget('key_1', 'week', { spend: 300n }),
  budget('user_1', 'day', { tokens: 130n }),
  budget('user_1', 'week', { spend: 110n, filter: ofModel }),
  budget('key_1', 'day', { tokens: 60n, filter: ofTag }),
  paymentBudget(ofAll, { spend: 100n }),
  paymentBudget(ofAll, { requests: 7 }),
  paymentBudget(ofAll, { tokens: 80n, filter: ofModel }),
  paymentBudget(ofAll, { spend: 60n, filter: ofDepartment }),
  paymentBudget(ofMember, { spend: 45n }),
  paymentBudget(ofMember, { tokens: 50n }),
]
const size = 5
const demand = { full: 20n, floor: 8n, tokens: { full: 15n, floor: 6n } }
const paid = { accountId: 'org_1', organizationId: 'org_1', keyId: 'key_2' }
const kinds: readonly Kind[] = [
  { model: 'fake/a', budgetTags: null },
  { model: 'fake/a', budgetTags: ['batch'] },
  { model: 'fake/b', budgetTags: ['batch'] },
  { model: 'fake/a', budgetTags: null, userId: 'user_2', ...paid },
  { model: 'fake/b', budgetTags: ['(budget_1)'], userId: 'user_2', ...paid },
  { model: 'fake/a', budgetTags: ['(budget_1)'], userId: 'user_3', ...paid },
]

/** The next moment at which a window begins, or the last one before it. */
function findEdge(wallMs: number, place: number): number {
  const rule = limits[(place >> 1) % limits.length]?.budget?.rule
  const toMs = rule ? findWindow(rule, wallMs).toMs : Infinity
  return Number.isFinite(toMs) ? Math.max(wallMs, toMs - (place & 1)) : wallMs
}

function expectKept(cluster: ShareCluster): void {
  const moments = [...cluster.ended, ...cluster.running].slice(-10)
  for (const { startedAt } of moments) {
    for (const limit of limits) {
      const { requests, spent, tokens } = cluster.countIn(limit, Date.parse(startedAt))
      if (limit.tokens) expect(tokens).toBeLessThanOrEqual(limit.tokens)
      if (limit.spend !== null) expect(spent).toBeLessThanOrEqual(limit.spend)
      if (limit.requests !== null) expect(requests).toBeLessThanOrEqual(limit.requests)
    }
  }
}

const command = record({
  does: oneof(
    constantFrom('ask', 'end', 'cancel', 'book', 'refresh', 'step', 'lose', 'fail', 'move'),
    constantFrom('ask', 'end', 'step', 'turn', 'crash', 'wait'),
    constantFrom('ask', 'step', 'step'),
  ),
  cost: bigInt({ min: 0n, max: demand.full }),
  place: nat(60),
  kind: constantFrom(...kinds),
})

interface Step {
  cluster: ShareCluster
  kind: Kind
  cost: bigint
  place: number
}

/** Commands of which most leave exchanges of five nodes under way. */
const steps: Record<string, (step: Step) => unknown> = {
  ask: ({ cluster, place, kind }) => void cluster.ask(place, { ...demand, kind }),
  end: ({ cluster, place, cost }) => cluster.end(place, cost),
  cancel: ({ cluster, place }) => cluster.end(place, undefined),
  book: ({ cluster, place }) => cluster.book(place),
  refresh: ({ cluster, place }) => void cluster.nodes[place % size]?.limits.refresh(),
  step: ({ cluster, place }) => cluster.step(place, 'stored'),
  lose: ({ cluster, place }) => cluster.step(place, 'lost'),
  fail: ({ cluster, place }) => cluster.step(place, 'failed'),
  move: ({ cluster, place }) => {
    cluster.wallMs = findEdge(cluster.wallMs, place)
  },
  turn: ({ cluster, place }) => cluster.turn(place, (place - 30) * 600),
  crash: ({ cluster, place }) => cluster.crash(place),
  wait: ({ cluster, place }) => passTime(cluster, place),
}

async function run(
  cluster: ShareCluster,
  { does, ...step }: { does: string } & Omit<Step, 'cluster'>,
): Promise<void> {
  await steps[does]?.({ cluster, ...step })
  await settled()
}

const tickMs = 20_000

/**
 * Lets time pass in which the database answers, and each node states its shares. Nodes that crashed have been started
 * again, and have booked their journals, before others find them dead.
 */
async function passTime(cluster: ShareCluster, place: number): Promise<void> {
  cluster.bookCrashed()
  for (let ticks = place % 16; ticks > 0; ticks--) {
    cluster.wallMs += tickMs
    cluster.monotonicMs += tickMs
    for (const { limits: ofNode } of cluster.nodes) void ofNode.refresh()
    await settled()
    while (cluster.pending.length > 0) await cluster.step(0, 'stored')
  }
}

test('five nodes never exceed a budget, with answers that are late or lost, crashes, and clocks that jump', async () => {
  const property = asyncProperty(array(command, { maxLength: 120 }), async (commands) => {
    const cluster = new ShareCluster(size, limits)
    cluster.isHeld = true
    for (const one of commands) {
      await run(cluster, one)
      expectKept(cluster)
    }
  })
  await assert(property, { numRuns: 300 })
})

/** The least that is left of the limits for a request. */
function findLeft(cluster: ShareCluster, kind: Kind) {
  const left = { spent: 1_000_000n, tokens: 1_000_000n, requests: 1_000_000 }
  for (const limit of limits) {
    if (!countsRequest(limit, kind)) continue
    const { spent, tokens, requests } = cluster.countIn(limit, cluster.wallMs)
    if (limit.tokens && limit.tokens - tokens < left.tokens) left.tokens = limit.tokens - tokens
    if (limit.spend !== null && limit.spend - spent < left.spent) left.spent = limit.spend - spent
    if (limit.requests !== null) left.requests = Math.min(left.requests, limit.requests - requests)
  }
  return left
}

/** What runs when a window ends counts in the next one too: here it ends before. */
function endAll(cluster: ShareCluster, cost: bigint): void {
  while (cluster.running.length > 0) cluster.end(0, cost)
}

const calmCommand = record({
  does: oneof(
    constantFrom('ask', 'end', 'cancel', 'book', 'refresh', 'move', 'wait'),
    constantFrom('ask', 'end', 'ask', 'cancel'),
  ),
  cost: bigInt({ min: 0n, max: demand.full }),
  place: nat(60),
  kind: constantFrom(...kinds),
})

test('five nodes admit a request exactly where its budgets cover it, and with all that is left', async () => {
  const property = asyncProperty(array(calmCommand, { maxLength: 100 }), async (commands) => {
    const cluster = new ShareCluster(size, limits)
    for (const one of commands) {
      if (one.does === 'move' || one.does === 'wait') endAll(cluster, one.cost)
      if (one.does !== 'ask') {
        await run(cluster, one)
        continue
      }
      const { kind, place } = one
      const left = findLeft(cluster, kind)
      const held = left.spent < demand.full ? left.spent : demand.full
      const { full, floor } = demand.tokens
      const heldTokens = left.tokens < full ? left.tokens : full
      const isCovered = left.requests >= 1 && held >= demand.floor && heldTokens >= floor
      const asked = await cluster.ask(place, { ...demand, kind })
      expect(asked && [asked.held, asked.heldTokens]).toEqual(
        isCovered ? [held, heldTokens] : undefined,
      )
      expectKept(cluster)
    }
  })
  await assert(property, { numRuns: 300 })
})

test('of requests at once on five nodes exactly as many run as a budget covers', async () => {
  const property = asyncProperty(nat(6), nat(40), async (covered, place) => {
    const one = [budget('user_1', 'day', { spend: BigInt(covered) * demand.full })]
    const cluster = new ShareCluster(size, one)
    cluster.maxWaitMs = 50_000
    const asked = await Promise.all(
      Array.from({ length: 15 }, (_, at) =>
        cluster.ask(at * (place + 1), { full: demand.full, floor: demand.full }),
      ),
    )
    expect(asked.filter((request) => request !== undefined)).toHaveLength(covered)
  })
  await assert(property, { numRuns: 300 })
})

test('in the steady state a request needs no exchange', async () => {
  const cluster = new ShareCluster(2, [budget('user_1', 'day', { spend: 1_000_000_000n })])
  const serve = async (count: number) => {
    for (let at = 0; at < count; at++) {
      await cluster.ask(at, demand)
      cluster.end(0, demand.full)
      cluster.book(0)
    }
  }
  await serve(200)
  const before = cluster.store.exchanges
  await serve(1000)
  expect((cluster.store.exchanges - before) / 1000).toBeLessThan(0.05)
})

test('the share of a crashed node counts as used until the others find it dead, and then is free', async () => {
  const limit = budget('user_1', 'day', { spend: 100n })
  const cluster = new ShareCluster(2, [limit])
  const all = { full: 100n, floor: 100n }
  expect(await cluster.ask(0, all)).toBeDefined()
  cluster.crash(0)
  expect(await cluster.ask(1, all)).toBeUndefined()
  for (let seconds = 0; seconds < 120; seconds += 20) {
    cluster.wallMs += 20_000
    cluster.monotonicMs += 20_000
    expect(await cluster.ask(1, all)).toBeUndefined()
  }
  cluster.wallMs += 20_000
  cluster.monotonicMs += 20_000
  expect(await cluster.ask(1, all)).toBeDefined()
})
