import { expect, test } from 'bun:test'
import { untilPast } from '../../../server/testing/eventually'
import { lockTable, stallCommits } from './stalled-commits'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'
import { startNodes, type Nodes } from '../../harness/nodes'

const stallMs = 3000
/**
 * The promised value is KEYS_LOCKED_SECONDS=3, which `npm run measure` sets: a key is looked up within 5 s, of which a machine
 * that stands still takes its part.
 */
const keysLockedMs = 1000 * Number(process.env['KEYS_LOCKED_SECONDS'] ?? 1.2)
/** Fifty new accounts a second, or more. */
const count = 125

interface Standstill {
  ms: number
  /** Makes the database stand still for so long; calls `onBegun` once it does. */
  begin: (nodes: Nodes, onBegun: () => void) => Promise<void>
}

/** Sends one request of each new account while the database stands still, and expects every one to be answered and booked. */
async function expectAllServed({ ms, begin }: Standstill): Promise<void> {
  await using nodes = await startNodes(1)
  const name = 'chunks-2'
  await nodes.model(name)
  const customers = await Promise.all(
    Array.from({ length: count }, () => nodes.customer(1_000_000_000n)),
  )
  const begun = Promise.withResolvers<void>()
  const standing = begin(nodes, begun.resolve)
  await Promise.race([begun.promise, standing])
  const standsSinceMs = Date.now()
  // More of them than the node has connections to the database, each of which waits.
  const answers = await Promise.all(
    customers.map(async (customer, index) => {
      await untilPast(standsSinceMs + (index * (ms - 500)) / count)
      const { status, text } = await nodes.chat(nodes.at(0), customer, { name })
      return status === 200 ? 200 : text
    }),
  )
  await standing
  expect(answers).toEqual(answers.map(() => 200))
  await waitUntilBooked(nodes.sql, nodes.upstream.requests().length)
  await expectSoundLedger(nodes.sql, { attempts: nodes.upstream.requests().length })
}

test('finding M19: commits that stall for 3 s reject no request, though the leases of new accounts wait for them', async () => {
  await expectAllServed({
    ms: stallMs,
    begin: (nodes, onBegun) => stallCommits(nodes, stallMs, onBegun),
  })
}, 300_000)

test.each([
  { table: 'credit_account', ms: stallMs },
  { table: 'api_key', ms: keysLockedMs },
])(
  'finding M19: a lock on $table for $ms ms rejects no request of a new account',
  async ({ table, ms }) =>
    expectAllServed({
      ms,
      begin: (nodes, onBegun) => lockTable(nodes, { table, ms }, onBegun),
    }),
  300_000,
)
