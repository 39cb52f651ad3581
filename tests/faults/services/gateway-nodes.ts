import { startNodes, type Nodes } from '../../harness/nodes'
import { startRedis, type RedisServer } from '../../harness/redis-server'
import { call, createCustomer, idIn } from '../../harness/byok'
import {
  sendRequest,
  messages,
  toStream,
  type Answer,
  type Json,
  type Stream,
} from '../../harness/http'
import { Agent, type AgentOptions } from '../../harness/tunnel-agent'
import { waitForValue } from '../../gateway/tunnel/fixture'
import { raiseApiRate } from '../../money/funding/fixture'
import type { Customer, Gateway } from '../../harness/server'

/** A connected self-hosted gateway on one of the nodes. */
export interface Served {
  owner: Customer
  id: string
  token: string
  agent: Agent
}

/** Two nodes with one PostgreSQL and one Redis, and `fake/mine` at self-hosted gateways. */
export interface GatewayNodes extends AsyncDisposable {
  nodes: Nodes
  redis: RedisServer
  /** The current nodes: by default one receives requests, the other has the sockets. */
  readonly asking: Gateway
  readonly owning: Gateway
  api: (by: Customer, request: string, body?: Json) => Promise<Answer>
  /** Opens a socket on a node, and serves requests. */
  connect: (node: Gateway, token: string, options?: AgentOptions) => Promise<Agent>
  /** Creates a customer with a gateway on the owning node. */
  served: (options?: AgentOptions) => Promise<Served>
  /** Sends a chat to the requesting node. */
  chat: (by: Customer, fields?: Json) => Promise<Answer>
  stream: (by: Customer, fields?: Json) => Promise<Stream>
}

export async function startGatewayNodes(
  environment: Record<string, string> = {},
): Promise<GatewayNodes> {
  await using stack = new AsyncDisposableStack()
  const redis = stack.use(await startRedis())
  const nodes = stack.use(await startNodes(2, { REDIS_URL: redis.url, ...environment }))
  // Tests wait for states by asking for them.
  await raiseApiRate(nodes.at(0))
  const agents: Agent[] = []
  stack.defer(() => {
    for (const agent of agents) agent.kill()
  })
  const connect: GatewayNodes['connect'] = (node, token, options) => {
    const agent = new Agent(`${node.url.replace('http', 'ws')}/gateway`, token, options)
    agents.push(agent)
    return agent.ready()
  }
  const chat: GatewayNodes['chat'] = ({ key }, fields = {}) =>
    sendRequest(nodes.at(0), { key, body: { model: 'fake/mine', messages, ...fields } })
  const open = stack.move()
  return {
    nodes,
    redis,
    connect,
    chat,
    get asking() {
      return nodes.at(0)
    },
    get owning() {
      return nodes.at(1)
    },
    api: (by, request, body) => call(nodes.at(0), by, request, body),
    async served(options) {
      const owner = await createCustomer(nodes.at(0))
      const answer = await call(nodes.at(0), owner, 'POST /gateways', { name: 'Mine' })
      const [id, token] = [idIn(answer), String(answer.body['token'])]
      for (const node of nodes.all) node.recorder.canary(token)
      const agent = await connect(nodes.at(1), token, options)
      await waitForValue(async () => (await chat(owner)).status, 200)
      agent.frames.length = 0
      return { owner, id, token, agent }
    },
    stream: async (by, fields) => toStream(await chat(by, { stream: true, ...fields })),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}
