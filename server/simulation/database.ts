import { Locks } from './locks'
import type { Random } from './random'
import type { Scheduler, SimulatedProcess } from './scheduler'
import { StatementError } from './statement-error'

/** A statement or transaction of the simulated database. */
export interface Statement<Result> {
  /** Rows that it locks one after the other, until it commits. */
  locks: readonly string[]
  /** Applies it at the moment of its commit. Throws without a change where the database would. */
  apply: () => Result
  /** The timeout for each lock at the server; of a transaction, for all of them together. */
  lockMs: number
  /** Set where further statements follow under its locks before they commit. */
  transaction?: Transaction
}

/** The rest of a transaction that has its locks. */
export interface Transaction {
  /** The time until its commit arrives, in milliseconds. */
  remainingMs: number
  /** Whether its client can send no more: then it stays open, with its locks, until the server ends it. */
  isGone: () => boolean
}

/** The client of a statement. */
export interface StatementClient {
  process: SimulatedProcess
  link: Link
  /** The time for which it waits for the answer; the driver's by default. Milliseconds. */
  timeoutMs?: number
}

/** The network between one node and the database. */
export interface Link {
  /** Latency one way, in milliseconds. */
  latencyMs: number
  /** The end of a network partition. */
  cutUntilMs: number
}

/** The probability of each fault of a message. */
export interface MessageFaults {
  lateStatement: number
  lostStatement: number
  lostAnswer: number
  repeatedStatement: number
  lostNotification: number
}

export const messageFaults = [
  'lateStatement',
  'lostStatement',
  'lostAnswer',
  'repeatedStatement',
  'lostNotification',
] as const satisfies readonly (keyof MessageFaults)[]

interface Execution {
  epoch: number
  isOver: boolean
}

const commitMs = { min: 0.3, max: 3 }
const maxLateMs = 15_000
/** Query timeout of the driver. */
const queryTimeoutMs = 6000

/**
 * PostgreSQL as seen by the money protocol: statements wait for row locks in turn, take effect when they
 * commit, and are answered later. It can be slow, frozen, unreachable or restarted; messages can be late, lost
 * and repeated.
 */
export class SimulatedDatabase {
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #locks = new Locks()
  readonly #listeners = new Set<{
    process: SimulatedProcess
    link: Link
    onMessage: (channel: string, payload: string) => void
  }>()
  readonly faults: MessageFaults = {
    lateStatement: 0,
    lostStatement: 0,
    lostAnswer: 0,
    repeatedStatement: 0,
    lostNotification: 0,
  }
  /** Frozen until then; received statements wait. */
  frozenUntilMs = 0
  /** Refuses connections until then. */
  refusesUntilMs = 0
  /** Confirms no commits until then. */
  commitsStallUntilMs = 0
  #epoch = 0
  /** The number of failovers. */
  #server = 0
  /** The time after which the server ends a transaction whose client has gone silently. Milliseconds. */
  idleTransactionMs = Infinity
  readonly counts = new Map<string, number>()

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler
    this.#random = random
  }

  /** Tells whether it answers. */
  get isReachable(): boolean {
    const { nowMs } = this.#scheduler
    return nowMs >= this.frozenUntilMs && nowMs >= this.refusesUntilMs
  }

  isLocked(resource: string): boolean {
    return this.#locks.isHeld(resource)
  }

  /** Locks a row for a while, as another program's transaction would. */
  lockFor(resource: string, ms: number): void {
    const owner = {}
    this.#locks.acquire(owner, resource, () => {
      this.#scheduler.after(ms, () => this.#locks.release(owner))
    })
  }

  /** Restarts: all running statements are rolled back, all connections break. */
  restart(): void {
    this.#epoch += 1
    this.#locks.clear()
  }

  /** Another server takes over: what is on its way to the one before does not reach this one. */
  failOver(): void {
    this.restart()
    this.#server += 1
  }

  listen(
    process: SimulatedProcess,
    link: Link,
    onMessage: (channel: string, payload: string) => void,
  ) {
    this.#listeners.add({ process, link, onMessage })
  }

  /** Notifies all listeners, as `NOTIFY` does at a commit. */
  notify(channel: string, payload: string): void {
    for (const listener of this.#listeners) {
      const { process, link, onMessage } = listener
      if (!process.isAlive) this.#listeners.delete(listener)
      if (this.#happens('lostNotification')) continue
      if (this.#scheduler.nowMs < link.cutUntilMs) continue
      this.#scheduler.after(this.#delay(link), () => onMessage(channel, payload), process)
    }
  }

  /** Sends a statement for a process. Rejects with `StatementError`, or another error where the outcome is unknown. */
  call<Result>(
    { process, link, timeoutMs = queryTimeoutMs }: StatementClient,
    statement: () => Statement<Result>,
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const scheduler = this.#scheduler
    const toClient = (answer: () => void) => {
      if (this.#happens('lostAnswer')) return
      scheduler.after(this.#transitMs(link), answer, process)
    }
    scheduler.after(timeoutMs, () => reject(new Error('query timeout')), process)
    const server = this.#server
    const fail = (error: Error) => toClient(() => reject(error))
    const succeed = (result: Result) => toClient(() => resolve(result))
    const arrive = () => {
      if (server === this.#server) this.#execute(statement, succeed, fail)
      else fail(new Error('connection ended'))
    }
    if (!this.#happens('lostStatement')) {
      const late = this.#happens('lateStatement') ? this.#random.next() * maxLateMs : 0
      scheduler.after(this.#transitMs(link) + late, arrive)
    }
    if (this.#happens('repeatedStatement')) {
      scheduler.after(this.#transitMs(link) + this.#random.next() * maxLateMs, arrive)
    }
    return promise
  }

  #happens(fault: keyof MessageFaults): boolean {
    const probability = this.faults[fault]
    if (probability === 0 || !this.#random.chance(probability)) return false
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1)
    return true
  }

  #delay({ latencyMs }: Link): number {
    return latencyMs * (0.8 + 0.4 * this.#random.next())
  }

  /** Delivers a message, later where the link is cut: packets are retransmitted until they get through. */
  #transitMs(link: Link): number {
    return Math.max(0, link.cutUntilMs - this.#scheduler.nowMs) + this.#delay(link)
  }

  #execute<Result>(
    statement: () => Statement<Result>,
    answer: (result: Result) => void,
    fail: (error: Error) => void,
  ): void {
    const { nowMs } = this.#scheduler
    if (nowMs < this.refusesUntilMs) {
      return fail(new StatementError('connection', 'ECONNREFUSED'))
    }
    if (nowMs < this.frozenUntilMs) {
      const waitMs = this.frozenUntilMs - nowMs
      return this.#scheduler.after(waitMs, () => this.#execute(statement, answer, fail))
    }
    const { locks, apply, lockMs, transaction } = statement()
    const execution: Execution = { epoch: this.#epoch, isOver: false }
    const end = (notify: () => void) => {
      if (execution.isOver) return
      execution.isOver = true
      this.#locks.release(execution)
      notify()
    }
    const committed = () =>
      end(() => {
        try {
          answer(apply())
        } catch (thrown) {
          fail(thrown instanceof Error ? thrown : new Error(String(thrown)))
        }
      })
    const failed = (error: Error) => end(() => fail(error))
    const commit = () =>
      this.#commit(execution, { commit: committed, fail, isWriting: locks.length > 0 })
    this.#lockAll(execution, [...locks], {
      lockMs,
      untilMs: transaction ? nowMs + lockMs : Infinity,
      locked: () => (transaction ? this.#continue(transaction, { commit, failed }) : commit()),
      failed,
    })
  }

  #continue(
    { remainingMs, isGone }: Transaction,
    { commit, failed }: { commit: () => void; failed: (error: Error) => void },
  ): void {
    const end = () => failed(new Error('idle in transaction'))
    this.#scheduler.after(remainingMs, () => {
      if (!isGone()) commit()
      else if (this.idleTransactionMs < Infinity) this.#scheduler.after(this.idleTransactionMs, end)
    })
  }

  #lockAll(
    execution: Execution,
    locks: string[],
    how: { lockMs: number; untilMs: number; locked: () => void; failed: (error: Error) => void },
  ): void {
    const next = locks.shift()
    if (next === undefined) return how.locked()
    let isWaiting = true
    this.#locks.acquire(execution, next, () => {
      isWaiting = false
      if (execution.isOver || execution.epoch !== this.#epoch) return
      this.#lockAll(execution, locks, how)
    })
    if (!isWaiting) return
    const waitMs = Math.min(how.lockMs, Math.max(0, how.untilMs - this.#scheduler.nowMs))
    this.#scheduler.after(waitMs, () => {
      if (!isWaiting || execution.isOver) return
      const isLost = execution.epoch !== this.#epoch
      how.failed(isLost ? new Error('connection ended') : new StatementError('timeout'))
    })
  }

  /** Applies the effect and releases the locks atomically: no other transaction sees one without the other. */
  #commit(
    execution: Execution,
    how: { commit: () => void; fail: (error: Error) => void; isWriting: boolean },
  ): void {
    const { commit, fail, isWriting } = how
    const waitMs = this.#random.between(commitMs)
    const attempt = () => {
      if (execution.epoch !== this.#epoch) return fail(new Error('connection ended'))
      const { nowMs } = this.#scheduler
      const readyMs = Math.max(this.frozenUntilMs, isWriting ? this.commitsStallUntilMs : 0)
      if (nowMs < readyMs) return this.#scheduler.after(readyMs - nowMs, attempt)
      commit()
    }
    this.#scheduler.after(waitMs, attempt)
  }
}
