import type { Attack } from './effect'
import type { Target } from './fixture'

/** A key of an account whose requests are rejected. */
const keys: Readonly<
  Record<'unpaid' | 'nearlyUnpaid' | 'limited', (target: Target) => Promise<string>>
> = {
  async unpaid({ gateway }) {
    return (await gateway.customer({}, { credit: 0 })).key
  },
  // Enough for the least that a prompt of its size can have, so that its tokens are counted.
  async nearlyUnpaid({ gateway }) {
    return (await gateway.customer({}, { credit: 0.3 })).key
  },
  async limited({ gateway }) {
    const plan = { requests_per_minute: 1, tokens_per_minute: 1000, concurrent_requests: 1 }
    const name = `limited-${Date.now()}`
    const { id } = await gateway.admin('POST', '/plans', { name, ...plan })
    return (await gateway.customer({}, { plan_id: String(id) })).key
  },
}

const unknownKey = 'sk-tollgate-0000000000000000000000000000000000000000'

const storms = {
  'bad JSON': { body: 'no-json', key: undefined },
  'an unknown model': { body: 'unknown-model', key: undefined },
  'an unknown key': { body: 'plain', key: async () => unknownKey },
  'no credit': { body: 'plain', key: keys.unpaid },
  'large prompts without credit': { body: 'no-prose', key: keys.unpaid },
  'large prompts with almost no credit': { body: 'no-prose', key: keys.nearlyUnpaid },
  'a used rate limit': { body: 'plain', key: keys.limited },
} as const

export type Storm = keyof typeof storms

/** An attack by requests at full speed that are all rejected. */
export const rejectedStorm = (storm: Storm, clients = 16): Attack => ({
  name: `storm of requests with ${storm}`,
  async assault(attacker, target) {
    const { body, key } = storms[storm]
    return { body, clients, key: key ? await key(target) : attacker.key }
  },
})

const names: readonly Storm[] = [
  'bad JSON',
  'an unknown model',
  'an unknown key',
  'no credit',
  'large prompts without credit',
  'large prompts with almost no credit',
  'a used rate limit',
]

export const rejectedStorms = names.map((storm) => rejectedStorm(storm))
