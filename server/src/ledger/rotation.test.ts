import { expect, test } from 'bun:test'
import { ReferenceLedger } from '../../testing/ledger/reference-ledger'
import { CreditManager } from './credit-manager'

const hourMs = 3_600_000

/** One node on a ledger that answers at once. */
function openNode() {
  const clock = { ms: 0 }
  const ledger = new ReferenceLedger()
  ledger.account('account').posted = 10_000n
  let leases = 0
  const credit = new CreditManager({
    nodeId: 'node',
    newLeaseId: () => `lease ${++leases}`,
    now: () => ({ monotonicMs: clock.ms, wallMs: clock.ms }),
    pause: () => Promise.resolve(),
    rotateAfterMs: 12 * hourMs,
    onError: (error) => {
      throw error
    },
    store: {
      take: async (lease) => ledger.take({ ...lease, nodeId: 'node', nodes: 1, nowMs: clock.ms }),
      fence: async (lease) => ledger.fence({ ...lease, nodeId: 'node', nowMs: 0 }),
      isUndone: () => false,
      isAlive: async () => false,
      roundTripMs: 0,
      giveBack: async (returns, options) => ledger.giveBack(returns, options),
      renew: async (ids) => ledger.renew(ids, clock.ms),
    },
  })
  const hold = () => credit.of('account').hold({ full: 100n, floor: 100n, minimum: 0n })
  /** Ticks for so long, with a request every few seconds. */
  const run = async (ms: number) => {
    for (const endsMs = clock.ms + ms; clock.ms < endsMs;) {
      clock.ms += 20_000
      const used = await hold()
      ledger.settle([
        { id: `event ${clock.ms}`, accountId: 'account', cost: 1n, ...used.settle(1n) },
      ])
      await credit.tick()
    }
  }
  return { ledger, hold, run }
}

test('replaces a lease after twelve hours; it ends with its last running request', async () => {
  const { ledger, hold, run } = openNode()
  const long = await hold()
  expect(long.leaseId).toBe('lease 1')
  await run(12 * hourMs - 60_000)
  expect((await hold()).leaseId).toBe('lease 1')
  await run(120_000)
  expect((await hold()).leaseId).toBe('lease 2')
  await run(hourMs)
  // What is free in it went back; both holds are still there, and renewed.
  const old = ledger.leases.get('lease 1')
  expect(old).toMatchObject({ state: 'active' })
  expect((old?.amount ?? 0n) - (old?.spent ?? 0n)).toBe(200n)
  const settled = long.settle(100n)
  expect(settled).toEqual({ leaseId: 'lease 1', fromLease: 100n })
  ledger.settle([{ id: 'long', accountId: 'account', cost: 100n, ...settled }])
  expect(ledger.booked.get('long')).toMatchObject({ charged: 100n, writtenOff: 0n })
})

test('closes a replaced lease without running requests', async () => {
  const { ledger, run } = openNode()
  await run(13 * hourMs)
  expect(ledger.leases.get('lease 1')).toMatchObject({ state: 'closed' })
  expect(ledger.leases.get('lease 2')).toMatchObject({ state: 'active' })
  expect(ledger.violations()).toEqual([])
})
