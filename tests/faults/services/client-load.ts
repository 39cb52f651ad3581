import type { CompletedRequest } from '../../harness/ledger-oracle'
import { nanosOf, priceOf } from '../../harness/ledger'
import type { Customer, Gateway } from '../../harness/server'

/** The observations of a load's clients. */
export interface LoadObservations {
  /** Requests that completed for their clients, with the expected cost of each. */
  completed: CompletedRequest[]
  /** Requests that did not complete, for any reason. */
  broken: number
  statuses: Map<number, number>
}

export const createObservations = (): LoadObservations => ({
  completed: [],
  broken: 0,
  statuses: new Map(),
})

export interface Worker {
  customer: Pick<Customer, 'key' | 'keyId'>
  model: string
  /** Output tokens of a complete answer. */
  tokens: number
  stream: boolean
}

/** Sends one request, and records what its client observed. */
export async function sendObserved(
  { url }: Pick<Gateway, 'url'>,
  worker: Worker,
  witness: LoadObservations,
) {
  const { customer, model, stream, tokens } = worker
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
      // One word, which identifies the client at the provider.
      body: JSON.stringify({
        model,
        messages: [{ role: 'user', content: customer.keyId }],
        stream,
      }),
    })
    const { status, headers } = response
    const text = await response.text()
    witness.statuses.set(status, (witness.statuses.get(status) ?? 0) + 1)
    const isWhole = stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}')
    const requestId = headers.get('x-request-id') ?? ''
    const cost = stream ? priceOf(1, tokens) : nanosOf(headers.get('x-tollgate-cost'))
    if (status === 200 && isWhole) witness.completed.push({ requestId, cost })
    else witness.broken += 1
    return status
  } catch {
    witness.broken += 1
    return 0
  }
}

/** After a request that failed: a load that repeats at once takes the processor from the node that starts. Milliseconds. */
const refusedPauseMs = 50

/** Starts workers that send requests one after the other until stopped, alternately plain and streamed. */
export function startLoad(
  gateway: () => Gateway,
  { customers, models }: { customers: readonly Customer[]; models: readonly [string, number][] },
  witness: LoadObservations,
) {
  const state = { isOver: false }
  const work = customers.map(async (customer, index) => {
    for (let turn = index; !state.isOver; turn++) {
      const [model, tokens] = models[turn % models.length] ?? ['', 0]
      const stream = turn % 3 !== 0
      const status = await sendObserved(gateway(), { customer, model, tokens, stream }, witness)
      if (status !== 200) await Bun.sleep(refusedPauseMs)
    }
  })
  return {
    stop: async () => {
      state.isOver = true
      await Promise.all(work)
    },
  }
}
