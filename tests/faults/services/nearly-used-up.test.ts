import { expect, setDefaultTimeout, test } from 'bun:test'
import { recordFigure } from '../../../server/testing/figures'
import { startNodes, type ChatRequest } from '../../harness/nodes'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'

setDefaultTimeout(240_000)

const granted = 50_000_000n
/** It may cost 0.0034 USD, and costs 0.0005. */
const chatRequest: ChatRequest = { name: 'chunks-125', max_tokens: 850 }
/** The refusals on each node after which there is nothing left to find. */
const maxRefusals = 20

test.each([2, 3, 5])(
  'finding M18: 0.05 USD, one caller after another on each of %d nodes: all that it pays for is served, the rest refused',
  async (count) => {
    await using nodes = await startNodes(count, { LOG_LEVEL: 'error' })
    const customer = await nodes.customer(granted)
    const others: unknown[] = []
    const times: number[] = []
    let served = 0
    const call = async (index: number) => {
      for (let refused = 0; refused < maxRefusals;) {
        const { status, tookMs, error } = await nodes.chat(nodes.at(index), customer, chatRequest)
        times.push(tookMs)
        if (status === 200) served += 1
        else if (status === 402) refused += 1
        else others.push([status, error])
      }
    }
    await Promise.all(nodes.all.map((_, index) => call(index)))
    const longestMs = Math.max(...times)
    console.log(
      `finding M18: ${count} nodes: ${served} served of ${times.length}, ${longestMs.toFixed(0)} ms at most`,
    )
    expect(others).toEqual([])
    expect(served).toBeGreaterThan(80)
    recordFigure(`finding M18: a verdict on one of ${count} nodes`, longestMs, {
      unit: 'ms',
      atMost: 1000,
    })
    await waitUntilBooked(nodes.sql, nodes.upstream.requests().length)
    await expectSoundLedger(nodes.sql, { attempts: nodes.upstream.requests().length })
  },
)
