import type { Gateway } from '../../harness/server'
import { startFakeProvider } from '../../harness/upstreams/fake-provider'

/** A model with a stream of several minutes. */
export interface Endless extends AsyncDisposable {
  /** Begins a stream, which is never read to its end. */
  begin: (gateway: Gateway, key: string) => Promise<Response>
}

/** Connects a provider of such a model through one node. */
export async function startEndless(gateway: Gateway): Promise<Endless> {
  const provider = await startFakeProvider()
  const fields = { key: 'fake', name: 'Fake', adapter: 'openai', base_url: provider.url }
  await gateway.admin('POST', '/providers', fields)
  await gateway.admin('POST', '/connections', { name: 'f', provider: 'fake', api_key: 'secret-1' })
  const model = 'fake/chunks-10000-gap-100'
  const free = { id: model, name: 'Endless', category: 'chat', is_free: true }
  await gateway.admin('POST', '/models', free)
  // The other node is notified.
  await Bun.sleep(500)
  return {
    begin: (on, key) => beginStream(on, key, model),
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  }
}

/** Begins a stream of a model, and resolves with its head. */
export const beginStream = ({ url }: Gateway, key: string, model: string): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Go on.' }], stream: true }),
  })
