import { expect, setDefaultTimeout, test } from 'bun:test'
import { hasEachBooked, silentAttempts, sumsOf } from './booked'
import { createObservations, startLoad, sendObserved } from './client-load'
import { expectFiredAtStart, expectNothingLost } from './crashes'
import { startNodes, type Nodes } from '../../harness/nodes'
import { eventually } from '../../../server/testing/eventually'
import type { CrashPoint } from '../../../server/src/platform/crash-points'

setDefaultTimeout(180_000)

/** Crash points: while orphans are recorded, while a batch is booked, and when all but the leases is done. */
const kills: [CrashPoint, number][] = [
  ['replay-mid', 1],
  ['replay-mid', 2],
  ['replay-mid', 3],
  ['flush-before-begin', 1],
  ['flush-before-commit', 1],
  ['flush-before-commit', 1],
  ['flush-after-commit', 1],
  ['flush-after-commit', 1],
  ['flush-after-commit', 1],
  ['replay-mid', 1],
]
/** From this one on everything is booked, and only sent again. */
const firstBooked = 6

/** Returns everything that booking can change, as one text. */
async function books({ sql }: Nodes): Promise<string> {
  const [events] = await sql`
    select count(*) as events, sum(cost) as charged, sum(from_lease) as leased from usage_event`
  const [entries] =
    await sql`select count(*) as entries, sum(abs(amount)) as moved from ledger_entry`
  const [sums] = await sql`select sum(requests) as requests, sum(cost) as cost from usage_sum`
  return JSON.stringify({ ...events, ...entries, ...sums })
}

test('C03 I20: killed 10 times while it replays, then all is booked once', async () => {
  await using nodes = await startNodes(1, { LOG_LEVEL: 'error', IDLE_TIMEOUT_SECONDS: '300' })
  const customers = await Promise.all(
    Array.from({ length: 12 }, () => nodes.customer(1_000_000_000_000n)),
  )
  const models: [string, number][] = [
    [await nodes.model('chunks-5'), 5],
    [await nodes.model('chunks-12-gap-10'), 12],
  ]
  const witness = createObservations()
  // Open whenever the node is killed: each becomes an orphan.
  const model = await nodes.model('held-600')
  const open = customers
    .slice(0, 8)
    .map((customer) =>
      sendObserved(nodes.at(0), { customer, model, tokens: 600, stream: true }, witness),
    )
  await eventually(() => nodes.upstream.heldCount() === open.length)
  const load = startLoad(() => nodes.at(0), { customers, models }, witness)
  // Without the database only those are served that have a lease.
  await eventually(() => hasEachBooked(nodes.sql, customers))
  const before = (await sumsOf(nodes.sql, customers)).events
  // Requests that end now stay in the journal.
  nodes.wireOf(0).cut()
  await eventually(() => witness.completed.length > before + 120)
  await nodes.at(0).stop('SIGKILL')
  await Promise.all([load.stop(), ...open])
  nodes.wireOf(0).mend()
  expect(witness.completed.length).toBeGreaterThan(before + 100)
  let booked = ''
  for (const [index, [point, nth]] of kills.entries()) {
    await expectFiredAtStart(nodes, point, nth)
    if (index === firstBooked) booked = await books(nodes)
    if (index > firstBooked) expect(await books(nodes)).toBe(booked)
  }
  const { events, orphans } = await sumsOf(nodes.sql, customers)
  expect(await silentAttempts(nodes, customers)).toBe(0)
  expect(orphans).toBeGreaterThanOrEqual(open.length)
  await nodes.restart(0)
  expect(await books(nodes)).toBe(booked)
  await expectNothingLost(nodes, customers, witness)
  console.log(
    `C03: ${kills.length} kills, ${before} booked before, ${events} after; ${orphans} orphans`,
  )
})
