import { startProvider } from '../upstream/provider'
import type { Subject } from './subject'

/** Starts the provider as its own subject: the rate of load and provider with nothing between them. */
export async function startDirect(): Promise<Subject> {
  const provider = await startProvider()
  return {
    name: 'direct',
    title: 'the provider, asked directly',
    ports: [provider.port],
    pids: [provider.pid],
    provider,
    headers: { authorization: 'Bearer sk-bench' },
    modelOf: (model) => model,
    startMs: Number.NaN,
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  }
}
