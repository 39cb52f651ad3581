import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createObservations, startLoad } from './client-load'
import { silentAttempts, sumsOf, waitForAttempts } from './booked'
import { startNodes, type Nodes } from '../../harness/nodes'
import { eventually } from '../../../server/testing/eventually'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import type { Customer } from '../../harness/server'

/** The promise is KILLS=200, which `npm run measure` sets; each kill is tried with the same checks. */
const kills = Number(process.env['KILLS'] ?? 40)
const workers = 24

setDefaultTimeout(60_000 + kills * 8000)

let nodes: Nodes
let customers: Customer[]

beforeAll(async () => {
  nodes = await startNodes(1, { LOG_LEVEL: 'error' })
  customers = await Promise.all(
    Array.from({ length: workers }, () => nodes.customer(1_000_000_000_000n)),
  )
})
afterAll(() => nodes[Symbol.asyncDispose]())

test(`C01: ${kills} times kill -9 under load: no finished request is missing or booked twice`, async () => {
  const models: [string, number][] = [
    [await nodes.model('chunks-5'), 5],
    [await nodes.model('chunks-12-gap-10'), 12],
    [await nodes.model('chunks-40-gap-5'), 40],
  ]
  const witness = createObservations()
  for (let kill = 0; kill < kills; kill++) {
    const load = startLoad(() => nodes.at(0), { customers, models }, witness)
    // Every second time only after some requests have finished, however busy the machine is.
    const finished = witness.completed.length
    if (kill % 2 > 0) await eventually(() => witness.completed.length > finished + 2)
    // Anywhere in the work of a node: before its first request arrives, or after some dozen.
    const sent = nodes.upstream.requestCount() + Math.floor(Math.random() * 60)
    await eventually(() => nodes.upstream.requestCount() >= sent)
    await nodes.at(0).stop('SIGKILL')
    await load.stop()
    await nodes.restart(0)
  }
  await waitForAttempts(nodes, customers, witness.completed.length)
  const { events, settled, orphans, doubled, chargedOrphans } = await sumsOf(nodes.sql, customers)
  const rows: { request_id: string }[] =
    await nodes.sql`select request_id from usage_event where state = 'settled'`
  const booked = new Set(rows.map(({ request_id }) => request_id))
  const missing = witness.completed.filter(({ requestId }) => !booked.has(requestId))
  const unseen = await silentAttempts(nodes, customers)
  const attempts = nodes.upstream.requests().length
  console.log(
    `C01: ${kills} kills, ${witness.completed.length} finished, ${witness.broken} broken; ` +
      `${attempts} attempts at the provider, ${events} events: ${settled} settled, ${orphans} orphans; ` +
      `missing ${missing.length}, doubled ${doubled}, silent ${unseen}`,
  )
  expect(missing).toEqual([])
  expect([doubled, chargedOrphans, unseen]).toEqual([0, 0, 0])
  expect(witness.completed.length).toBeGreaterThan(kills)
  expect(orphans).toBeGreaterThan(0)
  // No lease of the killed starts remains.
  const staleLeases = async () => {
    const [{ stale }] = await nodes.sql`
      select count(*) as stale from credit_lease where state = 'active'`
    return Number(stale)
  }
  await eventually(async () => (await staleLeases()) <= workers).catch(() => undefined)
  expect(await staleLeases()).toBeLessThanOrEqual(workers)
  await expectSoundLedger(nodes.sql, { completed: witness.completed, attempts })
})
