import { expect, setDefaultTimeout, test } from 'bun:test'
import { startNodes, type ChatRequest } from '../../harness/nodes'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked, nanosOf, outputPrice } from '../../harness/ledger'

setDefaultTimeout(300_000)

const minimum = 100_000_000n
const granted = 150_000_000n
/** The hold of a request, including a hundred input tokens. */
const worst = 850n * outputPrice + 100_000n
const chatRequest: ChatRequest = { name: 'chunks-125', max_tokens: 850 }

test.each([1, 2, 3, 5])(
  'finding M2: 0.15 USD are spent on %d nodes at once, without a rejection while the account can pay',
  async (count) => {
    await using nodes = await startNodes(count, {
      LOG_LEVEL: 'error',
      MINIMUM_BALANCE_USD: '0.1',
    })
    const customer = await nodes.customer(granted)
    let left = granted
    const refusals: unknown[] = []
    let served = 0
    // One request at a time on each node: the maximum holds of the others are not available to this one.
    const canPay = () => left - BigInt(count) * worst >= minimum
    const serve = async (index: number) => {
      while (canPay()) {
        const { status, headers, error } = await nodes.chat(nodes.at(index), customer, chatRequest)
        if (status === 200) {
          left -= nanosOf(headers.get('x-tollgate-cost'))
          served += 1
        } else if (status !== 402 || canPay()) refusals.push([status, error.details])
      }
    }
    await Promise.all(nodes.all.map((_, index) => serve(index)))
    console.log(
      `${count} nodes: ${served} served, ${refusals.length} false refusals, ${left} n$ left`,
    )
    expect(refusals).toEqual([])
    expect(served).toBeGreaterThan(40)
    await waitUntilBooked(nodes.sql, nodes.upstream.requests().length)
    await expectSoundLedger(nodes.sql, { attempts: nodes.upstream.requests().length })
  },
)
