import type { Deadline } from '../upstream/deadline'
import type { Drain } from '../upstream/stream-bounds'
import { systemClock, type Clock } from '../platform/clock'
import { ClientDisconnected } from '../wire/chunk-stream'

interface Options {
  /** At once, in this process; an account has half of them. */
  max: number
  /** The time limit of each. */
  lifeMs: number
  clock?: Clock
}

/** The work of an account's drains that is available at once, and the part of each millisecond that is added. */
const maxWorkMs = 2000
const workPerMs = 1 / 20
/** Decoded bytes that count as a millisecond of work: decompressing them is not visible as work here. */
const bytesPerWorkMs = 32 * 1024

/** The work that an account's drains have left. */
interface Account {
  running: number
  workMs: number
  atMs: number
}

/** A drain that was begun; to be disposed of when it is settled. */
export interface RunningDrain extends Drain, Disposable {}

/**
 * The answers that are drained although their clients have disconnected, as their providers bill all of them anyway.
 * They belong to no client connection, so they are counted and timed here: together, and by account, as no client
 * waits for an upstream that floods.
 */
export class UsageDrainPool {
  readonly #options: Options
  readonly #clock: Clock
  readonly #running = new Map<Disposable, Deadline>()
  /** Those that have drains, or have not all of their work left. */
  readonly #accounts = new Map<string, Account>()
  #isClosed = false
  #emptied: PromiseWithResolvers<void> | undefined

  constructor(options: Options) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  get size(): number {
    return this.#running.size
  }

  /** The number of accounts in memory. */
  get accounts(): number {
    return this.#accounts.size
  }

  /**
   * Permits an account's attempt to continue until it is disposed of, at most for its time and for the work that the
   * account has left; then its deadline is cancelled. Undefined where too many continue already, or the process
   * stops.
   */
  begin(deadline: Deadline, accountId: string): RunningDrain | undefined {
    const { max, lifeMs } = this.#options
    if (this.#isClosed || this.#running.size >= max) return undefined
    const account = this.#accountOf(accountId)
    if (2 * account.running >= max || account.workMs <= 0) return undefined
    const end = () => deadline.cancel(new ClientDisconnected())
    const timer = this.#clock.after(lifeMs, end)
    const drain: RunningDrain = {
      work: (ms, bytes) => {
        this.#refill(account)
        account.workMs -= Math.max(ms, bytes / bytesPerWorkMs)
        if (account.workMs <= 0) end()
      },
      [Symbol.dispose]: () => {
        timer[Symbol.dispose]()
        if (!this.#running.delete(drain)) return
        account.running -= 1
        if (this.#running.size === 0) this.#emptied?.resolve()
      },
    }
    account.running += 1
    this.#running.set(drain, deadline)
    return drain
  }

  #accountOf(accountId: string): Account {
    // An account that has been idle long enough equals a new one.
    for (const [id, account] of this.#accounts) {
      this.#refill(account)
      if (account.running === 0 && account.workMs === maxWorkMs) this.#accounts.delete(id)
    }
    let account = this.#accounts.get(accountId)
    if (!account) {
      account = { running: 0, workMs: maxWorkMs, atMs: this.#clock.monotonicMs() }
      this.#accounts.set(accountId, account)
    }
    return account
  }

  #refill(account: Account): void {
    const now = this.#clock.monotonicMs()
    account.workMs = Math.min(maxWorkMs, account.workMs + (now - account.atMs) * workPerMs)
    account.atMs = now
  }

  /** Ends all of them: the process stops. Resolves when their use is recorded. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#emptied ??= Promise.withResolvers()
    for (const deadline of this.#running.values()) deadline.cancel(new ClientDisconnected())
    if (this.#running.size > 0) await this.#emptied.promise
  }
}
