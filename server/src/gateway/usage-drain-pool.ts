import type { Deadline } from '../routing/deadline'
import type { Drain } from '../routing/stream-bounds'
import { ClientGone } from '../wire/chunk-stream'

interface Options {
  /** At once, in this process; an account has half of them. */
  max: number
  /** How long each may take. */
  lifeMs: number
  /** Monotonic milliseconds. */
  now?: () => number
}

/** Work of an account's drains that is there at once, and how much of each millisecond is added. */
const maxWorkMs = 2000
const workPerMs = 1 / 20
/** Decoded bytes that count as a millisecond of work: what decompresses them is not seen at work. */
const bytesPerWorkMs = 32 * 1024

/** What an account has left of the work that its drains may make. */
interface Account {
  running: number
  workMs: number
  atMs: number
}

/** A drain that was begun; to be disposed of when it is settled. */
export interface RunningDrain extends Drain, Disposable {}

/**
 * The answers that are read to their end though their callers have gone, as their providers bill all
 * of them anyway. They belong to no connection, so they are counted and timed here: together, and by
 * account, as an upstream that floods works for nobody.
 */
export class UsageDrainPool {
  readonly #options: Options
  readonly #now: () => number
  readonly #running = new Map<Disposable, Deadline>()
  /** Those that have drains, or have not all of their work left. */
  readonly #accounts = new Map<string, Account>()
  #isClosed = false
  #emptied: PromiseWithResolvers<void> | undefined

  constructor(options: Options) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  get size(): number {
    return this.#running.size
  }

  /** How many accounts are remembered. */
  get accounts(): number {
    return this.#accounts.size
  }

  /**
   * Leave to go on with an account's attempt until it is disposed of, at most for its time and for the
   * work that the account has left; then its deadline is cancelled. Undefined where too many go on
   * already, or the process stops.
   */
  begin(deadline: Deadline, accountId: string): RunningDrain | undefined {
    const { max, lifeMs } = this.#options
    if (this.#isClosed || this.#running.size >= max) return undefined
    const account = this.#accountOf(accountId)
    if (2 * account.running >= max || account.workMs <= 0) return undefined
    const end = () => deadline.cancel(new ClientGone())
    const timer = setTimeout(end, lifeMs)
    const drain: RunningDrain = {
      work: (ms, bytes) => {
        this.#refill(account)
        account.workMs -= Math.max(ms, bytes / bytesPerWorkMs)
        if (account.workMs <= 0) end()
      },
      [Symbol.dispose]: () => {
        clearTimeout(timer)
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
    // What has been idle long enough is as one that is new.
    for (const [id, account] of this.#accounts) {
      this.#refill(account)
      if (account.running === 0 && account.workMs === maxWorkMs) this.#accounts.delete(id)
    }
    let account = this.#accounts.get(accountId)
    if (!account) {
      account = { running: 0, workMs: maxWorkMs, atMs: this.#now() }
      this.#accounts.set(accountId, account)
    }
    return account
  }

  #refill(account: Account): void {
    const now = this.#now()
    account.workMs = Math.min(maxWorkMs, account.workMs + (now - account.atMs) * workPerMs)
    account.atMs = now
  }

  /** Ends all of them: the process stops. Resolves when what they used is written down. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#emptied ??= Promise.withResolvers()
    for (const deadline of this.#running.values()) deadline.cancel(new ClientGone())
    if (this.#running.size > 0) await this.#emptied.promise
  }
}
