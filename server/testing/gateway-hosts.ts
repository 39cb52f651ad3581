import { dirname, join } from 'node:path'

/** A control character (end of transmission), which no output of a gateway has. */
export const endMark = '\u0004'

/** Bounds what a gateway may leave in the process of the next one. */
const gatewaysPerHost = 40
/** Hosts that are kept without a gateway. */
const idleHosts = 4

/** The variables that the engine reads, once. */
const ofEngine = /^(BUN_|MIMALLOC_|NODE_|TZ$|LANG$|PATH$|HOME$|TMPDIR$)/

type Environment = Readonly<Record<string, string>>

/** Takes what a gateway in a host writes to both outputs, and its exit code after that. */
export interface HostedEvents {
  onOutput: (text: string) => void
  onExit: (code: number) => void
}

interface Host {
  child: Bun.Subprocess<'pipe', 'pipe', 'pipe'>
  /** The variables that the engine was started with. */
  engine: string
  /** Gateways that it has run. */
  count: number
  gateway: HostedEvents | undefined
  /** Outputs of the gateway that have ended, of two. */
  ended: number
}

/** Processes that run one gateway at a time each: `gateway-host.ts` from the bundle beside `server`. */
export class GatewayHosts {
  readonly #program: string
  readonly #idle: Host[] = []

  constructor(server: string) {
    this.#program = join(dirname(server), 'gateway-host.js')
  }

  /** Starts a gateway in a host that is idle or new. Returns its process; SIGKILL ends the host as well. */
  start(environment: Environment, events: HostedEvents): Pick<Host['child'], 'pid' | 'kill'> {
    const engine = Object.entries(environment).filter(([name]) => ofEngine.test(name))
    const host = this.#idleHost(JSON.stringify(engine)) ?? this.#newHost(engine)
    host.count += 1
    host.gateway = events
    void host.child.stdin.write(`${JSON.stringify(environment)}\n`)
    void host.child.stdin.flush()
    return host.child
  }

  /** Ends the hosts that are idle. */
  stop(): void {
    for (const { child } of this.#idle.splice(0)) void child.stdin.end()
  }

  #idleHost(engine: string): Host | undefined {
    const at = this.#idle.findIndex((host) => host.engine === engine)
    return at < 0 ? undefined : this.#idle.splice(at, 1)[0]
  }

  #newHost(engine: [string, string][]): Host {
    const child = Bun.spawn([process.execPath, this.#program], {
      env: Object.fromEntries(engine),
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const host: Host = {
      child,
      engine: JSON.stringify(engine),
      count: 0,
      gateway: undefined,
      ended: 0,
    }
    const reading = [child.stdout, child.stderr].map((stream) => this.#read(stream, host))
    void child.exited.then(async (code) => {
      await Promise.all(reading)
      host.gateway?.onExit(code)
      const at = this.#idle.indexOf(host)
      if (at >= 0) this.#idle.splice(at, 1)
    })
    return host
  }

  async #read(stream: ReadableStream<Uint8Array>, host: Host): Promise<void> {
    const decoder = new TextDecoder()
    let mark = ''
    for await (const bytes of stream) {
      const text = mark + decoder.decode(bytes, { stream: true })
      const at = text.indexOf(endMark)
      const output = at < 0 ? text : text.slice(0, at)
      if (output !== '') host.gateway?.onOutput(output)
      mark = at < 0 ? '' : text.slice(at)
      if (!mark.endsWith('\n')) continue
      this.#end(host, Number(mark.slice(endMark.length)))
      mark = ''
    }
  }

  /** Frees a host when both outputs of its gateway have ended. */
  #end(host: Host, code: number): void {
    host.ended += 1
    if (host.ended < 2) return
    const { gateway } = host
    host.ended = 0
    host.gateway = undefined
    const isReused = host.count < gatewaysPerHost && this.#idle.length < idleHosts
    if (isReused) this.#idle.push(host)
    else void host.child.stdin.end()
    gateway?.onExit(code)
  }
}
