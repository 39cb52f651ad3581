import { AccountLeases } from './account-leases'
import type { AccountLeaseStore } from './account-lease-store'
import { CreditQueue } from './credit-queue'
import type { LeaseAnswer } from './lease-answer'
import { maxAmount, InsufficientCredit, type CreditDemand } from './credit-demand'
import { RecentSpend } from './recent-spend'
import { Hold, type ClockReading, type OnHoldEnd, type LocalLease } from './local-lease'

export interface AccountCreditPorts {
  bank: AccountLeaseStore
  newLeaseId: () => string
  /** Milliseconds, of a clock that never goes back and of the wall. */
  now: () => ClockReading
  pause: (ms: number) => Promise<void>
}

/**
 * Nodes hear of a recall at once, or find it within two seconds; what they return may wait for a lock, or a commit.
 * Nodes that renew nothing are not waited for.
 */
const maxAnswerMs = 12_000
const answerRoundTrips = 6
const maxRecalls = 4
const yieldingMs = 3000
const verdictMs = 1000
const maxSpacingMs = 1000
const fewRequests = 4n

/** Whether an account has nothing for this node now. */
const isShort = ({ available, reserved }: LeaseAnswer) => available <= reserved

/** Whether something may still come from other nodes. */
const isAwaited = ({ unanswered, reserved }: LeaseAnswer) => unanswered > 0n || reserved > 0n

/**
 * One account on one node. Holds come out of a slice in memory; only when that runs short is the
 * ledger asked, by one call at a time for all who wait: first for more, and in the same statement for what other
 * nodes do not use; then the hold is lowered, then refused.
 */
export class AccountCredit {
  readonly #ports: AccountCreditPorts
  readonly #leases: AccountLeases
  readonly #queue = new CreditQueue()
  /** One piece of lease work at a time; others queue behind it. */
  #isWorking = false
  /** Another node was short meanwhile. */
  #isRecalled = false
  /** One was short lately: it has to hear of what is taken here, and left over. */
  #yieldsUntilMs = 0
  /** The ledger has noted what it waits for. */
  #isInLine = false
  /** What the account has outside of this node's slice, and until when that is believed. */
  #outside = { amount: 0n, untilMs: 0 }
  /** The account has nothing more, and nothing can come unnoticed. */
  #nothingLeftUntilMs = 0
  /** Rounds that brought nothing follow each other more and more slowly. */
  #spacing = { fruitless: 0, nextAtMs: 0 }
  #lastUsedMs: number
  readonly #spend = new RecentSpend()
  /** One for all holds. */
  readonly #onEnd: OnHoldEnd = (cost, slice) => {
    slice.settledAtMs = this.#ports.now().monotonicMs
    this.#spend.note(cost, slice.settledAtMs)
  }

  constructor(ports: AccountCreditPorts) {
    this.#ports = ports
    this.#leases = new AccountLeases(ports)
    this.#lastUsedMs = ports.now().monotonicMs
  }

  get slice(): LocalLease | undefined {
    return this.#leases.current
  }

  /** All that must be renewed. */
  get slices(): readonly LocalLease[] {
    return this.#leases.all
  }

  get isWorking(): boolean {
    return this.#isWorking
  }

  get lastUsedMs(): number {
    return this.#lastUsedMs
  }

  /**
   * Holds the worst case of a request: `full`, or as much as there is down to `floor`. In the steady
   * state at once, without a promise. Throws or rejects with `Refused`, or with what the bank did.
   */
  hold(need: CreditDemand): Hold | Promise<Hold> {
    const now = this.#ports.now()
    this.#lastUsedMs = now.monotonicMs
    // None overtakes those that wait.
    const hold = this.#queue.isEmpty ? this.#holdAtOnce(need, now) : undefined
    if (hold) return hold
    const holding = this.#queue.add(need, now.monotonicMs)
    if (!this.#isWorking) void this.#work()
    return holding
  }

  /** What memory has; undefined where the ledger must be asked. Throws `Refused` while nothing more can be had. */
  #holdAtOnce(need: CreditDemand, now: ClockReading): Hold | undefined {
    const slice = this.#leases.usable(now)
    if (slice && slice.free >= need.full && this.#hasMinimum(slice, need, now)) {
      return this.#newHold(slice, need.full)
    }
    if (now.monotonicMs >= this.#nothingLeftUntilMs) return undefined
    if (slice) return this.#lowered(slice, need)
    throw new InsufficientCredit(0n, maxAmount(need.floor, need.minimum))
  }

  /** Something came to the account: a request that was refused may be sent again. */
  onCreditAdded(): void {
    this.#nothingLeftUntilMs = 0
    this.#spacing = { fruitless: 0, nextAtMs: 0 }
  }

  /** What this node had left goes back: the next request asks for it again. */
  noteReturn(): void {
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

  /** Another node is short. While lease work is done here, what is free goes back after the current call. */
  noteReclaim(): void {
    this.#isRecalled = this.#isWorking
    this.#yieldsUntilMs = this.#ports.now().monotonicMs + yieldingMs
  }

  /** The lease has ended, or all of it went back: the next hold takes a new one. */
  drop(slice: LocalLease): void {
    this.#leases.drop(slice)
  }

  /** The next hold takes a new lease; what runs ends on this one. Not while lease work is done. */
  retire(): void {
    if (!this.#isWorking) this.#leases.retire()
  }

  /** Finds out what a call without an answer did to a slice. Within `exclusively`. */
  async fence(slice: LocalLease): Promise<void> {
    await this.#leases.fence(slice)
  }

  /** The minimum is the account's, wherever it lies: the ledger said what is elsewhere a moment ago. */
  #hasMinimum(slice: LocalLease, { minimum }: CreditDemand, now: ClockReading): boolean {
    if (slice.free >= minimum) return true
    const { amount, untilMs } = this.#outside
    return now.monotonicMs < untilMs && slice.free + amount >= minimum
  }

  #newHold(slice: LocalLease, amount: bigint): Hold {
    return new Hold(slice, amount, this.#onEnd)
  }

  /** A refusal where the whole account has less than the minimum, by what the ledger said last. */
  #lackOf(slice: LocalLease, minimum: bigint): InsufficientCredit | undefined {
    const whole = slice.free + this.#outside.amount
    return whole < minimum ? new InsufficientCredit(whole, minimum) : undefined
  }

  /** As much as there is, down to the floor. Throws `Refused`. */
  #lowered(slice: LocalLease, need: CreditDemand): Hold {
    const { free } = slice
    if (free < need.floor) throw new InsufficientCredit(free, maxAmount(need.floor, need.minimum))
    const lack = this.#lackOf(slice, need.minimum)
    if (lack) throw lack
    return this.#newHold(slice, free < need.full ? free : need.full)
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    try {
      while (!this.#queue.isEmpty) await this.#round().catch((thrown) => this.#recover(thrown))
    } finally {
      this.#rest({ hasTaken: this.#ports.now().monotonicMs < this.#yieldsUntilMs })
    }
  }

  /** Refused requests wait no longer: what comes is for the nodes behind. */
  async #leaveLine(): Promise<void> {
    if (!this.#isInLine) return
    this.#isInLine = false
    await this.#ports.bank.withdraw()
  }

  /** A call failed. While the database answers, requests wait on; a database that is gone fails them all. */
  async #recover(thrown: unknown): Promise<void> {
    const { bank, now } = this.#ports
    if (!(await bank.isAlive())) return this.#queue.rejectAll(thrown)
    this.#queue.rejectOld(thrown, now().monotonicMs, bank.roundTripMs)
    if (!this.#queue.isEmpty) await this.#leases.throttle()
  }

  /** Lease work is done: requests that came meanwhile are next, then other nodes. */
  #rest({ hasTaken } = { hasTaken: false }): void {
    this.#isWorking = false
    if (!this.#queue.isEmpty) return void this.#work()
    const slice = this.#leases.current
    const isRecalled = this.#isRecalled || hasTaken
    this.#isRecalled = false
    if (isRecalled && slice) void this.exclusively(() => this.#ports.bank.release(slice))
  }

  /** Every request that waits is served or refused, or the account has more for the next round. */
  async #round(): Promise<void> {
    const waitMs = this.#spacing.nextAtMs - this.#ports.now().monotonicMs
    if (waitMs > 0) await this.#ports.bank.creditWithin(waitMs)
    let answer = await this.#take({ isRecalling: true })
    for (let recalls = 1; isShort(answer) && isAwaited(answer); recalls++) {
      const { hasGained, latest } = await this.#awaitOthers(answer)
      answer = latest
      if (this.#queue.isEmpty || recalls === maxRecalls) break
      // Something may have become free meanwhile; and who could not ask for too long is in no line any more.
      if (!hasGained && latest.isWaiting) break
      answer = await this.#take({ isRecalling: true })
    }
    if (this.#queue.isEmpty) this.#spacing.fruitless = 0
    else if (isShort(answer)) this.#decide(answer)
    if (this.#queue.isEmpty) await this.#leaveLine()
  }

  /** Takes what other nodes return, until all have answered. */
  async #awaitOthers(first: LeaseAnswer): Promise<{ hasGained: boolean; latest: LeaseAnswer }> {
    const { bank, now } = this.#ports
    const endsMs = now().monotonicMs + maxAnswerMs + answerRoundTrips * bank.roundTripMs
    let latest = first
    let hasGained = false
    while (!this.#queue.isEmpty && isShort(latest) && isAwaited(latest)) {
      const leftMs = endsMs - now().monotonicMs
      if (leftMs <= 0) break
      await bank.creditWithin(Math.min(leftMs, 250 + bank.roundTripMs))
      const slice = this.#leases.current
      if (this.#isRecalled && slice) {
        this.#isRecalled = false
        await bank.release(slice)
      }
      const before = this.#leases.current?.amount ?? 0n
      latest = await this.#take({ isRecalling: false })
      hasGained ||= (this.#leases.current?.amount ?? 0n) > before
    }
    return { hasGained, latest }
  }

  /** Takes what requests lack, and serves those that it is enough for. */
  async #take({ isRecalling }: { isRecalling: boolean }): Promise<LeaseAnswer> {
    const demand = () => {
      if (isRecalling) this.#queue.markAsked()
      const { full, largest } = this.#queue
      return { full, wish: maxAmount(this.#spend.amount, fewRequests * largest) }
    }
    const askedAtMs = this.#ports.now().monotonicMs
    const answer = await this.#leases.take({ demand, isRecalling })
    this.#isInLine = answer.isWaiting
    const now = this.#ports.now()
    this.#outside = {
      amount: answer.available + answer.elsewhere,
      untilMs: askedAtMs + verdictMs,
    }
    const slice = this.#leases.usable(now)
    if (!slice) return answer
    this.#queue.rejectWhere(({ minimum }) => this.#lackOf(slice, minimum))
    // None overtakes: the one at the head may need more than is here.
    this.#queue.serve((need) =>
      slice.free >= need.full ? this.#newHold(slice, need.full) : undefined,
    )
    return answer
  }

  /**
   * The account has nothing more: holds are lowered, then refused. Requests that came after the question may find
   * what others have left since: they wait for the next.
   */
  #decide(answer: LeaseAnswer): void {
    const now = this.#ports.now()
    const slice = this.#leases.usable(now)
    // Without one, a clock has jumped meanwhile: the next round looks what became of the lease.
    if (!slice && answer.isActive) return
    if (answer.elsewhere === 0n) this.#nothingLeftUntilMs = this.#outside.untilMs
    const { fruitless } = this.#spacing
    const spacingMs = Math.min(maxSpacingMs, 100 * (2 ** fruitless - 1))
    this.#spacing = { fruitless: fruitless + 1, nextAtMs: now.monotonicMs + spacingMs }
    this.#queue.settleAsked((need) => {
      if (!slice) throw new InsufficientCredit(0n, maxAmount(need.floor, need.minimum))
      return this.#lowered(slice, need)
    })
  }
}
