import type { Client, Tool, Transport } from '@modelcontextprotocol/client'
import { announcedName } from './announced-name'
import { bounded, resultText } from './result-text'
import { ToolProcess } from './tool-process'
import { BackOff } from '../back-off'
import type { Say } from '../log'
import { pause } from '../pause'
import { shortened, wordsOf } from '../words'

export interface ProcessReach {
  command: string
  args: readonly string[]
  /** The whole environment of its process. */
  environment: Readonly<Record<string, string>>
  /** Values from the configuration, which may be secret. */
  given: Readonly<Record<string, string>>
}

/** A tool server as configured. */
export interface ToolServerSettings {
  name: string
  /** The only tools that are announced and run, by their names at the server. */
  allow: readonly string[]
  reach: ProcessReach | { url: string; token?: string | undefined }
}

/** A tool as announced in a hello. */
export interface AnnouncedTool {
  name: string
  description: string
  parameters: Record<string, unknown>
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
  call: (given: Record<string, unknown>, limits: CallLimits) => Promise<Outcome>
}

export interface ToolServerPorts {
  say: Say
  /** Redacts secrets in a text. */
  hide: (text: string) => string
  /** The delay before a restart; 1 s doubling to a minute by default. */
  firstMs?: number
}

/** npx may have to fetch the package first. */
const connectMs = 60_000
const listMs = 20_000
const lookAgainMs = 30_000
const heldMs = 60_000
const mostMs = 60_000
const mostSchemaBytes = 16 * 1024
const mostDescription = 1000
const longestMs = 24 * 3_600_000
const stopped = 'the agent was stopped'

/** Keeps a tool server running, and calls its allowed tools. */
export class ToolServer implements AsyncDisposable {
  readonly #settings: ToolServerSettings
  readonly #ports: ToolServerPorts
  readonly #stop = new AbortController()
  readonly #backOff: BackOff
  #living: Promise<void> = Promise.resolve()
  #tools: readonly Callable[] = []
  #told = ''
  #changed: () => void = () => undefined

  constructor(settings: ToolServerSettings, ports: ToolServerPorts) {
    this.#settings = settings
    this.#ports = ports
    this.#backOff = new BackOff({ firstMs: ports.firstMs ?? 1000, mostMs })
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

  async #live(firstTried: () => void): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const beganAt = performance.now()
      const words = await this.#hold(firstTried)
      firstTried()
      this.#show([])
      if (signal.aborted) return
      if (performance.now() - beganAt > heldMs) this.#backOff.reset()
      const said = `The tools of ${this.name} are unavailable: ${words}`
      if (said !== this.#told) this.#ports.say('warn', 'tools_away', said)
      this.#told = said
      await pause(this.#backOff.next(), signal)
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
      return lastWordsOf(transport) || 'it has exited'
    } catch (thrown) {
      return shortened(this.#ports.hide(lastWordsOf(transport) || wordsOf(thrown)))
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
        pause(lookAgainMs, signal).then(() => signal.aborted),
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
      this.#sayMissing(tools)
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

  #sayMissing(tools: readonly Tool[]): void {
    const missing = this.#settings.allow.filter((name) => !tools.some((tool) => tool.name === name))
    const said =
      missing.length > 0
        ? `${this.name} has no ${missing.join(', ')}: allow names tools as their server does.`
        : `${this.name} has ${this.#tools.length} of the allowed tools.`
    if (said === this.#told) return
    this.#told = said
    this.#ports.say(missing.length > 0 ? 'warn' : 'info', 'tools', said)
  }

  /** Returns undefined where the tool cannot be announced. */
  #callable(client: Client, tool: Tool, validators: Validators): Callable[] {
    const { name, description = '', inputSchema } = tool
    const parameters = { ...inputSchema }
    if (Buffer.byteLength(JSON.stringify(parameters)) > mostSchemaBytes) {
      this.#ports.say('warn', 'tool_left_out', `${name} of ${this.name}: its schema is too large.`)
      return []
    }
    const { hide } = this.#ports
    try {
      const validate = validators.getValidator(parameters)
      const announced = {
        name: announcedName(this.name, name),
        // Not within a surrogate pair.
        description: hide(description)
          .slice(0, mostDescription)
          .replace(/[\uD800-\uDBFF]$/, ''),
        parameters,
      }
      const running = { client, tool, hide }
      return [
        {
          announced,
          call: async (given, limits) => {
            const { valid, errorMessage } = validate(given)
            if (valid) return callTool(running, given, limits)
            const words = `The arguments do not fit: ${shortened(errorMessage ?? 'see its schema')}`
            return { content: bounded(words, limits.maxBytes), isError: true }
          },
        },
      ]
    } catch (thrown) {
      const words = `${name} of ${this.name}: its schema cannot be used: ${wordsOf(thrown)}`
      this.#ports.say('warn', 'tool_left_out', words)
      return []
    }
  }
}

interface Validators {
  getValidator: (schema: Record<string, unknown>) => (given: unknown) => {
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
  given: Record<string, unknown>,
  { signal, timeoutMs, maxBytes }: CallLimits,
): Promise<Outcome> {
  try {
    const timeout = Math.min(timeoutMs + 1000, longestMs)
    const result = await client.callTool(
      { name: tool.name, arguments: given },
      { signal, timeout, maxTotalTimeout: timeout, toolDefinition: tool },
    )
    const content = bounded(hide(resultText(result.content)), maxBytes)
    return { content, isError: result.isError === true }
  } catch (thrown) {
    signal.throwIfAborted()
    return { failure: hide(wordsOf(thrown)), sent: true }
  }
}

const lastWordsOf = (transport: Transport) =>
  transport instanceof ToolProcess ? transport.lastWords : ''
