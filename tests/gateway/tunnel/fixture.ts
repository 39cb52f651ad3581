import { Agent, type AgentOptions } from '../../harness/tunnel-agent'
import { call, createCustomer } from '../../harness/byok'
import {
  sendRequest,
  sendRaw,
  messages,
  toStream,
  type Answer,
  type Json,
  type Stream,
} from '../../harness/http'
import { startGateway, type Customer, type Gateway } from '../../harness/server'
import { eventuallyReads } from '../../../server/testing/eventually'

/** A self-hosted gateway as its owner was told of it. */
export interface CreatedGateway {
  id: string
  token: string
  connectUrl: string
}

/** A gateway with a provider `fake`, which only self-hosted gateways serve, and its model `fake/one`. */
export interface GatewayFixture extends AsyncDisposable {
  gateway: Gateway
  /** Creates a customer with all permissions, without credit by default. */
  newCustomer: (credit?: number) => Promise<Customer>
  api: (by: Pick<Customer, 'key'>, request: string, body?: Json) => Promise<Answer>
  /** Makes one. Throws with what was answered instead. */
  createGateway: (by: Customer, fields?: Json) => Promise<CreatedGateway>
  /** Connects to one; `ready` of it resolves once it serves. */
  agent: (createGateway: CreatedGateway, options?: AgentOptions) => Agent
  /** Creates a customer with a gateway that serves. */
  served: (
    options?: AgentOptions,
  ) => Promise<{ owner: Customer; createGateway: CreatedGateway; agent: Agent }>
  chat: (by: Pick<Customer, 'key'>, fields?: Json) => Promise<Answer>
  stream: (by: Pick<Customer, 'key'>, fields?: Json) => Promise<Stream>
}

/**
 * Twice that is a silence, a third of it the patience for a hello: agents live in the tests' own process, which may stand
 * still for seconds.
 */
export const heartbeatSeconds = 24

/** Of `createShortFixture`. */
export const shortHeartbeatSeconds = 9

export async function createGatewayFixture(
  environment: Record<string, string> = {},
): Promise<GatewayFixture> {
  const gateway = await startGateway({
    environment: {
      MINIMUM_BALANCE_USD: '0',
      GATEWAY_HEARTBEAT_SECONDS: String(heartbeatSeconds),
      LOG_LEVEL: 'info',
      ...environment,
    },
  })
  const { admin } = gateway
  await admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
  const model = { name: 'One', category: 'chat', pricing: { input: 1, output: 4 } }
  await admin('POST', '/models', { id: 'fake/one', ...model })
  const agents: Agent[] = []
  const fixture: GatewayFixture = {
    gateway,
    newCustomer: (credit = 0) =>
      credit === 0
        ? createCustomer(gateway)
        : gateway.customer({ permissions: ['admin'] }, { credit }),
    api: (by, request, body) => call(gateway, by, request, body),
    async createGateway(by, fields = {}) {
      const { status, body, text } = await call(gateway, by, 'POST /gateways', {
        name: 'Mine',
        ...fields,
      })
      if (status !== 201) throw new Error(`${status}: ${text}`)
      const token = String(body['token'])
      gateway.recorder.canary(token)
      const connectUrl = String(body['connect_url']).replace('localhost', '127.0.0.1')
      return { id: String(body['id']), token, connectUrl }
    },
    agent({ connectUrl, token }, options) {
      const agent = new Agent(connectUrl, token, options)
      agents.push(agent)
      return agent
    },
    async served(options) {
      const owner = await fixture.newCustomer()
      const createGateway = await fixture.createGateway(owner)
      return { owner, createGateway, agent: await fixture.agent(createGateway, options).ready() }
    },
    chat: ({ key }, fields = {}) =>
      sendRequest(gateway, { key, body: { model: 'fake/mine', messages, ...fields } }),
    stream: async (by, fields = {}) =>
      toStream(await fixture.chat(by, { stream: true, ...fields })),
    async [Symbol.asyncDispose]() {
      for (const agent of agents) agent.kill()
      await gateway[Symbol.asyncDispose]()
    },
  }
  return fixture
}

interface CutOptions {
  by: Pick<Customer, 'key'>
  /** The text that the reader has received before the cut. */
  mark: string
  cut: () => void
  fields?: Json
}

/** Opens a stream of `fake/mine`, cuts it once its reader has the mark, and reads it to its end. */
export async function readCutStream(
  { gateway }: GatewayFixture,
  { by, mark, cut, fields = {} }: CutOptions,
): Promise<Stream> {
  const body = { model: 'fake/mine', messages, stream: true, ...fields }
  using client = await sendRaw(gateway, { key: by.key, body })
  await client.until((received) => received.includes(mark))
  cut()
  const { status, headers, body: bytes } = await client.response()
  const answer = { status, headers: new Headers(headers), text: bytes.toString() }
  return toStream({ ...answer, body: {}, error: {}, tookMs: 0 })
}

/** For what waits for a silence. */
export const createShortFixture = () =>
  createGatewayFixture({ GATEWAY_HEARTBEAT_SECONDS: String(shortHeartbeatSeconds) })

/** The status of a gateway, as its owner is shown it. */
export async function statusOf(
  { api }: GatewayFixture,
  by: Customer,
  id: string,
): Promise<unknown> {
  const { body } = await api(by, 'GET /gateways')
  const gateways: Json[] = Array.isArray(body['gateways']) ? body['gateways'] : []
  return gateways.find((gateway) => gateway['id'] === id)?.['status']
}

/** Waits until a value reads as expected; `timeoutMs` is for what takes longer than half a minute on any machine. */
export async function waitForValue<Value>(
  read: () => Promise<Value>,
  expected: Value,
  timeoutMs?: number,
): Promise<void> {
  await eventuallyReads(read, (value) => value === expected, timeoutMs)
}
