import { SimulatedDatabase, type Link, type Statement, type StatementClient } from '../database'
import type { Random } from '../random'
import type { Scheduler, SimulatedProcess } from '../scheduler'

interface Listener {
  process: SimulatedProcess
  link: Link
  onMessage: (channel: string, payload: string) => void
}

type Message = readonly [channel: string, payload: string]

/** The pool of one process: `DATABASE_POOL_SIZE` by default. */
const poolSize = 10

class Pool {
  #free = poolSize
  readonly #waiting: (() => void)[] = []

  /** The statements that wait for a connection. */
  get waiting(): number {
    return this.#waiting.length
  }

  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await call()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free += 1
    }
  }
}

/**
 * The simulated database with many nodes: each process has a pool of connections, and what is notified at one moment
 * reaches all nodes at one distance together.
 */
export class RegionalDatabase extends SimulatedDatabase {
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #pools = new WeakMap<SimulatedProcess, Pool>()
  /** By their distance, in milliseconds. */
  readonly #listeners = new Map<number, Set<Listener>>()
  #notified: Message[] = []
  /** Messages to nodes so far: one for each notification and each listening node. */
  messages = 0
  /** The most statements of a process that waited for a connection. */
  maxWaiting = 0

  constructor(scheduler: Scheduler, random: Random) {
    super(scheduler, random)
    this.#scheduler = scheduler
    this.#random = random
  }

  override call<Result>(
    client: StatementClient,
    statement: () => Statement<Result>,
  ): Promise<Result> {
    const { process } = client
    let pool = this.#pools.get(process)
    if (!pool) this.#pools.set(process, (pool = new Pool()))
    const answer = pool.run(() => super.call(client, statement))
    this.maxWaiting = Math.max(this.maxWaiting, pool.waiting)
    return answer
  }

  override listen(process: SimulatedProcess, link: Link, onMessage: Listener['onMessage']): void {
    const near = this.#listeners.get(link.latencyMs) ?? new Set()
    this.#listeners.set(link.latencyMs, near.add({ process, link, onMessage }))
  }

  override notify(channel: string, payload: string): void {
    this.#notified.push([channel, payload])
    if (this.#notified.length === 1) this.#scheduler.after(0, () => this.#deliver())
  }

  #deliver(): void {
    const messages = this.#notified
    this.#notified = []
    for (const [latencyMs, listeners] of this.#listeners) {
      const sentMs = this.#scheduler.nowMs
      const delayMs = latencyMs * (0.8 + 0.4 * this.#random.next())
      this.#scheduler.after(delayMs, () => {
        for (const one of listeners) {
          if (!one.process.isAlive) listeners.delete(one)
          else if (sentMs >= one.link.cutUntilMs) this.#receive(one, messages)
        }
      })
    }
  }

  #receive({ process, onMessage }: Listener, messages: readonly Message[]): void {
    this.messages += messages.length
    this.#scheduler.runAs(process, () => {
      for (const [channel, payload] of messages) onMessage(channel, payload)
    })
  }
}
