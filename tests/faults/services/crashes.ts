import { expect } from 'bun:test'
import { silentAttempts, sumsOf, type BookedSums } from './booked'
import type { LoadObservations } from './client-load'
import type { Nodes } from '../../harness/nodes'
import type { CrashPoint } from '../../../server/src/platform/crash-points'
import { runCommand } from '../../harness/run-command'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'
import type { Customer, Gateway } from '../../harness/server'

const killed = 137

/** Checks that a node killed itself at that point within `limitMs`, and that nothing else ended it. */
export async function expectFired(
  { exited, output, stop }: Gateway,
  point: CrashPoint,
  limitMs = 30_000,
): Promise<void> {
  const code = await Promise.race([exited, Bun.sleep(limitMs)])
  await stop('SIGKILL')
  expect(output()).toContain(`tollgate: CRASH_AT ${point}\n`)
  expect(code).toBe(killed)
}

/** Starts node 0, which dies at that point before it is ready. */
export async function expectFiredAtStart(nodes: Nodes, point: CrashPoint, nth = 1): Promise<void> {
  const outcome = await nodes.restart(0, { CRASH_AT: `${point}:${nth}` }).then(
    () => 'it started',
    (thrown: unknown) => String(thrown),
  )
  expect(outcome).toContain(`tollgate: CRASH_AT ${point}\n`)
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
  const [{ leases }] = await sql`
    select count(*) as leases from credit_lease where state = 'active'
      and account_id in ${sql(customers.map(({ userId }) => userId))}`
  expect(Number(leases)).toBe(0)
  await waitUntilBooked(sql)
  const sums = await sumsOf(sql, customers)
  const silent = await silentAttempts(nodes, customers)
  expect([sums.doubled, sums.chargedOrphans, silent]).toEqual([0, 0, 0])
  expect(sums.settled).toBeGreaterThanOrEqual(witness.completed.length)
  await expectSoundLedger(sql, { completed: witness.completed })
  expect(await runCommand('audit', { DATABASE_URL: nodes.postgres.url })).toMatchObject({
    code: 0,
    err: '',
  })
  for (const customer of customers) {
    const { status } = await nodes.chat(nodes.at(0), customer, { name: 'chunks-5' })
    expect(status).toBe(200)
  }
  return sums
}
