import type { Bank } from './bank'
import type { Held } from './held'
import { Purse, type PursePorts } from './purse'
import type { Return } from './return-leases'
import type { Slice } from './slice'
import type { Lease, LeaseWanted } from './take-lease'

/** The ledger's database, as one node sees it. Every call has a deadline, and rejects beyond it. */
export interface LeaseStore {
  take: (wanted: LeaseWanted) => Promise<Lease>
  find: (leaseId: string) => Promise<bigint | undefined>
  recall: (accountId: string) => Promise<void>
  /** Resolves with the leases that shrank. */
  giveBack: (returns: readonly Return[], options: { isLast: boolean }) => Promise<Set<string>>
  /** Resolves with the leases that still are. */
  renew: (leaseIds: readonly string[]) => Promise<Set<string>>
}

export interface PursesPorts extends Omit<PursePorts, 'bank'> {
  nodeId: string
  store: LeaseStore
  /** A lease that is older is replaced, and ends when its last request has. */
  rotateAfterMs: number
  onError: (error: unknown) => void
}

/** What a node has of leases; amounts in nano-dollars. What is not spent and not held is free. */
export interface SliceTotals {
  leases: number
  holds: number
  amount: bigint
  spent: bigint
  held: bigint
}

const idleMs = 30_000
const renewEveryMs = 20_000
const mostReturnsAtOnce = 500

interface Idle {
  accountId: string
  purse: Purse
  slice: Slice
}

/**
 * The account is not used; or the slice is retired and has something free, or ends: its last cost
 * should be booked by now.
 */
function isIdle({ purse, slice }: Idle, now: number): boolean {
  if (now - purse.lastUsedMs >= idleMs) return true
  if (slice === purse.slice) return false
  return slice.held > 0n ? slice.free > 0n : now - slice.settledAtMs >= idleMs
}

/** Whether there is anything to give back, a lease without amount included. */
const isReturnable = ({ isUnsure, free, held }: Slice) =>
  !isUnsure && (free > 0n || (free === 0n && held === 0n))

/** All accounts that have a slice on this node: renewed while in use, given back when idle. */
export class Purses {
  readonly #ports: PursesPorts
  readonly #purses = new Map<string, Purse>()
  readonly #awaiting = new Map<string, Set<() => void>>()
  #renewedAtMs: number

  constructor(ports: PursesPorts) {
    this.#ports = ports
    this.#renewedAtMs = ports.now().monotonicMs
  }

  /** How many accounts have a purse here. */
  get size(): number {
    return this.#purses.size
  }

  /** All slices of this node together. */
  totals(): SliceTotals {
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

  of(accountId: string): Purse {
    let purse = this.#purses.get(accountId)
    if (!purse) {
      const { newLeaseId, now, pause } = this.#ports
      purse = new Purse({ bank: this.#bankOf(accountId), newLeaseId, now, pause })
      this.#purses.set(accountId, purse)
    }
    return purse
  }

  /** What running requests hold of each lease. */
  held(): Held[] {
    return this.#all().map(({ slice: { leaseId, held } }) => ({ leaseId, held }))
  }

  /** Something came to an account, or was given back to it. */
  creditCame(accountId: string): void {
    this.#purses.get(accountId)?.creditCame()
    this.#wake(accountId)
  }

  /** Notifications may have been missed. */
  creditMayHaveCome(): void {
    for (const accountId of this.#purses.keys()) this.creditCame(accountId)
  }

  /** Node `by` is short: whatever no running request holds goes back, soon. */
  async recalled(accountId: string, by: string): Promise<void> {
    const purse = this.#purses.get(accountId)
    if (!purse) return
    if (purse.isWorking) {
      purse.recalledMeanwhile({ mustGiveWay: by < this.#ports.nodeId })
      this.#wake(accountId)
      return
    }
    for (const slice of purse.slices) await this.#giveBack([{ accountId, purse, slice }])
  }

  /** To be called every second. Renews what is in use and gives back what is not. Never rejects. */
  async tick(): Promise<void> {
    const now = this.#ports.now().monotonicMs
    try {
      if (now - this.#renewedAtMs >= renewEveryMs) {
        this.#renewedAtMs = now
        await this.#renew()
      }
      await this.#lookUpUnsure()
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

  /** Gives back what is free, everywhere: the node stops. */
  async giveBackAll(): Promise<void> {
    await this.#giveBack(this.#all())
  }

  #rotate(now: number): void {
    for (const purse of this.#purses.values()) {
      const { slice } = purse
      if (slice && now - slice.begunAtMs >= this.#ports.rotateAfterMs) purse.retire()
    }
  }

  async #lookUpUnsure(): Promise<void> {
    for (const { purse, slice } of this.#all()) {
      if (slice.isUnsure) await purse.exclusively(() => purse.lookUp(slice))
    }
  }

  #all(): Idle[] {
    return [...this.#purses].flatMap(([accountId, purse]) =>
      purse.slices.map((slice) => ({ accountId, purse, slice })),
    )
  }

  /** One statement for many accounts; each is kept from other lease work until it is answered. */
  async #giveBack(all: readonly Idle[]): Promise<void> {
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    const chosen = all.filter(({ purse, slice }) => {
      if (!isReturnable(slice)) return false
      return purse.exclusively(() => answered) !== undefined
    })
    try {
      for (const isLast of [true, false]) {
        await this.#giveBackFree(
          chosen.filter(({ slice }) => (slice.held === 0n) === isLast),
          isLast,
        )
      }
    } finally {
      resolve()
    }
  }

  async #giveBackFree(chosen: readonly Idle[], isLast: boolean): Promise<void> {
    if (chosen.length === 0) return
    const returns = chosen.map(({ slice }) => ({ leaseId: slice.leaseId, amount: slice.free }))
    // Gone from here before it is asked for: an answer that never comes must not be spent twice.
    for (const { slice } of chosen) slice.amount -= slice.free
    try {
      const shrunk = await this.#ports.store.giveBack(returns, { isLast })
      for (const { purse, slice } of chosen) {
        if (isLast || !shrunk.has(slice.leaseId)) purse.drop(slice)
      }
    } catch (error) {
      for (const { slice } of chosen) slice.isUnsure = true
      throw error
    }
  }

  async #renew(): Promise<void> {
    const askedAt = this.#ports.now()
    const all = this.#all()
    if (all.length === 0) return
    const still = await this.#ports.store.renew(all.map(({ slice }) => slice.leaseId))
    for (const { purse, slice } of all) {
      if (still.has(slice.leaseId)) {
        slice.prolong(askedAt)
      } else if (!slice.isUnsure && !purse.isWorking) {
        purse.drop(slice)
      }
    }
  }

  #forget(now: number): void {
    for (const [accountId, purse] of this.#purses) {
      const isUnused = now - purse.lastUsedMs >= idleMs
      if (purse.slices.length === 0 && !purse.isWorking && isUnused) this.#purses.delete(accountId)
    }
  }

  #bankOf(accountId: string): Bank {
    const { store } = this.#ports
    return {
      take: (slice) => store.take({ accountId, ...slice }),
      find: (leaseId) => store.find(leaseId),
      renew: async (leaseId) => (await store.renew([leaseId])).has(leaseId),
      recall: () => store.recall(accountId),
      creditWithin: (ms) => this.#creditWithin(accountId, ms),
      release: (slice) => this.#release(accountId, slice),
    }
  }

  async #release(accountId: string, slice: Slice): Promise<void> {
    if (!isReturnable(slice)) return
    const chosen = [{ accountId, purse: this.of(accountId), slice }]
    await this.#giveBackFree(chosen, slice.held === 0n).catch(this.#ports.onError)
  }

  #wake(accountId: string): void {
    for (const wake of this.#awaiting.get(accountId) ?? []) wake()
  }

  async #creditWithin(accountId: string, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wakers = this.#awaiting.get(accountId) ?? new Set()
    this.#awaiting.set(accountId, wakers.add(resolve))
    try {
      await Promise.race([promise, this.#ports.pause(ms)])
    } finally {
      wakers.delete(resolve)
      if (wakers.size === 0) this.#awaiting.delete(accountId)
    }
  }
}
