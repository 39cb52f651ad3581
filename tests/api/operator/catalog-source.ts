import { readFileSync } from 'node:fs'
import { authority } from '../../harness/byok'
import type { Gateway } from '../../harness/server'

const key = readFileSync(authority.replace('local.pem', 'local.key'))
const cert = readFileSync(authority)

/** Where documents are: an https server with a certificate of 127.0.0.2. */
export interface Source extends AsyncDisposable {
  /** Of a document, `https://127.0.0.2:<port>/catalog.json`. */
  url: string
  files: Map<string, () => Response>
  /** Paths that were asked for. */
  requests: string[]
}

export function startSource(hostname = '127.0.0.2'): Source {
  const files = new Map<string, () => Response>()
  const requests: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname,
    tls: { key, cert },
    fetch({ url }) {
      const { pathname } = new URL(url)
      requests.push(pathname)
      return files.get(pathname)?.() ?? new Response('not here', { status: 404 })
    },
  })
  return {
    url: `https://${hostname}:${server.port}/catalog.json`,
    files,
    requests,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** What a gateway needs to reach it. */
export const trustedEnvironment = { NODE_EXTRA_CA_CERTS: authority, MINIMUM_BALANCE_USD: '0' }

/** USD for a million tokens. */
export const defaultPricing = { input: 1, output: 4 }

/** A line of a document. */
export const entry = (id: string, price: object, more: object = {}) => ({
  id,
  name: id,
  category: 'chat',
  input: ['text'],
  output: ['text'],
  capabilities: ['tools'],
  created: 1_790_000_000,
  price,
  ...more,
})
export const documentOf = (...models: object[]) => JSON.stringify({ date: '2026-11-24', models })

/** Makes the provider `fake` known, with models at `priced`. */
export async function offerModels({ admin }: Gateway, url: string, ids: readonly string[]) {
  const provider = { key: 'fake', name: 'Fake', adapter: 'openai', base_url: url }
  await admin('POST', '/providers', provider)
  await admin('POST', '/connections', { name: 'fake', provider: 'fake', api_key: 'sk-fake-01234' })
  for (const id of ids) {
    await admin('POST', '/models', { id, name: id, category: 'chat', pricing: defaultPricing })
  }
}
