import type { Client, Tool, Transport } from '@modelcontextprotocol/client'
import { systemClock, type Clock } from '@tollgate/server/platform/clock'
import type { GatewayHello } from '@tollgate/server/tunnel/frames'
import { announcedName } from './announced-name'
import { bounded, resultText } from './result-text'
import { ToolProcess } from './tool-process'
import { BackOff } from '../back-off'
import type { Log } from '../log'
import { pause } from '../pause'
import { shortened, toErrorText } from '../text'

/** A tool in the form that a gateway announces it. */
export type AnnouncedTool = GatewayHello['tools'][number]

export interface ProcessReach {
  command: string
  args: readonly string[]
  /** The whole environment of its process. */
  environment: Readonly<Record<string, string>>
  /** Values from the configuration, which may be secret. */
  configured: Readonly<Record<string, string>>
}

/** A tool server as configured. */
export interface ToolServerSettings {
  name: string
  /** The only tools that are announced and run, by their names at the server. */
  allow: readonly string[]
  reach: ProcessReach | { url: string; token?: string | undefined }
}

export interface CallLimits {
  signal: AbortSignal
  timeoutMs: number
  maxBytes: number
}

/** The outcome of a call. `sent` false: the tool has not run. */
export type Outcome = { content: string; isError: boolean } | { failure: string; sent: boolean }

export interface Callable {
  announced: AnnouncedTool
  /** Rejects with the reason of the signal. */
  call: (callArguments: Record<string, unknown>, limits: CallLimits) => Promise<Outcome>
}

export interface ToolServerPorts {
  log: Log
  /** Redacts secrets in a text. */
  hide: (text: string) => string
  /** The delay before a restart; 1 s doubling to a minute by default. */
  firstMs?: number
  clock?: Clock
}

/** npx may have to fetch the package first. */
const connectMs = 60_000
const listMs = 20_000
const checkEveryMs = 30_000
const heldMs = 60_000
const maxBackOffMs = 60_000
const maxSchemaBytes = 16 * 1024
const maxDescriptionLength = 1000
const maxTimeoutMs = 24 * 3_600_000
const stopped = 'the agent was stopped'

/** Keeps a tool server running, and calls its allowed tools. */
export class ToolServer implements AsyncDisposable {
  readonly #settings: ToolServerSettings
  readonly #ports: ToolServerPorts
  readonly #stop = new AbortController()
  readonly #backOff: BackOff
  readonly #clock: Clock
  #living: Promise<void> = Promise.resolve()
  #tools: readonly Callable[] = []
  #wasReported = ''
  #changed: () => void = () => undefined

  constructor(settings: ToolServerSettings, ports: ToolServerPorts) {
    this.#settings = settings
    this.#ports = ports
    this.#clock = ports.clock ?? systemClock
    this.#backOff = new BackOff({ firstMs: ports.firstMs ?? 1000, maxMs: maxBackOffMs })
  }

  get tools(): readonly Callable[] {
    return this.#tools
  }

  get name(): string {
    return this.#settings.name
  }

  /**
   * Resolves after the first attempt to list its tools; keeps it running from then on. Calls `changed`
   * whenever its tools change.
   */
  async start(changed: () => void): Promise<void> {
    this.#changed = changed
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#living = this.#live(resolve)
    await promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#living
  }

  async #live(onFirstAttempt: () => void): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const beganAt = this.#clock.monotonicMs()
      const reason = await this.#hold(onFirstAttempt)
      onFirstAttempt()
      this.#show([])
      if (signal.aborted) return
      if (this.#clock.monotonicMs() - beganAt > heldMs) this.#backOff.reset()
      const message = `The tools of ${this.name} are unavailable: ${reason}`
      if (message !== this.#wasReported) this.#ports.log('warn', 'tools_away', message)
      this.#wasReported = message
      await pause(this.#backOff.next(), signal, this.#clock)
    }
  }

  /** Runs it once, from start to exit; returns the reason of its end. */
  async #hold(connected: () => void): Promise<string> {
    const { signal } = this.#stop
    const transport = await this.#open()
    const { Client } = await import('@modelcontextprotocol/client')
    // A stop in the meantime found nothing to close.
    if (signal.aborted) return stopped
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const client = new Client(
      { name: 'tollgate-connect', version: '1' },
      {
        listMaxPages: 20,
        listChanged: { tools: { autoRefresh: false, onChanged: () => void this.#list(client) } },
      },
    )
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
    client.onclose = end
    // The client forgets a transport that it has not begun to use: both are closed, at any moment.
    const close = async () => {
      await client.close().catch(() => undefined)
      await transport.close().catch(() => undefined)
    }
    const stop = () => void close()
    signal.addEventListener('abort', stop, { once: true })
    try {
      await client.connect(transport, { timeout: connectMs })
      if (!(await this.#list(client))) throw new Error('it does not list its tools')
      connected()
      await this.#watched(client, ended)
      return formatStderrTail(transport) || 'it has exited'
    } catch (thrown) {
      return shortened(this.#ports.hide(formatStderrTail(transport) || toErrorText(thrown)))
    } finally {
      signal.removeEventListener('abort', stop)
      await close()
    }
  }

  async #open(): Promise<Transport> {
    const { reach } = this.#settings
    if ('command' in reach) return new ToolProcess(reach)
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    const headers = reach.token ? { authorization: `Bearer ${reach.token}` } : {}
    return new StreamableHTTPClientTransport(new URL(reach.url), { requestInit: { headers } })
  }

  /** Resolves when the server is gone: a process reports its exit, a server at an address has to be polled. */
  async #watched(client: Client, ended: Promise<void>): Promise<void> {
    if ('command' in this.#settings.reach) return ended
    const stopped = Promise.withResolvers<void>()
    void ended.then(stopped.resolve)
    const { signal } = this.#stop
    for (;;) {
      const isOver = await Promise.race([
        stopped.promise.then(() => true),
        pause(checkEveryMs, signal, this.#clock).then(() => signal.aborted),
      ])
      if (isOver) return
      if (!(await this.#list(client))) throw new Error('it no longer answers')
    }
  }

  /** Lists its tools; false where the server does not support it. */
  async #list(client: Client): Promise<boolean> {
    try {
      const { tools } = await client.listTools({}, { timeout: listMs, cacheMode: 'refresh' })
      const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv')
      const validators = new AjvJsonSchemaValidator()
      const allowed = tools.filter(({ name }) => this.#settings.allow.includes(name))
      this.#show(allowed.flatMap((tool) => this.#callable(client, tool, validators)))
      this.#reportMissing(tools)
      return true
    } catch {
      return false
    }
  }

  #show(tools: readonly Callable[]): void {
    const before = JSON.stringify(this.#tools.map(({ announced }) => announced))
    this.#tools = tools
    if (before !== JSON.stringify(tools.map(({ announced }) => announced))) this.#changed()
  }

  #reportMissing(tools: readonly Tool[]): void {
    const missingTools = this.#settings.allow.filter(
      (name) => !tools.some((tool) => tool.name === name),
    )
    const message =
      missingTools.length > 0
        ? `${this.name} has no ${missingTools.join(', ')}: allow names tools as their server does.`
        : `${this.name} has ${this.#tools.length} of the allowed tools.`
    if (message === this.#wasReported) return
    this.#wasReported = message
    this.#ports.log(missingTools.length > 0 ? 'warn' : 'info', 'tools', message)
  }

  /** Returns undefined where the tool cannot be announced. */
  #callable(client: Client, tool: Tool, validators: Validators): Callable[] {
    const { name, description = '', inputSchema } = tool
    const parameters = { ...inputSchema }
    if (Buffer.byteLength(JSON.stringify(parameters)) > maxSchemaBytes) {
      this.#ports.log('warn', 'tool_left_out', `${name} of ${this.name}: its schema is too large.`)
      return []
    }
    const { hide } = this.#ports
    try {
      const validate = validators.getValidator(parameters)
      const announced = {
        name: announcedName(this.name, name),
        // Not within a surrogate pair.
        description: hide(description)
          .slice(0, maxDescriptionLength)
          .replace(/[\uD800-\uDBFF]$/, ''),
        parameters,
      }
      const running = { client, tool, hide }
      return [
        {
          announced,
          call: async (callArguments, limits) => {
            const { valid, errorMessage } = validate(callArguments)
            if (valid) return callTool(running, callArguments, limits)
            const message = `The arguments do not fit: ${shortened(errorMessage ?? 'see its schema')}`
            return { content: bounded(message, limits.maxBytes), isError: true }
          },
        },
      ]
    } catch (thrown) {
      const message = `${name} of ${this.name}: its schema cannot be used: ${toErrorText(thrown)}`
      this.#ports.log('warn', 'tool_left_out', message)
      return []
    }
  }
}

interface Validators {
  getValidator: (schema: Record<string, unknown>) => (callArguments: unknown) => {
    valid: boolean
    errorMessage?: string | undefined
  }
}

interface RunningTool {
  client: Client
  tool: Tool
  hide: (text: string) => string
}

async function callTool(
  { client, tool, hide }: RunningTool,
  callArguments: Record<string, unknown>,
  { signal, timeoutMs, maxBytes }: CallLimits,
): Promise<Outcome> {
  try {
    const timeout = Math.min(timeoutMs + 1000, maxTimeoutMs)
    const result = await client.callTool(
      { name: tool.name, arguments: callArguments },
      { signal, timeout, maxTotalTimeout: timeout, toolDefinition: tool },
    )
    const content = bounded(hide(resultText(result.content)), maxBytes)
    return { content, isError: result.isError === true }
  } catch (thrown) {
    signal.throwIfAborted()
    return { failure: hide(toErrorText(thrown)), sent: true }
  }
}

const formatStderrTail = (transport: Transport) =>
  transport instanceof ToolProcess ? transport.stderrTail : ''
