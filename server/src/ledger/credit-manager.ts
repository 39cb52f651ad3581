import type { AccountLeaseStore } from './account-lease-store'
import { CreditSignals } from './credit-signals'
import type { HeldAmount } from './held-amounts'
import { AccountCredit, type AccountCreditPorts } from './account-credit'
import type { LeaseStore } from './lease-store'
import { idleMs, isIdle, isReturnable, returnableOf, type OwnedLease } from './owned-lease'
import type { LocalLease } from './local-lease'

export interface CreditManagerPorts extends Omit<AccountCreditPorts, 'bank'> {
  nodeId: string
  store: LeaseStore
  /** A lease older than this is replaced, and ends with its last request. */
  rotateAfterMs: number
  onError: (error: unknown) => void
}

/** Totals over a node's leases, in nano-dollars. Credit that is neither spent nor held is free. */
export interface LeaseTotals {
  leases: number
  holds: number
  amount: bigint
  spent: bigint
  held: bigint
}

/**
 * A lease that is locked for ten seconds is still renewed in half of its life: after that, others treat it as
 * lost.
 */
const renewEveryMs = 15_000
/** Costs are booked within seconds; while the database is unavailable, no lease ends either. */
const bookingMs = 120_000
const mostReturnsAtOnce = 500

/** The credit of all accounts that have a lease on this node: renewed while in use, returned when idle. */
export class CreditManager {
  readonly #ports: CreditManagerPorts
  readonly #purses = new Map<string, AccountCredit>()
  readonly #signals: CreditSignals
  /** Accounts whose reclaim could not be answered because a row was locked for too long: `tick` retries. */
  readonly #unanswered = new Set<string>()
  #renewedAtMs: number

  constructor(ports: CreditManagerPorts) {
    this.#ports = ports
    this.#signals = new CreditSignals(ports.pause)
    this.#renewedAtMs = ports.now().monotonicMs
  }

  /** The number of accounts with credit on this node. */
  get size(): number {
    return this.#purses.size
  }

  /** Sums up all leases of this node. */
  totals(): LeaseTotals {
    const sum = { leases: 0, holds: 0, amount: 0n, spent: 0n, held: 0n }
    for (const { slice } of this.#all()) {
      sum.leases += 1
      sum.holds += slice.holds
      sum.amount += slice.amount
      sum.spent += slice.spent
      sum.held += slice.held
    }
    return sum
  }

  of(accountId: string): AccountCredit {
    let purse = this.#purses.get(accountId)
    if (!purse) {
      const { newLeaseId, now, pause } = this.#ports
      purse = new AccountCredit({ bank: this.#bankOf(accountId), newLeaseId, now, pause })
      this.#purses.set(accountId, purse)
    }
    return purse
  }

  /** Returns all leases of this node. */
  slices(): LocalLease[] {
    return this.#all().map(({ slice }) => slice)
  }

  /** Returns the amount that running requests hold of each lease. */
  held(): HeldAmount[] {
    return this.#all().map(({ slice: { leaseId, held } }) => ({ leaseId, held }))
  }

  /** An account was credited, or credit was returned to it. */
  onCreditAdded(accountId: string): void {
    this.#purses.get(accountId)?.onCreditAdded()
    this.#signals.wake(accountId)
  }

  /** Treats every account as credited, as notifications may have been missed. */
  onCreditMaybeAdded(): void {
    for (const accountId of this.#purses.keys()) this.onCreditAdded(accountId)
  }

  /** Another node is short: returns all credit that no running request holds, and reports that this is all. */
  async onReclaim(accountId: string): Promise<void> {
    const purse = this.#purses.get(accountId)
    if (!purse) return
    purse.noteReclaim()
    if (purse.isWorking) {
      this.#signals.wake(accountId)
      return
    }
    const all = purse.slices.map((slice) => ({ accountId, purse, slice }))
    await purse.exclusively(async () => {
      for (const one of all) await this.#answerRecall(one)
    })
  }

  /** Rejects on failure; `tick` retries. */
  async #answerRecall(one: OwnedLease): Promise<void> {
    try {
      await this.#giveBackFree([one], { isSkipping: false })
    } catch (thrown) {
      this.#unanswered.add(one.accountId)
      throw thrown
    }
  }

  async #answerAgain(): Promise<void> {
    const accounts = [...this.#unanswered]
    this.#unanswered.clear()
    const { onError } = this.#ports
    await Promise.all(accounts.map((accountId) => this.onReclaim(accountId).catch(onError)))
  }

  /** Renews leases in use and returns idle ones. Called every second. Never rejects. */
  async tick(): Promise<void> {
    const now = this.#ports.now().monotonicMs
    try {
      if (now - this.#renewedAtMs >= renewEveryMs) {
        await this.#renew().then(() => (this.#renewedAtMs = now), this.#ports.onError)
      }
      await this.#fenceUnsure()
      await this.#answerAgain()
      this.#rotate(now)
      const idle = this.#all().filter((one) => isIdle(one, now))
      for (let from = 0; from < idle.length; from += mostReturnsAtOnce) {
        await this.#giveBack(idle.slice(from, from + mostReturnsAtOnce))
      }
      this.#forget(now)
    } catch (error) {
      this.#ports.onError(error)
    }
  }

  /** Returns all free credit on shutdown. */
  async giveBackAll(): Promise<void> {
    await this.#giveBack(this.#all())
  }

  #rotate(now: number): void {
    for (const purse of this.#purses.values()) {
      const { slice } = purse
      if (slice && now - slice.begunAtMs >= this.#ports.rotateAfterMs) purse.retire()
    }
  }

  async #fenceUnsure(): Promise<void> {
    for (const { purse, slice } of this.#all()) {
      if (slice.isUnsure) await purse.exclusively(() => purse.fence(slice))
    }
  }

  #all(): OwnedLease[] {
    return [...this.#purses].flatMap(([accountId, purse]) =>
      purse.slices.map((slice) => ({ accountId, purse, slice })),
    )
  }

  /** Returns credit of many accounts in one statement; other lease work of each waits for the answer. */
  async #giveBack(all: readonly OwnedLease[]): Promise<void> {
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    const chosen = all.filter(({ purse, slice }) => {
      if (!isReturnable(slice)) return false
      return purse.exclusively(() => answered) !== undefined
    })
    try {
      await this.#giveBackFree(chosen, { isSkipping: true })
    } finally {
      resolve()
    }
  }

  async #giveBackFree(
    all: readonly OwnedLease[],
    { isSkipping }: { isSkipping: boolean },
  ): Promise<void> {
    const sure = all.filter(({ slice }) => !slice.isUnsure)
    for (const isLast of [true, false]) {
      const chosen = sure.filter(({ slice }) => (slice.held === 0n) === isLast)
      if (chosen.length > 0) await this.#return(chosen, { isLast, isSkipping })
    }
  }

  async #return(
    chosen: readonly OwnedLease[],
    options: { isLast: boolean; isSkipping: boolean },
  ): Promise<void> {
    const { store } = this.#ports
    const parts = chosen.map(({ purse, slice }) => ({ purse, slice, amount: returnableOf(slice) }))
    const returns = parts.map(({ slice: { leaseId, generation }, amount }) => {
      return { leaseId, generation, amount }
    })
    // Subtracted before the call: without an answer the same credit must not be spent twice.
    for (const { purse, slice, amount } of parts) {
      slice.amount -= amount
      if (amount > 0n) purse.noteReturn()
    }
    try {
      const answers = await store.giveBack(returns, options)
      for (const { purse, slice, amount } of parts) {
        const answer = answers.get(slice.leaseId)
        if (!answer) slice.amount += amount
        else if (answer.isActive && !this.#isAbandoned(slice, options)) slice.adopt(answer)
        else purse.drop(slice)
      }
    } catch (thrown) {
      for (const { slice, amount } of parts) {
        if (store.isUndone(thrown)) slice.amount += amount
        else slice.isUnsure = true
      }
      throw thrown
    }
  }

  /** A cost of it was never booked, or it would have ended: it is left to expire. */
  #isAbandoned(slice: LocalLease, { isLast }: { isLast: boolean }): boolean {
    return isLast && this.#ports.now().monotonicMs - slice.settledAtMs >= bookingMs
  }

  async #renew(): Promise<void> {
    const askedAt = this.#ports.now()
    const asked = this.#all().map(({ purse, slice }) => {
      return { purse, slice, generation: slice.generation, isBusy: purse.isWorking }
    })
    if (asked.length === 0) return
    const still = await this.#ports.store.renew(asked.map(({ slice }) => slice.leaseId))
    for (const { purse, slice, generation, isBusy } of asked) {
      const renewed = still.get(slice.leaseId)
      // Lease work that ran meanwhile has the newer state of the lease.
      const isOlder = isBusy || purse.isWorking || slice.generation !== generation
      if (renewed && isOlder) slice.prolong(askedAt)
      else if (renewed) slice.confirm(renewed, askedAt)
      else if (!isOlder && !slice.isUnsure) purse.drop(slice)
    }
  }

  #forget(now: number): void {
    for (const [accountId, purse] of this.#purses) {
      const isUnused = now - purse.lastUsedMs >= idleMs
      if (purse.slices.length === 0 && !purse.isWorking && isUnused) this.#purses.delete(accountId)
    }
  }

  #bankOf(accountId: string): AccountLeaseStore {
    const { store } = this.#ports
    return {
      take: (slice) => store.take({ accountId, ...slice }),
      fence: (slice) => store.fence({ accountId, ...slice }),
      renew: async (leaseId) => (await store.renew([leaseId])).get(leaseId),
      creditWithin: (ms) => this.#signals.within(accountId, ms),
      release: (slice) => this.#release(accountId, slice),
      withdraw: () => store.withdraw(accountId).catch(this.#ports.onError),
      isUndone: (thrown) => store.isUndone(thrown),
      isAlive: () => store.isAlive(),
      get roundTripMs() {
        return store.roundTripMs
      },
    }
  }

  async #release(accountId: string, slice: LocalLease): Promise<void> {
    await this.#answerRecall({ accountId, purse: this.of(accountId), slice }).catch(
      this.#ports.onError,
    )
  }
}
