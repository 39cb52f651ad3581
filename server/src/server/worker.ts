import { join } from 'node:path'
import type { Logger } from 'pino'
import { packed } from './packed-build'
import { StartError, type Config } from '../config'

const firstDelayMs = 500
const longestDelayMs = 30_000
/** A worker that ran for so long has its tries back. */
const stableMs = 60_000
/** Beyond what it may take to drain. */
const closingMs = 15_000

/** What a worker tells as soon as it listens. */
export interface Listening {
  port: number
}

/** What it is told when all of them listen. */
const greeting = 'greet'

export const isGreeting = (message: unknown): boolean => message === greeting

const isListening = (message: unknown): message is Listening =>
  typeof message === 'object' && message !== null && 'port' in message

interface Parts {
  /** Of whoever starts it. */
  config: Config
  log: Logger
  dataDir: string
  /** Where it is to listen. */
  port: number
}

/** One of the processes that answer on one port, started again where it ends by itself. */
export class Worker {
  readonly #index: number
  readonly #parts: Parts
  /** Where no port is set, the one that it was given first. */
  #port: number
  #child: Bun.Subprocess | undefined
  #isStopping = false
  /** It has listened: whatever ends it later is no fault of how it was started. */
  #isProven = false
  #delayMs = firstDelayMs
  #again: Timer | undefined

  constructor(index: number, parts: Parts) {
    this.#index = index
    this.#parts = parts
    this.#port = parts.port
  }

  /** Resolves once it listens, with its port. Throws `StartError` where it ended before. */
  async start(): Promise<number> {
    this.#port = await this.#run()
    this.#isProven = true
    return this.#port
  }

  /** Has it say to whoever started all of them that they are there. */
  greet(): void {
    this.#child?.send(greeting)
  }

  /** Lets it end as a server by itself would, and kills it where it does not. Twice is harmless. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#again)
    const child = this.#child
    if (!child) return
    const { drainMs, unreadyMs } = this.#parts.config.timers
    child.kill('SIGTERM')
    const kill = setTimeout(() => child.kill('SIGKILL'), unreadyMs + drainMs + closingMs)
    await child.exited
    clearTimeout(kill)
  }

  /** Resolves once it listens, with its port. Throws `StartError`. */
  #run(): Promise<number> {
    const startedAt = performance.now()
    const listening = Promise.withResolvers<number>()
    const child = this.#spawn((port) => listening.resolve(port))
    this.#child = child
    void child.exited.then((code) => {
      this.#child = undefined
      // It has said why itself.
      listening.reject(new StartError(`Worker ${this.#index} did not start.`))
      this.#ended(code, performance.now() - startedAt)
    })
    return listening.promise
  }

  /** Throws `StartError` where the system has no process for it: no memory, no file handle. */
  #spawn(onListening: (port: number) => void): Bun.Subprocess {
    try {
      return Bun.spawn(command(), {
        env: environmentOf(this.#index, { ...this.#parts, port: this.#port }),
        stdio: ['ignore', 'inherit', 'inherit'],
        ipc: (message) => {
          if (isListening(message)) onListening(message.port)
        },
      })
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new StartError(`Worker ${this.#index} could not be spawned: ${why}.`, { cause })
    }
  }

  #ended(code: number, livedMs: number): void {
    if (this.#isStopping || !this.#isProven) return
    if (livedMs >= stableMs) this.#delayMs = firstDelayMs
    const inMs = this.#runLater()
    const told = { worker: this.#index, code, inMs }
    this.#parts.log.error(told, 'a worker ended by itself; it is started again')
  }

  /** Tries again, each time after a longer while. Returns after which. */
  #runLater(): number {
    const inMs = this.#delayMs
    this.#delayMs = Math.min(2 * inMs, longestDelayMs)
    this.#again = setTimeout(() => this.#runAgain(), inMs)
    return inMs
  }

  #runAgain(): void {
    try {
      // One that ends before it listens is told of by `#ended`.
      this.#run().catch(() => undefined)
    } catch (err) {
      const inMs = this.#runLater()
      const told = { worker: this.#index, err, inMs }
      this.#parts.log.error(told, 'a worker could not be started; it is tried again')
    }
  }
}

/** How this program is started. */
const command = (): string[] =>
  packed ? [process.execPath, 'start'] : [process.execPath, join(import.meta.dir, '../main.ts')]

function environmentOf(index: number, { config, dataDir, port }: Parts) {
  const { listener } = config.telemetry
  return {
    ...process.env,
    TOLLGATE_WORKER: String(index),
    TOLLGATE_LAUNCHER_PID: String(process.pid),
    DATA_DIR: dataDir,
    PORT: String(port),
    // Each tells of itself only.
    ...(listener && { METRICS_PORT: String(listener.port && listener.port + index - 1) }),
  }
}
