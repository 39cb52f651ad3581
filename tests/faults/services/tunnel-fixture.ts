import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PrivateNetwork } from './private-network'
import { call, createCustomer } from '../../harness/byok'
import { newOrganization } from '../../harness/organization'
import type { RunningConnect } from '../../gateway/connect/run-connect'
import { sendRequest, type Answer, type Json } from '../../harness/http'
import { waitForValue } from '../../gateway/tunnel/fixture'
import { requestIdOf } from '../../harness/ledger'
import { newDataDir, startGateway, type Customer, type Gateway } from '../../harness/server'

/** A Tollgate to which private networks connect. Everything runs inside `runInIsolatedNetwork`. */

/**
 * Heartbeat interval of both sides: Tollgate times out after twice that without a frame, an agent after two
 * and a half times, which is longer than a machine stands still. The default of both is HEARTBEAT_SECONDS=30.
 */
export const heartbeatSeconds = Number(process.env['HEARTBEAT_SECONDS'] ?? 8)

const port = 8080
const program = join(import.meta.dir, '../../../connect/src/tools/program-for-tests.ts')

/** A private network with its own gateway: its caller, and its agent. */
export interface Home {
  network: PrivateNetwork
  gatewayId: string
  owner: Customer
  /** The owner, or a paying customer. */
  caller: Customer
  agent: RunningConnect
  /** Ids of the admitted requests of `caller`. */
  requests: string[]
  /** Starts another agent with the same token, which becomes `agent`. */
  connect: (environment?: Record<string, string>) => RunningConnect
  /** Reads the gateway as shown to its owner. */
  status: () => Promise<unknown>
}

export class TunnelFixture implements AsyncDisposable {
  tollgate: Gateway
  readonly #folder: string
  readonly #environment: Record<string, string>
  readonly #homes: Home[] = []

  private constructor(tollgate: Gateway, environment: Record<string, string>, folder: string) {
    this.tollgate = tollgate
    this.#environment = environment
    this.#folder = folder
  }

  static async open(environment: Record<string, string> = {}): Promise<TunnelFixture> {
    const all = {
      HOST: '0.0.0.0',
      PORT: String(port),
      MINIMUM_BALANCE_USD: '0',
      DRAIN_SECONDS: '2',
      GATEWAY_HEARTBEAT_SECONDS: String(heartbeatSeconds),
      // By default a silent provider times out sooner than a gateway.
      IDLE_TIMEOUT_SECONDS: String(30 + 3 * heartbeatSeconds),
      LOG_LEVEL: 'info',
      ...environment,
    }
    const tollgate = await startGateway({ environment: all, dataDir: await newDataDir() })
    const { admin } = tollgate
    await admin('PUT', '/config', { rates: { api_requests_per_minute: 100_000 } })
    await admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
    const model = { name: 'One', category: 'chat', pricing: { input: 1, output: 4 } }
    await admin('POST', '/models', { id: 'fake/one', ...model })
    // Creates objects shared by all test accounts, as several homes are opened at once.
    await tollgate.customer()
    const fixture = new TunnelFixture(
      tollgate,
      all,
      await mkdtemp(join(tmpdir(), 'tollgate-door-')),
    )
    await writeFile(fixture.otherClock, otherClock, { mode: 0o755 })
    return fixture
  }

  /** Opens a home, and waits until its agent serves. `isPaid`: the caller pays for models of the catalogue. */
  async home({ isPaid = false } = {}): Promise<Home> {
    const { tollgate } = this
    const network = await PrivateNetwork.open()
    const { owner, caller, made } = await (isPaid ? this.#paid() : this.#free())
    const gatewayId = String(made['id'])
    tollgate.recorder.canary(String(made['token']))
    const config = join(this.#folder, `${gatewayId}.json`)
    await writeFile(config, JSON.stringify(settings))
    const url = `http://${network.outside}:${port}`
    const args = ['--url', url, '--insecure', '--config', config, '--json']
    const start = (environment: Record<string, string> = {}) =>
      network.connect(args, { TOLLGATE_GATEWAY_TOKEN: String(made['token']), ...environment })
    const home: Home = {
      network,
      gatewayId,
      owner,
      caller,
      requests: [],
      agent: start(),
      connect: (environment) => (home.agent = start(environment)),
      status: async () => {
        const { body } = await call(this.tollgate, owner, 'GET /gateways')
        const gateways: Json[] = Array.isArray(body['gateways']) ? body['gateways'] : []
        const { status, tool_count: tools } = gateways.find(({ id }) => id === gatewayId) ?? {}
        return status === 'online' && tools !== 2 ? 'without its tools' : status
      },
    }
    this.#homes.push(home)
    await waitForValue(home.status, 'online', 40_000)
    if (isPaid) await this.#charge(home)
    return home
  }

  /** Requests a plain answer of the model, and reads it to its end. */
  async chat({ caller: { key }, requests }: Home, content: string): Promise<Answer> {
    const answer = await sendRequest(this.tollgate, { key, body: chatRequest(content) })
    if (answer.error.code !== 'gateway_unavailable') requests.push(requestIdOf(answer))
    return answer
  }

  /** Creates a Bun for TOLLGATE_BUN whose time of day is set by CLOCK_HOURS and CLOCK_JUMPS. */
  get otherClock(): string {
    return join(this.#folder, 'other-clock')
  }

  /** Restarts Tollgate, which has ended, on the same data. */
  async restart(): Promise<void> {
    const { dataDir } = this.tollgate
    this.tollgate = await startGateway({ environment: this.#environment, dataDir })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#homes.map(({ network }) => network[Symbol.asyncDispose]()))
    await this.tollgate[Symbol.asyncDispose]()
    await rm(this.tollgate.dataDir, { recursive: true, force: true })
    await rm(this.#folder, { recursive: true })
  }

  async #free() {
    const owner = await createCustomer(this.tollgate)
    const { body: made } = await call(this.tollgate, owner, 'POST /gateways', { name: 'At home' })
    return { owner, caller: owner, made }
  }

  async #paid() {
    const gateway = this.tollgate
    const newCustomer = () => createCustomer(gateway)
    const { id, owner, member } = await newOrganization({ gateway, newCustomer })
    const caller = await member()
    const { plan_id } = await gateway.admin('GET', `/users/${caller.userId}`)
    await gateway.admin('PUT', `/organizations/${id}`, { plan_id, ...room })
    await gateway.admin('POST', '/credits/grant', {
      user_id: caller.userId,
      amount: 1000,
      reason: 'test',
    })
    const fields = { name: 'At work', scope: 'organization', organization_id: id }
    const { body: made } = await call(gateway, owner, 'POST /gateways', fields)
    return { owner, caller, made }
  }

  async #charge({ owner }: Home): Promise<void> {
    const { body } = await call(this.tollgate, owner, 'GET /connections?gateway_type=3')
    const [connection] = Array.isArray(body['connections']) ? body['connections'] : []
    const change = { billing_mode: 'member_pays' }
    const { status, text } = await call(
      this.tollgate,
      owner,
      `PUT /connections/${connection?.id}`,
      change,
    )
    if (status !== 200) throw new Error(text)
  }
}

const otherClock = `#!/bin/sh
exec '${process.execPath}' --preload '${join(import.meta.dir, 'preloads/other-clock.ts')}' "$@"
`

/** Configuration of agents: the model server, and two tools. */
const settings = {
  servers: [{ provider: 'fake', base_url: 'http://127.0.0.1:11434/v1' }],
  tools: [{ name: 'mine', command: process.execPath, args: [program], allow: ['add', 'pid'] }],
}

/** Limits high enough not to interfere. */
const room = {
  rate_limit_requests_per_minute: 1_000_000,
  rate_limit_tokens_per_minute: 1_000_000_000,
  max_concurrent_requests: 10_000,
}

/** Builds a request for the priced model. */
export const chatRequest = (content: string) => ({
  model: 'fake/one',
  messages: [{ role: 'user' as const, content }],
})
