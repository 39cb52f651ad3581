import { Transport } from '@tollgate/server/upstream/http/transport'
import { Agent, type AgentPorts } from './agent'
import { openLog } from './log'
import { ModelServer, type ServerSettings } from './model-server'
import { Offer } from './offer'
import { SimulatedTollgate, token } from './tollgate-for-tests'
import { Secrets } from './text'

export const apiKey = 'sk-upstream-0123456789'

type Answering = (request: Request) => Response | Promise<Response>

/** A model server whose answers a test writes. */
export class SimulatedServer implements Disposable {
  readonly requests: { path: string; authorization: string | null; body: unknown }[] = []
  models: string[] = ['llama']
  answer: Answering = () => Response.json({ id: 'chat-1' })
  /** Requests whose client disconnected. */
  aborted = 0
  readonly #server

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: async (request) => {
        const { pathname } = new URL(request.url)
        if (pathname === '/v1/models') {
          return Response.json({ data: this.models.map((id) => ({ id })) })
        }
        // The path that identifies an Ollama.
        if (pathname === '/api/version') return Response.json({ version: '0.9.0' })
        if (request.method === 'GET') return new Response('', { status: 404 })
        request.signal.addEventListener('abort', () => (this.aborted += 1))
        const authorization = request.headers.get('authorization')
        const isJson = request.headers.get('content-type') === 'application/json'
        // Another body is read by the answer.
        const body: unknown = isJson ? await request.json() : undefined
        this.requests.push({ path: pathname, authorization, body })
        return this.answer(request)
      },
    })
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.port}/v1`
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }
}

/** An agent between a simulated Tollgate and a simulated server. */
export class Fixture implements AsyncDisposable {
  readonly tollgate = new SimulatedTollgate()
  readonly server = new SimulatedServer()
  /** The log lines. */
  readonly logLines: string[] = []
  readonly offer: Offer
  readonly agent: Agent
  /** The exit code. */
  readonly over: Promise<number>
  readonly transport = new Transport()
  readonly #stop = new AbortController()
  readonly #models: ModelServer

  private constructor(own: Partial<ServerSettings>, ports: Partial<AgentPorts>) {
    const { server, transport } = this
    this.#models = new ModelServer({ provider: 'local', baseUrl: server.baseUrl, apiKey, ...own })
    this.offer = new Offer([this.#models])
    const secrets = new Secrets()
    secrets.add(apiKey)
    secrets.add(token)
    const log = openLog({ isJson: true, secrets, write: (line) => void this.logLines.push(line) })
    const { address } = this.tollgate
    this.agent = new Agent({
      address,
      token,
      proxy: undefined,
      version: '0.1.0',
      offer: this.offer,
      transport,
      log,
      secrets,
      random: () => 0.01,
      ...ports,
    })
    const { promise, resolve } = Promise.withResolvers<number>()
    this.over = promise
    void this.#models.refreshModels(transport, log).then(() => {
      void this.agent.run(this.#stop.signal).then(resolve)
    })
  }

  /** Resolves when the agent has said hello. */
  static async open(own: Partial<ServerSettings> = {}, ports: Partial<AgentPorts> = {}) {
    const fixture = new Fixture(own, ports)
    await fixture.tollgate.hello()
    return fixture
  }

  /** Queries the server again, and announces changes. */
  async repeatSurvey(): Promise<void> {
    await this.#models.refreshModels(
      this.transport,
      (_level, event) => void this.logLines.push(event),
    )
    this.agent.announce()
  }

  stop(): void {
    this.#stop.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.over
    this.server[Symbol.dispose]()
    this.tollgate[Symbol.dispose]()
  }
}
