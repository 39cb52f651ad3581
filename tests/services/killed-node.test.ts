import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { newWitness, startLoad } from './client-load'
import { silentAttempts, sumsOf } from './booked'
import { startNodes, type Nodes } from './nodes'
import { eventually } from '../faults/asking'
import { expectSoundLedger } from '../money/ledger-oracle'
import { allBooked } from '../money/till'
import type { Customer } from '../rig'

/** The number of kills; fewer by `KILLS=20 npm run test:faults killed`. */
const kills = Number(process.env['KILLS'] ?? 200)
const workers = 24

setDefaultTimeout(60_000 + kills * 4000)

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
  const witness = newWitness()
  let slowestMs = 0
  for (let kill = 0; kill < kills; kill++) {
    const load = startLoad(() => nodes.at(0), { customers, models }, witness)
    // Every second time only after a request has finished, however busy the machine is.
    const finished = witness.seen.length
    if (kill % 2 > 0) await eventually(() => witness.seen.length > finished + 1, 10_000)
    await Bun.sleep(Math.random() * 250)
    await nodes.at(0).stop('SIGKILL')
    await load.stop()
    const startedAt = performance.now()
    await nodes.restart(0)
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
  }
  await allBooked(nodes.sql)
  const { events, settled, orphans, doubled, chargedOrphans } = await sumsOf(nodes.sql, customers)
  const rows: { request_id: string }[] =
    await nodes.sql`select request_id from usage_event where state = 'settled'`
  const booked = new Set(rows.map(({ request_id }) => request_id))
  const missing = witness.seen.filter(({ requestId }) => !booked.has(requestId))
  const unseen = await silentAttempts(nodes, customers)
  const attempts = nodes.upstream.seen().length
  console.log(
    `C01: ${kills} kills, ${witness.seen.length} finished, ${witness.broken} broken; ` +
      `${attempts} attempts at the provider, ${events} events: ${settled} settled, ${orphans} orphans; ` +
      `missing ${missing.length}, doubled ${doubled}, silent ${unseen}; slowest start ${slowestMs.toFixed(0)} ms`,
  )
  expect(missing).toEqual([])
  expect([doubled, chargedOrphans, unseen]).toEqual([0, 0, 0])
  expect(witness.seen.length).toBeGreaterThan(kills)
  expect(orphans).toBeGreaterThan(0)
  // No lease of the killed starts remains.
  const [{ stale }] = await nodes.sql`
    select count(*) as stale from credit_lease where state = 'active'`
  expect(Number(stale)).toBeLessThanOrEqual(workers)
  await expectSoundLedger(nodes.sql, { seen: witness.seen, attempts })
})
