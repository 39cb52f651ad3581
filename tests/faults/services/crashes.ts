import { expect } from 'bun:test'
import { silentAttempts, sumsOf, waitForEvents, type BookedSums } from './booked'
import type { LoadObservations } from './client-load'
import type { Nodes } from '../../harness/nodes'
import type { CrashPoint } from '../../../server/src/platform/crash-points'
import { runCommand } from '../../harness/run-command'
import { findBooked, requestIdOf } from '../../harness/ledger'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { eventually } from '../../../server/testing/eventually'
import type { Customer, Gateway } from '../../harness/server'

const killed = 137

/** Checks that a node killed itself at that point within `limitMs`, and that nothing else ended it. */
export async function expectFired(
  { exited, hasExited, output, stop }: Gateway,
  point: CrashPoint,
  limitMs = 60_000,
): Promise<void> {
  // One that never gets there would serve the rest of the test.
  await eventually(hasExited, limitMs).finally(() => stop('SIGKILL'))
  expect(output()).toContain(`tollgate: CRASH_AT ${point}\n`)
  expect(await exited).toBe(killed)
}

/**
 * Starts node 0, which dies at that point while it recovers: before it is ready, or soon after where recovery takes
 * longer than a start waits for it.
 */
export async function expectFiredAtStart(nodes: Nodes, point: CrashPoint, nth = 1): Promise<void> {
  const failure = await nodes.restart(0, { CRASH_AT: `${point}:${nth}` }).then(
    () => undefined,
    (thrown: unknown) => String(thrown),
  )
  if (failure === undefined) await expectFired(nodes.at(0), point)
  else expect(failure).toContain(`tollgate: CRASH_AT ${point}\n`)
}

/**
 * Checks node 0 right after its restart: every answer that a client received completely is booked once at its price,
 * no attempt is unrecorded, doubled or charged without an answer, no lease of the dead start is left, the
 * audit finds nothing, and each customer is served.
 */
export async function expectNothingLost(
  nodes: Nodes,
  customers: readonly Customer[],
  witness: LoadObservations,
): Promise<BookedSums> {
  const { sql } = nodes
  const activeLeases = async () => {
    const [{ leases }] = await sql`
      select count(*) as leases from credit_lease where state = 'active'
        and account_id in ${sql(customers.map(({ userId }) => userId))}`
    return Number(leases)
  }
  // A start waits 5 s at most for its recovery, which ends by freeing them.
  await eventually(async () => (await activeLeases()) === 0).catch(() => undefined)
  expect(await activeLeases()).toBe(0)
  await waitForEvents(nodes, customers, witness.completed.length)
  const silent = await silentAttempts(nodes, customers)
  // Once these are booked, all that the recovery booked is there, and nothing is left to book for what comes next.
  const requestIds: string[] = []
  for (const customer of customers) {
    const answer = await nodes.chat(nodes.at(0), customer, { name: 'chunks-5' })
    expect(answer.status).toBe(200)
    requestIds.push(requestIdOf(answer))
  }
  await findBooked(sql, requestIds)
  const sums = await sumsOf(sql, customers)
  expect([sums.doubled, sums.chargedOrphans, silent]).toEqual([0, 0, 0])
  const { length: served } = requestIds
  expect(sums.settled).toBeGreaterThanOrEqual(witness.completed.length + served)
  await expectSoundLedger(sql, { completed: witness.completed })
  expect(await runCommand('audit', { DATABASE_URL: nodes.postgres.url })).toMatchObject({
    code: 0,
    err: '',
  })
  return sums
}
