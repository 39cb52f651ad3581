import type { AccountLeaseStore } from './account-lease-store'
import { CreditSignals } from './credit-signals'
import type { HeldAmount } from './held-amounts'
import { AccountCredit } from './account-credit'
import type { AccountCreditPorts } from './account-leases'
import type { LeaseReclaim } from './lease-reclaim'
import type { LeaseStore } from './lease-store'
import { idleMs, isIdle, isReturnable, returnableOf, type OwnedLease } from './owned-lease'
import type { LocalLease } from './local-lease'

export interface CreditManagerPorts extends Omit<AccountCreditPorts, 'store'> {
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
  heldAmount: bigint
}

/**
 * A lease that is locked for ten seconds is still renewed in half of its life: after that, others treat it as
 * lost.
 */
const renewEveryMs = 15_000
/** Costs are booked within seconds; while the database is unavailable, no lease ends either. */
const bookingMs = 120_000
const maxReturnsPerCall = 500

/** The credit of all accounts that have a lease on this node: renewed while in use, returned when idle. */
export class CreditManager {
  readonly #ports: CreditManagerPorts
  readonly #accounts = new Map<string, AccountCredit>()
  readonly #signals: CreditSignals
  /** Accounts whose reclaim could not be answered because a row was locked for too long: `tick` retries. */
  readonly #unansweredAccounts = new Set<string>()
  #renewedAtMs: number

  constructor(ports: CreditManagerPorts) {
    this.#ports = ports
    this.#signals = new CreditSignals(ports.pause)
    this.#renewedAtMs = ports.now().monotonicMs
  }

  /** The number of accounts with credit on this node. */
  get size(): number {
    return this.#accounts.size
  }

  /** Sums up all leases of this node. */
  totals(): LeaseTotals {
    const sum = { leases: 0, holds: 0, amount: 0n, spent: 0n, heldAmount: 0n }
    for (const { lease } of this.#all()) {
      sum.leases += 1
      sum.holds += lease.holds
      sum.amount += lease.amount
      sum.spent += lease.spent
      sum.heldAmount += lease.heldAmount
    }
    return sum
  }

  of(accountId: string): AccountCredit {
    let credit = this.#accounts.get(accountId)
    if (!credit) {
      const { newLeaseId, now, pause } = this.#ports
      credit = new AccountCredit({ store: this.#storeFor(accountId), newLeaseId, now, pause })
      this.#accounts.set(accountId, credit)
    }
    return credit
  }

  /** Returns all leases of this node. */
  leases(): LocalLease[] {
    return this.#all().map(({ lease }) => lease)
  }

  /** Returns the amount that running requests hold of each lease. */
  listHeld(): HeldAmount[] {
    return this.#all().map(({ lease: { leaseId, heldAmount } }) => ({
      leaseId,
      amount: heldAmount,
    }))
  }

  /** An account was credited, or credit was returned to it. */
  onCreditAdded(accountId: string): void {
    this.#accounts.get(accountId)?.onCreditAdded()
    this.#signals.wake(accountId)
  }

  /** Treats every account as credited, as notifications may have been missed. */
  onCreditMaybeAdded(): void {
    for (const accountId of this.#accounts.keys()) this.onCreditAdded(accountId)
  }

  /** Renews all leases with the next `tick`: the database may be another one, which does not have them as they are. */
  renewSoon(): void {
    this.#renewedAtMs = -Infinity
  }

  /** Another node is short: returns all credit that no running request holds, and reports that this is all. */
  async onReclaim({ accountId, at }: Pick<LeaseReclaim, 'accountId' | 'at'>): Promise<void> {
    const credit = this.#accounts.get(accountId)
    if (!credit) return
    credit.noteReclaim(at)
    if (credit.isWorking) {
      this.#signals.wake(accountId)
      return
    }
    const all = credit.leases.map((lease) => ({ accountId, credit, lease }))
    await credit.exclusively(async () => {
      for (const one of all) await this.#answerReclaim(one)
    })
  }

  /** Rejects on failure; `tick` retries. */
  async #answerReclaim(one: OwnedLease): Promise<void> {
    try {
      await this.#giveBackFree([one], { isSkipping: false })
    } catch (thrown) {
      this.#unansweredAccounts.add(one.accountId)
      throw thrown
    }
  }

  async #retryAnswer(): Promise<void> {
    const accounts = [...this.#unansweredAccounts]
    this.#unansweredAccounts.clear()
    const { onError } = this.#ports
    await Promise.all(
      accounts.map((accountId) => this.onReclaim({ accountId, at: 0n }).catch(onError)),
    )
  }

  /** Renews leases in use and returns idle ones. Called every second. Never rejects. */
  async tick(): Promise<void> {
    const now = this.#ports.now().monotonicMs
    try {
      if (now - this.#renewedAtMs >= renewEveryMs) {
        await this.#renew().then(() => (this.#renewedAtMs = now), this.#ports.onError)
      }
      await this.#fenceUnsure()
      await this.#retryAnswer()
      this.#rotate(now)
      const idle = this.#all().filter((one) => isIdle(one, now))
      for (let from = 0; from < idle.length; from += maxReturnsPerCall) {
        await this.#giveBack(idle.slice(from, from + maxReturnsPerCall))
      }
      this.#evictUnused(now)
    } catch (error) {
      this.#ports.onError(error)
    }
  }

  /** Returns all free credit on shutdown. */
  async giveBackAll(): Promise<void> {
    await this.#giveBack(this.#all())
  }

  #rotate(now: number): void {
    for (const credit of this.#accounts.values()) {
      const { currentLease } = credit
      if (currentLease && now - currentLease.begunAtMs >= this.#ports.rotateAfterMs) {
        credit.retire()
      }
    }
  }

  async #fenceUnsure(): Promise<void> {
    for (const { credit, lease } of this.#all()) {
      if (lease.isUnsure) await credit.exclusively(() => credit.fence(lease))
    }
  }

  #all(): OwnedLease[] {
    return [...this.#accounts].flatMap(([accountId, credit]) =>
      credit.leases.map((lease) => ({ accountId, credit, lease })),
    )
  }

  /** Returns credit of many accounts in one statement; other lease work of each waits for the answer. */
  async #giveBack(all: readonly OwnedLease[]): Promise<void> {
    const { promise: whenAnswered, resolve } = Promise.withResolvers<void>()
    const returnableLeases = all.filter(({ credit, lease }) => {
      if (!isReturnable(lease)) return false
      return credit.exclusively(() => whenAnswered) !== undefined
    })
    try {
      await this.#giveBackFree(returnableLeases, { isSkipping: true })
    } finally {
      resolve()
    }
  }

  async #giveBackFree(
    all: readonly OwnedLease[],
    { isSkipping }: { isSkipping: boolean },
  ): Promise<void> {
    const sure = all.filter(({ lease }) => !lease.isUnsure)
    for (const isLast of [true, false]) {
      const chosenLeases = sure.filter(({ lease }) => (lease.heldAmount === 0n) === isLast)
      if (chosenLeases.length > 0) await this.#return(chosenLeases, { isLast, isSkipping })
    }
  }

  async #return(
    chosenLeases: readonly OwnedLease[],
    options: { isLast: boolean; isSkipping: boolean },
  ): Promise<void> {
    const { store } = this.#ports
    const returnables = chosenLeases.map(({ credit, lease }) => ({
      credit,
      lease,
      amount: returnableOf(lease),
    }))
    const returns = returnables.map(({ credit, lease: { leaseId, generation }, amount }) => {
      return { leaseId, generation, amount, lastReclaim: credit.lastReclaim }
    })
    // Subtracted before the call: without an answer the same credit must not be spent twice.
    for (const { credit, lease, amount } of returnables) {
      lease.amount -= amount
      if (amount > 0n) credit.noteReturn()
    }
    try {
      const answers = await store.giveBack(returns, options)
      for (const { credit, lease, amount } of returnables) {
        const answer = answers.get(lease.leaseId)
        if (!answer) lease.amount += amount
        else if (answer.isActive && !this.#isAbandoned(lease, options)) lease.adopt(answer)
        else credit.drop(lease)
      }
    } catch (thrown) {
      for (const { lease, amount } of returnables) {
        if (store.isUndone(thrown)) lease.amount += amount
        else lease.isUnsure = true
      }
      throw thrown
    }
  }

  /** A cost of it was never booked, or it would have ended: it is left to expire. */
  #isAbandoned(lease: LocalLease, { isLast }: { isLast: boolean }): boolean {
    return isLast && this.#ports.now().monotonicMs - lease.settledAtMs >= bookingMs
  }

  async #renew(): Promise<void> {
    const requestedAt = this.#ports.now()
    const renewals = this.#all().map(({ credit, lease }) => {
      return { credit, lease, generation: lease.generation, isBusy: credit.isWorking }
    })
    if (renewals.length === 0) return
    const answers = await this.#ports.store.renew(renewals.map(({ lease }) => lease.leaseId))
    for (const { credit, lease, generation, isBusy } of renewals) {
      const renewedLease = answers.get(lease.leaseId)
      // Lease work that ran meanwhile has the newer state of the lease.
      const isOlder = isBusy || credit.isWorking || lease.generation !== generation
      if (renewedLease && isOlder) lease.prolong(requestedAt)
      else if (renewedLease) lease.confirm(renewedLease, requestedAt)
      else if (!isOlder && !lease.isUnsure) credit.drop(lease)
    }
  }

  #evictUnused(now: number): void {
    for (const [accountId, credit] of this.#accounts) {
      const isUnused = now - credit.lastUsedMs >= idleMs
      if (credit.leases.length === 0 && !credit.isWorking && isUnused)
        this.#accounts.delete(accountId)
    }
  }

  #storeFor(accountId: string): AccountLeaseStore {
    const { store } = this.#ports
    return {
      take: (lease) => store.take({ accountId, ...lease }),
      fence: (lease) => store.fence({ accountId, ...lease }),
      renew: async (leaseId) => (await store.renew([leaseId])).get(leaseId),
      creditWithin: (ms) => this.#signals.within(accountId, ms),
      release: (lease) => this.#release(accountId, lease),
      isUndone: (thrown) => store.isUndone(thrown),
      isAlive: () => store.isAlive(),
      get roundTripMs() {
        return store.roundTripMs
      },
    }
  }

  async #release(accountId: string, lease: LocalLease): Promise<void> {
    await this.#answerReclaim({ accountId, credit: this.of(accountId), lease }).catch(
      this.#ports.onError,
    )
  }
}
