import type { Json } from '../../harness/http'
import { startGateway, type Gateway } from '../../harness/server'

const chat = { category: 'chat', capabilities: { reasoning: true }, context_length: 1000 }

/** A gateway with models of `fake`, which the platform serves, and one of `bare`, which no connection serves. */
export async function openMarket(): Promise<Gateway> {
  const gateway = await startGateway()
  const { admin } = gateway
  await admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
  await admin('POST', '/providers', { key: 'bare', name: 'Bare', adapter: 'openai' })
  await admin('POST', '/connections', {
    name: 'fake',
    provider: 'fake',
    api_key: 'sk-platform-canary-01234',
    endpoint_url: 'https://127.0.0.1:9',
  })
  gateway.recorder.canary('sk-platform-canary-01234')
  const models: Json[] = [
    { id: 'fake/one', name: 'Zebra', ...chat, pricing: { input: 1, output: 4 } },
    {
      id: 'fake/two/b:1',
      name: 'ant',
      ...chat,
      context_length: 9000,
      pricing: { input: 2, output: 5.5 },
    },
    { id: 'fake/gift', name: 'Gift', ...chat, is_free: true },
    {
      id: 'fake/vectors',
      name: 'Vectors',
      category: 'embedding',
      pricing: { input: 0.5, output: 0 },
    },
    { id: 'fake/off', name: 'Off', ...chat, enabled: false },
    { id: 'bare/alone', name: 'Alone', ...chat, pricing: { input: 9, output: 9 } },
  ]
  for (const model of models) await admin('POST', '/models', model)
  return gateway
}
