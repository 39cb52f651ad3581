import { describe, expect, test } from 'bun:test'
import { ReferenceLedger } from '../../testing/ledger/reference-ledger'
import { CreditManager } from './credit-manager'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const posted = 1000n
const full = 100n

/**
 * One node, whose two clocks the test sets, on a ledger with a clock of its own. The account has little,
 * and the node has all of it in its lease.
 */
async function openNode() {
  const clock = { monotonicMs: 1_000_000, wallMs: 1_800_000_000_000, ledgerMs: 0 }
  const ledger = new ReferenceLedger()
  ledger.account('account').posted = posted
  let leases = 0
  const counts = { renewals: 0, takes: 0 }
  const credit = new CreditManager({
    nodeId: 'node',
    newLeaseId: () => `lease ${++leases}`,
    now: () => ({ monotonicMs: clock.monotonicMs, wallMs: clock.wallMs }),
    pause: () => Promise.resolve(),
    rotateAfterMs: 12 * hourMs,
    onError: (error) => {
      throw error
    },
    store: {
      take: async (lease) => {
        counts.takes += 1
        return ledger.take({ ...lease, nodeId: 'node', nodes: 1, nowMs: clock.ledgerMs })
      },
      fence: async (lease) => ledger.fence({ ...lease, nodeId: 'node', nowMs: 0 }),
      isUndone: () => false,
      isAlive: async () => false,
      roundTripMs: 0,
      giveBack: async (returns, options) => ledger.giveBack(returns, options),
      renew: async (ids) => {
        counts.renewals += 1
        return ledger.renew(ids, clock.ledgerMs)
      },
    },
  })
  /** A request, which ends at once. */
  const request = async () => {
    const hold = await credit.of('account').hold({ full, floor: full, minimum: 0n })
    hold.settle(0n)
    return hold.leaseId
  }
  // Ten at once need all there is.
  const first = await Promise.all(
    Array.from({ length: 10 }, () => credit.of('account').hold({ full, floor: full, minimum: 0n })),
  )
  for (const hold of first) hold.settle(0n)
  expect(ledger.leases.get('lease 1')).toMatchObject({ amount: posted })
  Object.assign(counts, { renewals: 0, takes: 0 })
  return { clock, ledger, credit, request, counts }
}

type Clock = Awaited<ReturnType<typeof openNode>>['clock']

describe.each<[string, (clock: Clock) => void]>([
  ['T01: the wall clock set two hours ahead', (clock) => (clock.wallMs += 2 * hourMs)],
  ['T01: the wall clock set ten years ahead', (clock) => (clock.wallMs += 87_600 * hourMs)],
  ['T03: a node frozen for 60 s', (clock) => advance(clock, minuteMs)],
  ['T03: a node frozen for 150 s', (clock) => advance(clock, 150_000)],
  ['T07: a machine asleep for ten minutes', (clock) => (clock.wallMs += 10 * minuteMs)],
])('%s', (_what, happen) => {
  test('renews its lease before use; an active lease stays in use and no request is rejected', async () => {
    const { clock, request, counts } = await openNode()
    happen(clock)
    const used = await Promise.all([request(), request(), request()])
    expect(used).toEqual(['lease 1', 'lease 1', 'lease 1'])
    expect(counts.renewals).toBe(1)
    expect(await request()).toBe('lease 1')
    expect(counts.renewals).toBe(1)
  })

  test('never uses a lease that was ended meanwhile', async () => {
    const { clock, ledger, request, counts } = await openNode()
    happen(clock)
    ledger.end(['lease 1'], 'swept')
    expect(await request()).toBe('lease 2')
    expect(counts.takes).toBeGreaterThan(0)
    expect(ledger.violations()).toEqual([])
  })
})

const advance = (clock: Clock, ms: number) => {
  clock.monotonicMs += ms
  clock.wallMs += ms
  clock.ledgerMs += ms
}

test('T01: a wall clock set back two hours rejects no request and prolongs no lease', async () => {
  const { clock, request, counts } = await openNode()
  clock.wallMs -= 2 * hourMs
  expect(await request()).toBe('lease 1')
  expect(counts.renewals).toBe(0)
  clock.monotonicMs += 44_000
  expect(await request()).toBe('lease 1')
  expect(counts.renewals).toBe(0)
  clock.monotonicMs += 1000
  expect(await request()).toBe('lease 1')
  expect(counts.renewals).toBe(1)
})

test('T03: after a freeze leases are renewed and returned once, not once for each missed tick', async () => {
  const { clock, credit, request, counts } = await openNode()
  advance(clock, 150_000)
  await request()
  Object.assign(counts, { renewals: 0, takes: 0 })
  for (let turn = 0; turn < 5; turn++) await credit.tick()
  expect(counts.renewals).toBe(1)
  expect(counts.takes).toBe(0)
})
