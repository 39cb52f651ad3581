import type { Seen } from '../money/ledger-oracle'
import { nanosOf, priceOf } from '../money/till'
import type { Customer, Gateway } from '../rig'

/** What the clients of a load saw. */
export interface Witness {
  /** Requests that ended well before their clients' eyes, and what each must have cost. */
  seen: Seen[]
  /** Requests that did not, whatever the reason. */
  broken: number
  statuses: Map<number, number>
}

export const newWitness = (): Witness => ({ seen: [], broken: 0, statuses: new Map() })

export interface Worker {
  customer: Pick<Customer, 'key' | 'keyId'>
  model: string
  /** Output tokens of a whole answer. */
  tokens: number
  stream: boolean
}

/** One request, noted by what its client saw of it. */
export async function witnessed({ url }: Pick<Gateway, 'url'>, worker: Worker, witness: Witness) {
  const { customer, model, stream, tokens } = worker
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
      // One word, that tells at the provider who asked.
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
    if (status === 200 && isWhole) witness.seen.push({ requestId, cost })
    else witness.broken += 1
    return status
  } catch {
    witness.broken += 1
    return 0
  }
}

/** Workers that ask one after the other until told to stop, plain and as streams by turns. */
export function startLoad(
  gateway: () => Gateway,
  { customers, models }: { customers: readonly Customer[]; models: readonly [string, number][] },
  witness: Witness,
) {
  const state = { isOver: false }
  const work = customers.map(async (customer, index) => {
    for (let turn = index; !state.isOver; turn++) {
      const [model, tokens] = models[turn % models.length] ?? ['', 0]
      const stream = turn % 3 !== 0
      const status = await witnessed(gateway(), { customer, model, tokens, stream }, witness)
      if (status !== 200) await Bun.sleep(10)
    }
  })
  return {
    stop: async () => {
      state.isOver = true
      await Promise.all(work)
    },
  }
}
