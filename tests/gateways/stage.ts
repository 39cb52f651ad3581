import { Agent, type AgentOptions } from './agent-for-tests'
import { call, newSomebody } from '../connections/stage'
import { ask, messages, toStream, type Answer, type Json, type Stream } from '../faults/asking'
import { startGateway, type Customer, type Gateway } from '../rig'

/** A self-hosted gateway as its owner was told of it. */
export interface Made {
  id: string
  token: string
  connectUrl: string
}

/** A gateway with a provider `fake`, which only self-hosted gateways serve, and its model `fake/one`. */
export interface GatewayStage extends AsyncDisposable {
  gateway: Gateway
  /** Somebody with all permissions; without credit unless said. */
  somebody: (credit?: number) => Promise<Customer>
  api: (by: Pick<Customer, 'key'>, request: string, body?: Json) => Promise<Answer>
  /** Makes one. Throws with what was answered instead. */
  made: (by: Customer, fields?: Json) => Promise<Made>
  /** Connects to one; `ready` of it resolves once it serves. */
  agent: (made: Made, options?: AgentOptions) => Agent
  /** Somebody with a gateway that serves. */
  served: (options?: AgentOptions) => Promise<{ owner: Customer; made: Made; agent: Agent }>
  chat: (by: Pick<Customer, 'key'>, fields?: Json) => Promise<Answer>
  stream: (by: Pick<Customer, 'key'>, fields?: Json) => Promise<Stream>
}

/** Twice that is a silence, a third of it the patience for a hello. */
export const heartbeatSeconds = 3

export async function openGatewayStage(
  environment: Record<string, string> = {},
): Promise<GatewayStage> {
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
  const stage: GatewayStage = {
    gateway,
    somebody: (credit = 0) =>
      credit === 0
        ? newSomebody(gateway)
        : gateway.customer({ permissions: ['admin'] }, { credit }),
    api: (by, request, body) => call(gateway, by, request, body),
    async made(by, fields = {}) {
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
      const owner = await stage.somebody()
      const made = await stage.made(owner)
      return { owner, made, agent: await stage.agent(made, options).ready() }
    },
    chat: ({ key }, fields = {}) =>
      ask(gateway, { key, body: { model: 'fake/mine', messages, ...fields } }),
    stream: async (by, fields = {}) => toStream(await stage.chat(by, { stream: true, ...fields })),
    async [Symbol.asyncDispose]() {
      for (const agent of agents) agent.kill()
      await gateway[Symbol.asyncDispose]()
    },
  }
  return stage
}

/** The status of a gateway, as its owner is shown it. */
export async function statusOf({ api }: GatewayStage, by: Customer, id: string): Promise<unknown> {
  const { body } = await api(by, 'GET /gateways')
  const gateways: Json[] = Array.isArray(body['gateways']) ? body['gateways'] : []
  return gateways.find((gateway) => gateway['id'] === id)?.['status']
}

/** Waits until something is so, which has to be asked for. Throws after `limitMs`. */
export async function becomes<Value>(
  look: () => Promise<Value>,
  wanted: Value,
  limitMs = 5000,
): Promise<void> {
  const startedAt = performance.now()
  for (let value = await look(); value !== wanted; value = await look()) {
    if (performance.now() - startedAt > limitMs) {
      throw new Error(`not ${String(wanted)} within ${limitMs} ms, but ${String(value)}`)
    }
    await Bun.sleep(20)
  }
}
