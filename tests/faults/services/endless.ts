import { eventually } from '../../../server/testing/eventually'
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
  return {
    // The other node is notified of the provider and the model.
    begin: (on, key) =>
      beginUntil(
        ({ status }) => status !== 404 && status !== 403,
        () => beginStream(on, key, model),
      ),
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  }
}

/** Begins a stream again until it is admitted: a node whose store is late may refuse what fits its limit. */
export const untilAdmitted = (begin: () => Promise<Response>): Promise<Response> =>
  beginUntil(({ status }) => status === 200, begin)

/** Begins a stream again until its head is the expected one. */
async function beginUntil(
  isExpected: (response: Response) => boolean,
  begin: () => Promise<Response>,
): Promise<Response> {
  let response = await begin()
  await eventually(async () => {
    if (isExpected(response)) return true
    await response.text()
    response = await begin()
    return isExpected(response)
  })
  return response
}

/** Begins a stream of a model, and resolves with its head. The runtime cancels it when it collects the response: hold it. */
export const beginStream = ({ url }: Gateway, key: string, model: string): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Go on.' }], stream: true }),
  })

/** Ends streams that were begun, and so holds them open until then. Those of a killed node have failed by themselves. */
export async function endStreams(begun: readonly Response[]): Promise<void> {
  await Promise.allSettled(begun.map(async ({ body }) => body?.cancel()))
}
