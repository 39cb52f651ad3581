import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sendRequest, parsed, type Answer, type Json } from './http'
import { startGateway, type Customer, type Gateway } from './server'

const certificatePath = (name: string) => join(import.meta.dir, 'certificates', name)

/** Whom a gateway has to trust to reach an `Upstream`. */
export const authority = certificatePath('local.pem')

/** A request as it reached the provider. */
export interface ProviderRequest {
  path: string
  method: string
  headers: Headers
  body: Json
  /** The body as it was sent. */
  text: string
}

/** A customer's own provider: a server on https, at an address that is private. */
export interface Upstream extends AsyncDisposable {
  /** `https://127.0.0.2:<port>`. */
  url: string
  port: number
  /** Since the last reset. */
  requests: ProviderRequest[]
  /** Answers every request until it is set anew. */
  answer: (request: ProviderRequest) => Response | Promise<Response>
}

/** A chat completion in OpenAI's format. */
export const completion = (content = 'Hello.') =>
  Response.json({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
  })

export function startUpstream(): Upstream {
  const requests: ProviderRequest[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.2',
    // An answer is silent for as long as its test wants.
    idleTimeout: 0,
    tls: { key: readFileSync(certificatePath('local.key')), cert: readFileSync(authority) },
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const { method, headers } = request
      const text = await request.text()
      const arrived = { path: pathname, method, headers, body: parsed(text), text }
      requests.push(arrived)
      return upstream.answer(arrived)
    },
  })
  const upstream: Upstream = {
    url: `https://127.0.0.2:${server.port}`,
    port: server.port ?? 0,
    requests,
    answer: () => completion(),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
  return upstream
}

/** What a gateway needs, so that customers can reach these upstreams once the operator allows it. */
export const upstreamEnvironment = (...upstreams: Upstream[]) => ({
  NODE_EXTRA_CA_CERTS: authority,
  USER_ENDPOINT_PORTS: ['443', ...upstreams.map(({ port }) => String(port))].join(','),
  MINIMUM_BALANCE_USD: '0',
  LOG_LEVEL: 'info',
})

/** Lets customers' addresses be those of this machine. */
export const allowLoopback = ({ admin }: Gateway) =>
  admin('PUT', '/config', { allowed_private_networks: ['127.0.0.2/32'] })

/** A gateway, and one upstream that its customers may name. */
export interface Fixture extends AsyncDisposable {
  gateway: Gateway
  upstream: Upstream
  /** Creates a customer whose key has all permissions, without credit. */
  newCustomer: () => Promise<Customer>
  /** Between two tests: judges what was answered, and has the upstream as it was. */
  reset: () => void
}

export async function createFixture(environment: Record<string, string> = {}): Promise<Fixture> {
  const upstream = startUpstream()
  const gateway = await startGateway({
    environment: { ...upstreamEnvironment(upstream), ...environment },
  })
  await allowLoopback(gateway)
  return {
    gateway,
    upstream,
    newCustomer: () => createCustomer(gateway),
    reset() {
      gateway.recorder.verify()
      upstream.requests.length = 0
      upstream.answer = () => completion()
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

/** The same, with a model `fake/one` at 1 and 4 USD, without a connection. */
export async function createModelFixture(environment?: Record<string, string>): Promise<Fixture> {
  const fixture = await createFixture(environment)
  const { admin } = fixture.gateway
  await admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
  const model = { name: 'One', category: 'chat', pricing: { input: 1, output: 4 } }
  await admin('POST', '/models', { id: 'fake/one', ...model })
  return fixture
}

/** Creates a customer whose key has all permissions, without credit. */
export const createCustomer = ({ customer }: Gateway) =>
  customer({ permissions: ['admin'] }, { credit: 0 })

/** Calls an endpoint of `/api` with a customer's key: `call(gateway, customer, 'GET /connections')`. */
export function call(
  gateway: Gateway,
  { key }: Pick<Customer, 'key'>,
  ...[request, body]: [request: string, body?: Json]
): Promise<Answer> {
  const [method = '', path = ''] = request.split(' ')
  return sendRequest(gateway, { path: `/api${path}`, method, key, ...(body && { body }) })
}

/** The part of an answer that says what is wrong: status, field, issue. */
export const problem = ({ status, error }: Answer) => [
  status,
  error.param,
  error.details?.['issue'],
]

/** The id in an answer of something that was made. Throws with what was answered instead. */
export function idIn({ status, text, body }: Answer): string {
  if (status !== 201) throw new Error(`${status}: ${text}`)
  return String(body['id'])
}
