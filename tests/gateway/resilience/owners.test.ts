import { expect, test } from 'bun:test'
import {
  allowLoopback,
  call,
  idIn,
  createCustomer,
  upstreamEnvironment,
  startUpstream,
} from '../../harness/byok'
import { sendRequest, messages } from '../../harness/http'
import { startGateway } from '../../harness/server'
import { createRefusal } from './keyed-upstream'

const model = 'openai/gpt-4o-mini'
const wrongKey = 'sk-wrong-0123456789'

test('U13: a customer’s failing key stops no other key at the same provider', async () => {
  await using upstream = startUpstream()
  // Long enough that nothing closes by itself.
  const environment = { ...upstreamEnvironment(upstream), BREAKER_SECONDS: '6000' }
  await using gateway = await startGateway({ environment })
  await allowLoopback(gateway)
  const good = upstream.answer
  let refusal = createRefusal(401)
  upstream.answer = (seen) =>
    seen.headers.get('authorization')?.endsWith(wrongKey) ? refusal() : good(seen)
  const [theirs, others] = [await createCustomer(gateway), await createCustomer(gateway)]
  for (const [customer, api_key] of [
    [theirs, wrongKey],
    [others, 'sk-right-0123456789'],
  ] as const) {
    const fields = { name: 'Mine', provider: 'openai', api_key, endpoint_url: upstream.url }
    idIn(await call(gateway, customer, 'POST /connections', fields))
  }
  const statusesOf = async ({ key }: { key: string }, times: number) => {
    const statuses = new Set<number>()
    for (let k = 0; k < times; k++) {
      statuses.add((await sendRequest(gateway, { key, body: { model, messages } })).status)
    }
    return [...statuses]
  }
  for (const next of [createRefusal(401), createRefusal(429, { 'retry-after': '3600' })]) {
    refusal = next
    expect(await statusesOf(theirs, 15)).not.toContain(200)
    expect(await statusesOf(others, 15)).toEqual([200])
  }
  gateway.recorder.verify()
})
