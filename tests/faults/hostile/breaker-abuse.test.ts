import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chat, p99 } from './attacks'
import { median } from './effect'
import { reportMeasured } from './report'
import { recordFigure } from '../../../server/testing/figures'
import { completion } from '../../harness/byok'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

/** The number of the victim's requests in each measurement. */
const rounds = 25
/** The time of an answer that no other account delays. */
const promptMs = 100
/** The number of the attacker's requests before the first of these: more than an account may try at a route that fails. */
const burst = 30

let gateway: Gateway
let upstream: ReturnType<typeof Bun.serve>

beforeAll(async () => {
  // Healthy, except for the attacker's requests: bad requests that it answers as its own failure, as providers do.
  upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const text = await request.text()
      const [, status] = /poison-(\d+)/.exec(text) ?? []
      if (status === undefined) return completion()
      return Response.json({ error: { message: 'failed' } }, { status: Number(status) })
    },
  })
  gateway = await startGateway({ environment: { BREAKER_SECONDS: '30' } })
  const base_url = `http://127.0.0.1:${upstream.port}/v1`
  await gateway.admin('POST', '/providers', {
    key: 'shared',
    name: 'S',
    adapter: 'openai',
    base_url,
  })
  await gateway.admin('POST', '/connections', {
    name: 's',
    provider: 'shared',
    api_key: 'sk-x-1234',
  })
}, 60_000)
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await upstream?.stop(true)
})

/**
 * Sends requests of the victim one after the other, each after `attack`; measures the rate and duration of successful
 * ones, and counts others.
 */
async function measure(victim: Customer, model: string, attack = async () => {}) {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    await attack()
    const { status, tookMs } = await chat(gateway, victim, { model })
    if (status === 200) times.push(tookMs)
  }
  return {
    rate: 1000 / median(times),
    p99Ms: p99(times),
    served: times.length,
    prompt: times.filter((ms) => ms < promptMs).length,
    failures: rounds - times.length,
  }
}

test.each([500, 503, 429])(
  'S1: failed requests of one account with %d do not open the circuit breaker for another',
  async (status) => {
    const model = `shared/m${status}`
    const fields = { id: model, name: 'm', category: 'chat', pricing: { input: 1, output: 4 } }
    await gateway.admin('POST', '/models', fields)
    const [victim, attacker] = [await gateway.customer(), await gateway.customer()]
    const victimBefore = await measure(victim, model)

    const messages = [{ role: 'user', content: `poison-${status}` }]
    let requests = 0
    const attack = async () => {
      await chat(gateway, attacker, { model, messages })
      requests += 1
    }
    // An initial burst, then one before each of the victim's.
    for (let count = 0; count < burst; count++) await attack()
    const victimDuring = await measure(victim, model, attack)

    const { served, failures } = victimDuring
    const isHeld = served > 0 && failures === 0
    reportMeasured(
      {
        attack: `Breaker abuse: one account’s requests end in ${status}`,
        attackerCost: `${requests} requests, not charged`,
        victimBefore,
        victimDuring,
      },
      { isHeld, bound: `${failures} of its requests failed` },
    )
    recordFigure(
      `S1: requests within ${promptMs} ms while another account’s requests end in ${status}`,
      (100 * victimDuring.prompt) / rounds,
      { unit: '%', atLeast: 90 },
    )
    expect(victimBefore).toMatchObject({ failures: 0 })
    expect({ failures, isHeld }).toEqual({ failures: 0, isHeld: true })
  },
  60_000,
)
