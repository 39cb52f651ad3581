import type { Clocks, ShareDemand } from './window-share'
import type { WindowUsage } from './window-usage'
import { unavailable } from '../errors'
import type { ShareUnit } from '../ledger/shares/grant-share'
import type { DecideShares, SharedUsage, ShareMoment } from '../ledger/shares/share-exchange'
import type { UsedBy } from '../ledger/window-sums'

/** The ports of exchanges of shares. */
export interface SharePorts {
  nodeId: string
  /** Exchanges shares with the database; they count once it resolves. It has a timeout of its own. */
  exchange: (usages: readonly SharedUsage[], decide: DecideShares) => Promise<void>
  clocks: () => Clocks
  sleep: (ms: number) => Promise<void>
  /** Settles as a promise does, or rejects when a request has waited for it long enough. */
  withTimeout: (promise: Promise<void>) => Promise<void>
  /** The longest wait of a request for other nodes, while the database answers. Milliseconds. */
  maxWaitMs: () => number
  onError: (error: unknown) => void
}

/** A request's demand on shares: the same amount of each. */
interface Demand<Result> {
  usages: readonly WindowUsage[]
  unit: ShareUnit
  full: bigint
  /**
   * Takes from the shares; undefined where they do not suffice. Where that is final, it takes less or refuses.
   */
  attempt: (isFinal: boolean) => { result: Result } | undefined
}

/** The usages of one exchange: they are locked for its time. */
const maxBatch = 50
const retryAfterMs = 1000
const firstPauseMs = 2
const maxPauseMs = 50

/**
 * Exchanges shares of limits with the database: one exchange at a time, whose usages and requests meanwhile share the
 * next one.
 */
export class ShareExchanges {
  readonly #ports: SharePorts
  readonly #pending = new Map<WindowUsage, PromiseWithResolvers<void>>()
  #isRunning = false
  #failedAtMs = -Infinity

  constructor(ports: SharePorts) {
    this.#ports = ports
  }

  get clocks(): () => Clocks {
    return this.#ports.clocks
  }

  /**
   * Takes from shares that did not suffice: exchanges them, and waits for other nodes to give back what they do not use.
   * Rejects with `gateway_unavailable` where the database does not answer.
   */
  async obtain<Result>({ usages, unit, full, attempt }: Demand<Result>): Promise<Result> {
    const { clocks, sleep, maxWaitMs, withTimeout } = this.#ports
    const startedMs = clocks().monotonicMs
    if (startedMs - this.#failedAtMs < retryAfterMs) throw unavailable()
    const demand: ShareDemand = { unit, full, turn: undefined }
    for (const { share } of usages) share.waiting.add(demand)
    try {
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
        await withTimeout(this.request(usages)).catch((cause: unknown) => {
          throw unavailable(cause)
        })
        const outcome = attempt(false)
        if (outcome) return outcome.result
        const isOver = clocks().monotonicMs - startedMs >= maxWaitMs()
        if (isOver) for (const { share } of usages) share.noteSilent(demand)
        const short = usages.filter((usage) => usage.freeOf(unit, clocks()) < full)
        if (isOver || short.every(({ share }) => share.isCertain)) {
          const finalOutcome = attempt(true)
          if (finalOutcome) return finalOutcome.result
        }
        await sleep(pauseMs)
      }
    } finally {
      for (const { share } of usages) share.waiting.delete(demand)
      // Others may wait for this node to say that it waits no more.
      this.requestSoon(usages.filter(({ share }) => share.isWaitingStated))
    }
  }

  /** Resolves once the shares were exchanged after this call; rejects as the database does. */
  async request(usages: readonly WindowUsage[]): Promise<void> {
    const exchanges = usages.map((usage) => {
      const pending = this.#pending.get(usage) ?? Promise.withResolvers<void>()
      this.#pending.set(usage, pending)
      return pending.promise
    })
    if (!this.#isRunning) void this.#run()
    await Promise.all(exchanges)
  }

  /** Exchanges shares while the caller goes on. */
  requestSoon(usages: readonly WindowUsage[]): void {
    if (usages.length > 0) this.request(usages).catch(() => undefined)
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#isRunning = true
    // Requests of the same moment share an exchange.
    await Promise.resolve()
    while (this.#pending.size > 0) {
      const batch = new Map([...this.#pending].slice(0, maxBatch))
      for (const usage of batch.keys()) this.#pending.delete(usage)
      const failure = await this.#exchange([...batch.keys()])
      // An awaited rejection of one is no unhandled rejection of another.
      for (const { promise } of batch.values()) promise.catch(() => undefined)
      for (const { resolve, reject } of batch.values()) {
        if (failure) reject(failure.cause)
        else resolve()
      }
    }
    // In the same turn: a request of the next one would wait for ever.
    this.#isRunning = false
  }

  /** Returns the failure, if it failed. Never rejects. */
  async #exchange(usages: readonly WindowUsage[]): Promise<{ cause: unknown } | undefined> {
    const { exchange, clocks, onError } = this.#ports
    const sharedUsages = usages.map(toShared)
    const sentAt = clocks()
    const applications: (() => void)[] = []
    try {
      await exchange(sharedUsages, (moment) => {
        const decisions = usages.map((usage, at) =>
          this.#decide(usage, { window: sharedUsages[at]?.window, moment, sentAt }),
        )
        applications.push(...decisions.flatMap((decision) => (decision ? [decision.apply] : [])))
        return decisions
      })
    } catch (cause) {
      this.#failedAtMs = clocks().monotonicMs
      onError(cause)
      return { cause }
    }
    for (const apply of applications) apply()
    return undefined
  }

  #decide(
    usage: WindowUsage,
    {
      window,
      moment,
      sentAt,
    }: { window: UsedBy['window'] | undefined; moment: ShareMoment; sentAt: Clocks },
  ) {
    const sum = moment.sums.get(usage.id)
    // The next window began meanwhile.
    if (!sum || window?.fromMs !== usage.window.fromMs) return undefined
    usage.take(window, sum, moment.bookedIds)
    usage.setTime(this.#ports.clocks().wallMs)
    const { bookedAmounts, used, share } = usage
    const { turn, nowMs } = moment
    const shares = moment.shares.get(usage.id) ?? []
    const { nodeId } = this.#ports
    const decision = share.decide({ bookedAmounts, used, nodeId, shares, turn, nowMs, sentAt })
    const decidedIn = window.fromMs
    return {
      ...decision,
      apply: () => {
        if (usage.window.fromMs === decidedIn) decision.apply()
      },
    }
  }
}

/** Copies the use as it is now, as its window may be another one later; its events are read when it is locked. */
const toShared = (usage: WindowUsage): SharedUsage => {
  const { id, subjectId, userId, organizationId, filter, payments, window } = usage
  return {
    id,
    subjectId,
    userId,
    organizationId,
    filter,
    payments,
    window,
    get unbooked() {
      return usage.unbooked
    },
  }
}
