import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { recordFigure } from '../../../server/testing/figures'
import { startNodes, type ChatRequest, type Nodes } from '../../harness/nodes'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked, nanosOf } from '../../harness/ledger'

setDefaultTimeout(120_000)

const minimum = 100_000_000n
let nodes: Nodes

beforeAll(async () => {
  nodes = await startNodes(3, { MINIMUM_BALANCE_USD: '0.1' })
})
afterAll(async () => {
  await waitUntilBooked(nodes.sql, nodes.upstream.requests().length)
  await expectSoundLedger(nodes.sql, { attempts: nodes.upstream.requests().length })
  await nodes[Symbol.asyncDispose]()
})

test('M27: a request is admitted on every node just above the minimum balance, and rejected below it', async () => {
  const chatRequest: ChatRequest = { name: 'chunks-125', max_tokens: 1000 }
  const granted = minimum + 30_000_000n
  const customer = await nodes.customer(granted)
  let left = granted
  let refusals = 0
  let requests = 0
  while (left >= minimum && requests < 100) {
    const answer = await nodes.chat(nodes.at(requests++ % 3), customer, chatRequest)
    if (answer.status === 200) left -= nanosOf(answer.headers.get('x-tollgate-cost'))
    else refusals += 1
  }
  console.log(`M27: ${requests} requests, ${refusals} false refusals, ${left} n$ left`)
  expect(refusals).toBe(0)
  expect(requests).toBeGreaterThan(50)
  // The minimum applies to the account: each node knows it once usage is booked.
  for (const node of nodes.all) {
    const knownMs = await eventually(
      async () => (await nodes.chat(node, customer, chatRequest)).status === 402,
    )
    recordFigure('M27: a node knows that the minimum is reached after', knownMs, {
      unit: 'ms',
      atMost: 3000,
    })
  }
})
