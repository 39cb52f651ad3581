import type { Logger } from 'pino'
import type { Booker } from '../../booking/booker'
import { toBookingReply } from '../../booking/remote-booking'
import { workerDirectory } from '../../journal/directories'
import type { SettledRange } from '../../journal/settled-range'
import { isFromWorker, type FromLauncher, type FromWorker, type WorkerQuestion } from './messages'
import { PendingReplies } from './pending-replies'
import { sendToWorker } from './send-to-worker'
import type { WorkerProgram } from './worker-program'
import type { WorkerRelay } from './worker-relay'
import { WorkerWatch } from './worker-watch'
import { StartError, type Config } from '../../platform/config/config'

const firstDelayMs = 500
const maxDelayMs = 30_000
/** A worker that ran for this long gets all its attempts back. */
const stableMs = 60_000
/** The grace period after the drain timeout. */
const closingMs = 15_000

/** A worker that sent nothing for so many seconds hangs: its loop is blocked, or its process is stopped. */
const maxSilentSeconds = 15
/** A worker that does not listen after so many seconds hangs. Booking what a journal holds may take a while. */
const maxStartSeconds = 120

/** The longest wait for an answer of a worker. Milliseconds. */
const maxReplyMs = 3000

interface Dependencies {
  /** The configuration of the launcher. */
  config: Config
  log: Logger
  dataDir: string
  /** The port to listen on. */
  port: number
  relay: WorkerRelay
  booker: Booker
  program: WorkerProgram
}

/** One of the processes that serve one port, restarted if it ends by itself. */
export class Worker {
  readonly index: number
  readonly #dependencies: Dependencies
  /** If no port is set, the one that the system assigned first. */
  #port: number
  #child: Bun.Subprocess | undefined
  #isStopping = false
  /** Whether it ends to be started again. */
  #isReplacing = false
  /** Whether it has listened: a later end is not a failure of its start. */
  #isProven = false
  isListening = false
  /** How often it was started again after it ended by itself. */
  restarts = 0
  readonly #replies = new PendingReplies()
  #delayMs = firstDelayMs
  #restartTimer: Timer | undefined

  constructor(index: number, dependencies: Dependencies) {
    this.index = index
    this.#dependencies = dependencies
    this.#port = dependencies.port
  }

  /** Resolves with its port once it listens. Throws `StartError` if it ended before. */
  async start(): Promise<number> {
    this.#port = await this.#run()
    this.#isProven = true
    return this.#port
  }

  /** Has this worker print the first screen for all of them. */
  greet(): void {
    this.#send({ kind: 'greet' })
  }

  /** Resolves with its answer; with undefined where it does not listen, or does not answer in time. */
  async ask(about: WorkerQuestion): Promise<unknown> {
    if (!this.isListening) return undefined
    return this.#replies.ask((id) => this.#send({ kind: 'ask', id, about }), maxReplyMs)
  }

  #send(message: FromLauncher): void {
    sendToWorker(this.#child, message)
  }

  /** Stops it gracefully, and kills it after a timeout. Calling it twice is harmless. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#restartTimer)
    await this.#stopChild()
  }

  async #stopChild(): Promise<void> {
    const child = this.#child
    if (!child) return
    const { drainMs, unreadyMs } = this.#dependencies.config.timers
    child.kill('SIGTERM')
    const kill = setTimeout(() => child.kill('SIGKILL'), unreadyMs + drainMs + closingMs)
    await child.exited
    clearTimeout(kill)
  }

  /** Stops it gracefully and starts it again; resolves once it listens. Throws `StartError`. */
  async replace(): Promise<void> {
    this.#isReplacing = true
    clearTimeout(this.#restartTimer)
    try {
      await this.#stopChild()
      if (!this.#isStopping) await this.#run()
    } catch (thrown) {
      if (!this.#isStopping) this.#runLater()
      throw thrown
    } finally {
      this.#isReplacing = false
    }
  }

  /** Resolves with its port once it listens. Throws `StartError`. */
  #run(): Promise<number> {
    const startedAt = performance.now()
    const listening = Promise.withResolvers<number>()
    const watch = new WorkerWatch({
      maxSilent: maxSilentSeconds,
      maxStarting: maxStartSeconds,
      onHung: () => this.#onHung(),
    })
    const { relay } = this.#dependencies
    const child = this.#spawn((message) => {
      watch.onMessage()
      if (message.kind === 'reply') return this.#replies.onReply(message)
      if (message.kind === 'book') return void this.#book(message, send)
      if (message.kind !== 'listening') return relay.onMessage(message, send)
      watch.onListening()
      this.isListening = true
      listening.resolve(message.port)
    })
    // Of this process, not of the one that follows it.
    const send = (message: FromLauncher) => sendToWorker(child, message)
    this.#child = child
    void child.exited.then((code) => {
      watch[Symbol.dispose]()
      relay.onEnd(send)
      this.#replies.endAll()
      this.isListening = false
      this.#child = undefined
      // The worker has already printed the reason.
      listening.reject(new StartError(`Worker ${this.index} did not start.`))
      this.#ended(code, performance.now() - startedAt)
    })
    return listening.promise
  }

  async #book(
    { id, range }: { id: number; range: SettledRange },
    send: (message: FromLauncher) => boolean,
  ): Promise<void> {
    const { booker, dataDir } = this.#dependencies
    const directory = workerDirectory(dataDir, this.index)
    send({ kind: 'reply', id, value: await toBookingReply(booker.book({ directory, range })) })
  }

  /** Throws `StartError` if the system cannot start a process: no memory, no file handle. */
  #spawn(onMessage: (message: FromWorker) => void): Bun.Subprocess {
    try {
      return Bun.spawn(this.#dependencies.program.command, {
        env: environmentOf(this.index, { ...this.#dependencies, port: this.#port }),
        stdio: ['ignore', 'inherit', 'inherit'],
        ipc: (message) => {
          if (isFromWorker(message)) onMessage(message)
        },
      })
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new StartError(`Worker ${this.index} could not be spawned: ${why}.`, { cause })
    }
  }

  /** Kills it, as a process that hangs ends in no other way; `#ended` restarts it. */
  #onHung(): void {
    this.#dependencies.log.error({ worker: this.index }, 'a worker does not respond; killing it')
    this.#child?.kill('SIGKILL')
  }

  #ended(code: number, livedMs: number): void {
    if (this.#isStopping || this.#isReplacing || !this.#isProven) return
    if (livedMs >= stableMs) this.#delayMs = firstDelayMs
    this.restarts += 1
    const inMs = this.#runLater()
    const subject = { worker: this.index, code, inMs }
    this.#dependencies.log.error(subject, 'a worker terminated unexpectedly; restarting it')
  }

  /** Schedules the next attempt, each after a longer delay. Returns the delay. */
  #runLater(): number {
    const inMs = this.#delayMs
    this.#delayMs = Math.min(2 * inMs, maxDelayMs)
    this.#restartTimer = setTimeout(() => this.#restart(), inMs)
    return inMs
  }

  #restart(): void {
    try {
      // `#ended` reports a worker that ends before it listens.
      this.#run().catch(() => undefined)
    } catch (err) {
      const inMs = this.#runLater()
      const subject = { worker: this.index, err, inMs }
      this.#dependencies.log.error(subject, 'a worker could not be started; retrying')
    }
  }
}

function environmentOf(index: number, { dataDir, port }: Dependencies) {
  return {
    ...process.env,
    TOLLGATE_WORKER: String(index),
    TOLLGATE_LAUNCHER_PID: String(process.pid),
    DATA_DIR: dataDir,
    PORT: String(port),
  }
}
