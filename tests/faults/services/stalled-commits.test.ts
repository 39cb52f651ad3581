import { expect, test } from 'bun:test'
import { stallCommits } from './stalled-commits'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'
import { startNodes } from '../../harness/nodes'

const stallMs = 3000
/** Fifty new accounts a second. */
const count = 125

test('finding M19: commits that stall for 3 s reject no request, though the leases of new accounts wait for them', async () => {
  await using nodes = await startNodes(1)
  const name = 'chunks-2'
  await nodes.model(name)
  const customers = await Promise.all(
    Array.from({ length: count }, () => nodes.customer(1_000_000_000n)),
  )
  const stalling = stallCommits(nodes, stallMs)
  // More of them than the node has connections to the database, each of which waits for a commit.
  const answers = await Promise.all(
    customers.map(async (customer, index) => {
      await Bun.sleep(200 + (index * (stallMs - 500)) / count)
      const { status, text } = await nodes.chat(nodes.at(0), customer, { name })
      return status === 200 ? 200 : text
    }),
  )
  await stalling
  expect(answers).toEqual(answers.map(() => 200))
  await waitUntilBooked(nodes.sql, nodes.upstream.requests().length)
  await expectSoundLedger(nodes.sql, { attempts: nodes.upstream.requests().length })
}, 120_000)
