import type { Bank } from './bank'
import { larger, least, Refused, wanted, type Need } from './need'
import { Pace } from './pace'
import { RecentSpend } from './recent-spend'
import { Hold, Slice, type Moment, type OnEnd } from './slice'
import type { Lease } from './take-lease'

export interface PursePorts {
  bank: Bank
  newLeaseId: () => string
  /** Milliseconds, of a clock that never goes back and of the wall. */
  now: () => Moment
  pause: (ms: number) => Promise<void>
}

interface Waiting {
  need: Need
  resolve: (hold: Hold) => void
  reject: (error: unknown) => void
}

const recallMs = 250
const mostTimesGivenWay = 3
const verdictMs = 1000
const mostWaiting = 10_000
const fewRequests = 4n

/**
 * One account on one node. Holds come out of a slice in memory; only when that runs short is the
 * ledger asked, by one call at a time for all who wait: first for more, then for what other nodes do
 * not use; then the hold is lowered, then refused, and the refusal holds for a second.
 */
export class Purse {
  readonly #ports: PursePorts
  #slice: Slice | undefined
  /** No longer held from; each ends when its running requests have. */
  #retired: Slice[] = []
  readonly #waiting: Waiting[] = []
  /** One piece of lease work at a time; others queue behind it. */
  #isWorking = false
  /** Another node was short meanwhile; or one before which this one gives way. */
  #isRecalled = false
  #mustGiveWay = false
  #nothingLeftUntilMs = 0
  #lastUsedMs: number
  readonly #spend = new RecentSpend()
  readonly #pace = new Pace()
  /** One for all holds. */
  readonly #onEnd: OnEnd = (cost, slice) => {
    slice.settledAtMs = this.#ports.now().monotonicMs
    this.#spend.note(cost, slice.settledAtMs)
  }

  constructor(ports: PursePorts) {
    this.#ports = ports
    this.#lastUsedMs = ports.now().monotonicMs
  }

  get slice(): Slice | undefined {
    return this.#slice
  }

  /** That and the retired ones: all that must be renewed. */
  get slices(): readonly Slice[] {
    return this.#slice ? [this.#slice, ...this.#retired] : this.#retired
  }

  get isWorking(): boolean {
    return this.#isWorking
  }

  get lastUsedMs(): number {
    return this.#lastUsedMs
  }

  /**
   * Holds the worst case of a request: `full`, or as much as there is down to `floor`. In the steady
   * state at once, without a promise. Throws or rejects with `Refused`, or with whatever the bank did.
   */
  hold(need: Need): Hold | Promise<Hold> {
    const now = this.#ports.now()
    this.#lastUsedMs = now.monotonicMs
    const slice = this.#usable(now)
    if (slice && this.#waiting.length === 0) {
      if (slice.free >= wanted(need)) return this.#newHold(slice, need.full)
      if (now.monotonicMs < this.#nothingLeftUntilMs) return this.#lowered(slice, need)
    } else if (now.monotonicMs < this.#nothingLeftUntilMs) {
      throw new Refused(slice?.free ?? 0n, least(need))
    }
    return this.#wait(need)
  }

  #wait(need: Need): Promise<Hold> {
    if (this.#waiting.length >= mostWaiting) throw new Error('too many wait for credit')
    return new Promise((resolve, reject) => {
      this.#waiting.push({ need, resolve, reject })
      if (!this.#isWorking) void this.#work()
    })
  }

  /** Something came to the account: who was refused may ask again. */
  creditCame(): void {
    this.#nothingLeftUntilMs = 0
  }

  /**
   * Does a piece of lease work by itself, such as giving back, when nothing else is at it; undefined
   * when something is.
   */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> | undefined {
    if (this.#isWorking) return undefined
    this.#isWorking = true
    return work().finally(() => this.#rest())
  }

  /**
   * Another node is short while lease work is done here: it gets what is free afterwards. Where both
   * are short, each with a part that is too small, one of them must give way, or both would refuse.
   */
  recalledMeanwhile({ mustGiveWay }: { mustGiveWay: boolean }): void {
    this.#isRecalled = true
    this.#mustGiveWay ||= mustGiveWay
  }

  /** The lease has ended, or all of it went back: the next hold takes a new one. */
  drop(slice: Slice): void {
    if (this.#slice === slice) this.#slice = undefined
    this.#retired = this.#retired.filter((one) => one !== slice)
  }

  /** The next hold takes a new lease; what runs ends on this one. Not while lease work is done. */
  retire(): void {
    if (!this.#slice || this.#isWorking) return
    this.#retired = [...this.#retired, this.#slice]
    this.#slice = undefined
  }

  #usable(now: Moment): Slice | undefined {
    const slice = this.#slice
    if (!slice) return undefined
    const { monotonicMs, wallMs } = slice.usableUntil
    return now.monotonicMs < monotonicMs && now.wallMs < wallMs ? slice : undefined
  }

  #newHold(slice: Slice, amount: bigint): Hold {
    return new Hold(slice, amount, this.#onEnd)
  }

  /** As much as there is, down to the floor. Throws `Refused`. */
  #lowered(slice: Slice, need: Need): Hold {
    if (slice.free < least(need)) throw new Refused(slice.free, least(need))
    return this.#newHold(slice, slice.free < need.full ? slice.free : need.full)
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    try {
      while (this.#waiting.length > 0) await this.#round()
    } catch (error) {
      for (const { reject } of this.#waiting.splice(0)) reject(error)
    } finally {
      this.#rest()
    }
  }

  /** Lease work is done: whoever came meanwhile is next, then other nodes. */
  #rest(): void {
    this.#isWorking = false
    this.#mustGiveWay = false
    if (this.#waiting.length > 0) return void this.#work()
    const slice = this.#slice
    const isRecalled = this.#isRecalled
    this.#isRecalled = false
    if (isRecalled && slice) void this.exclusively(() => this.#ports.bank.release(slice))
  }

  /** Everybody who waits is served or refused, or the account has more for the next round. */
  async #round(): Promise<void> {
    const lease = await this.#take()
    this.#serve()
    if (this.#waiting.length === 0 || lease.available > 0n) return
    let outcome = lease.elsewhere > 0n ? await this.#askOthers() : 'nothing'
    for (let times = 1; outcome === 'gave way' && times < mostTimesGivenWay; times++) {
      outcome = await this.#askOthers()
    }
    if (outcome !== 'something') this.#decide()
  }

  /** Has the other nodes give back what they do not use; or gives way to one of them. */
  async #askOthers(): Promise<'something' | 'nothing' | 'gave way'> {
    const { bank, now } = this.#ports
    await this.#atItsPace()
    await bank.recall()
    const until = now().monotonicMs + recallMs
    let gaveWay = false
    for (let leftMs = recallMs; leftMs > 0; leftMs = until - now().monotonicMs) {
      await bank.creditWithin(leftMs)
      if (this.#mustGiveWay) {
        this.#mustGiveWay = false
        gaveWay = true
        if (this.#slice) await bank.release(this.#slice)
      }
      // What the others give back now is not meant for this node.
      if (gaveWay) continue
      const lease = await this.#take()
      this.#serve()
      if (this.#waiting.length === 0 || lease.available > 0n) return 'something'
      if (lease.elsewhere === 0n) return 'nothing'
    }
    return gaveWay ? 'gave way' : 'nothing'
  }

  #serve(): void {
    const slice = this.#usable(this.#ports.now())
    if (!slice) return
    let served = 0
    for (const { need, resolve } of this.#waiting) {
      // Nobody overtakes: the one at the head may need more than is here.
      if (slice.free < wanted(need)) break
      resolve(this.#newHold(slice, need.full))
      served++
    }
    this.#waiting.splice(0, served)
  }

  /** The account has nothing more: holds are lowered, then refused. */
  #decide(): void {
    const now = this.#ports.now()
    this.#nothingLeftUntilMs = now.monotonicMs + verdictMs
    const slice = this.#usable(now)
    for (const { need, resolve, reject } of this.#waiting.splice(0)) {
      try {
        if (!slice) throw new Refused(0n, least(need))
        resolve(this.#lowered(slice, need))
      } catch (refused) {
        reject(refused)
      }
    }
  }

  async #atItsPace(): Promise<void> {
    const { now, pause } = this.#ports
    const waitMs = this.#pace.next(now().monotonicMs)
    if (waitMs > 0) await pause(waitMs)
  }

  async #take(): Promise<Lease> {
    const { bank, now, newLeaseId } = this.#ports
    await this.#atItsPace()
    const askedAt = now()
    let slice = this.#usable(askedAt) ?? (await this.#revived(askedAt))
    if (slice?.isUnsure) slice = await this.lookUp(slice)
    const isNew = slice === undefined
    slice ??= new Slice(newLeaseId(), askedAt.monotonicMs)
    const lacking = this.#waiting.reduce((sum, { need }) => sum + need.full, 0n) - slice.free
    const largest = this.#waiting.map(({ need }) => wanted(need)).reduce(larger, 0n)
    const need = larger(larger(lacking, largest - slice.free), 0n)
    // Known before it is asked for: what goes unanswered is looked up by its id.
    this.#slice = slice
    try {
      const lease = await bank.take({ leaseId: slice.leaseId, need, wish: this.#wish(largest) })
      slice.amount += lease.taken
      if (lease.taken > 0n) slice.prolong(askedAt)
      else if (isNew) this.drop(slice)
      return lease
    } catch (error) {
      slice.isUnsure = true
      if (isNew) slice.prolong(askedAt)
      throw error
    }
  }

  /**
   * By a clock its lease has ended, as after a sleep. What the ledger has not ended goes on: another would
   * leave what is in this one out of reach until it is swept.
   */
  async #revived(askedAt: Moment): Promise<Slice | undefined> {
    const slice = this.#slice
    if (slice && (await this.#ports.bank.renew(slice.leaseId))) slice.prolong(askedAt)
    else if (slice) this.drop(slice)
    return this.#slice
  }

  /** Finds out what a call without an answer did to a slice; undefined where it has ended. */
  async lookUp(slice: Slice): Promise<Slice | undefined> {
    const amount = await this.#ports.bank.find(slice.leaseId)
    slice.isUnsure = false
    if (amount !== undefined) {
      slice.amount = amount
      return slice
    }
    this.drop(slice)
    return undefined
  }

  /** What would last for about 30 seconds, by what the last ones used; a few requests at least. */
  #wish(largest: bigint): bigint {
    return larger(this.#spend.amount, fewRequests * largest)
  }
}
