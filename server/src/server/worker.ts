import { join } from 'node:path'
import type { Logger } from 'pino'
import { packed } from './packed-build'
import { StartError, type Config } from '../platform/config/config'

const firstDelayMs = 500
const longestDelayMs = 30_000
/** A worker that ran for this long gets all its attempts back. */
const stableMs = 60_000
/** The grace period after the drain timeout. */
const closingMs = 15_000

/** The message that a worker sends as soon as it listens. */
export interface Listening {
  port: number
}

/** The message to a worker when all of them listen. */
const greeting = 'greet'

export const isGreeting = (message: unknown): boolean => message === greeting

const isListening = (message: unknown): message is Listening =>
  typeof message === 'object' && message !== null && 'port' in message

interface Parts {
  /** The configuration of the launcher. */
  config: Config
  log: Logger
  dataDir: string
  /** The port to listen on. */
  port: number
}

/** One of the processes that serve one port, restarted if it ends by itself. */
export class Worker {
  readonly #index: number
  readonly #parts: Parts
  /** If no port is set, the one that the system assigned first. */
  #port: number
  #child: Bun.Subprocess | undefined
  #isStopping = false
  /** Whether it has listened: a later end is not a failure of its start. */
  #isProven = false
  #delayMs = firstDelayMs
  #again: Timer | undefined

  constructor(index: number, parts: Parts) {
    this.#index = index
    this.#parts = parts
    this.#port = parts.port
  }

  /** Resolves with its port once it listens. Throws `StartError` if it ended before. */
  async start(): Promise<number> {
    this.#port = await this.#run()
    this.#isProven = true
    return this.#port
  }

  /** Has this worker print the first screen for all of them. */
  greet(): void {
    this.#child?.send(greeting)
  }

  /** Stops it gracefully, and kills it after a timeout. Calling it twice is harmless. */
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

  /** Resolves with its port once it listens. Throws `StartError`. */
  #run(): Promise<number> {
    const startedAt = performance.now()
    const listening = Promise.withResolvers<number>()
    const child = this.#spawn((port) => listening.resolve(port))
    this.#child = child
    void child.exited.then((code) => {
      this.#child = undefined
      // The worker has already printed the reason.
      listening.reject(new StartError(`Worker ${this.#index} did not start.`))
      this.#ended(code, performance.now() - startedAt)
    })
    return listening.promise
  }

  /** Throws `StartError` if the system cannot start a process: no memory, no file handle. */
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

  /** Schedules the next attempt, each after a longer delay. Returns the delay. */
  #runLater(): number {
    const inMs = this.#delayMs
    this.#delayMs = Math.min(2 * inMs, longestDelayMs)
    this.#again = setTimeout(() => this.#runAgain(), inMs)
    return inMs
  }

  #runAgain(): void {
    try {
      // `#ended` reports a worker that ends before it listens.
      this.#run().catch(() => undefined)
    } catch (err) {
      const inMs = this.#runLater()
      const told = { worker: this.#index, err, inMs }
      this.#parts.log.error(told, 'a worker could not be started; it is tried again')
    }
  }
}

/** Returns the command that starts this program. */
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
    // Each worker serves its own metrics only.
    ...(listener && { METRICS_PORT: String(listener.port && listener.port + index - 1) }),
  }
}
