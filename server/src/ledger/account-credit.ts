import { AccountLeases, type AccountCreditPorts } from './account-leases'
import { CreditQueue } from './credit-queue'
import type { LeaseAnswer } from './lease-answer'
import { maxAmount, InsufficientCredit, type CreditDemand } from './credit-demand'
import { RecentSpend } from './recent-spend'
import { Hold, type ClockReading, type OnHoldEnd, type LocalLease } from './local-lease'

/**
 * Other nodes receive a reclaim at once, or find it within two seconds; what they return may wait for a lock or a
 * commit. Nodes that have stopped renewing are not awaited.
 */
const maxAnswerMs = 12_000
const answerRoundTrips = 6
const maxReclaims = 4
const yieldingMs = 3000
const answerTrustMs = 1000
const maxSpacingMs = 1000
const minRequestsHeld = 4n

/** Returns whether the account has nothing for this node now. */
const isShort = ({ available, reserved }: LeaseAnswer) => available <= reserved

/** Returns whether other nodes may still return something. */
const isAwaited = ({ unanswered, reserved }: LeaseAnswer) => unanswered > 0n || reserved > 0n

/**
 * The credit of one account on one node. Holds come out of a lease in memory. When it runs short, one call at a
 * time queries the ledger for all waiting requests: first for more, and in the same statement for credit that
 * other nodes do not use; then holds are lowered, then refused.
 */
export class AccountCredit {
  readonly #ports: AccountCreditPorts
  readonly #leases: AccountLeases
  readonly #queue = new CreditQueue()
  /** One piece of lease work at a time; others queue behind it. */
  #isWorking = false
  /** Another node ran short during lease work. */
  #isReclaimed = false
  /** Until then another node counts as short: after each take this one returns what is left over. */
  #yieldsUntilMs = 0
  /** The ledger has recorded this node's demand. */
  #isInLine = false
  /** The account's credit outside this node's lease, and until when that figure is trusted. */
  #outside = { amount: 0n, untilMs: 0 }
  /** Until then the account has nothing more, and no credit can arrive unnoticed. */
  #exhaustedUntilMs = 0
  /** Rounds that bring nothing back off more and more. */
  #spacing = { fruitless: 0, nextAtMs: 0 }
  #lastUsedMs: number
  readonly #spend = new RecentSpend()
  /** One callback shared by all holds. */
  readonly #onEnd: OnHoldEnd = (cost, lease) => {
    lease.settledAtMs = this.#ports.now().monotonicMs
    this.#spend.note(cost, lease.settledAtMs)
  }

  constructor(ports: AccountCreditPorts) {
    this.#ports = ports
    this.#leases = new AccountLeases(ports)
    this.#lastUsedMs = ports.now().monotonicMs
  }

  get currentLease(): LocalLease | undefined {
    return this.#leases.current
  }

  /** All leases that must be renewed. */
  get leases(): readonly LocalLease[] {
    return this.#leases.all
  }

  get isWorking(): boolean {
    return this.#isWorking
  }

  get lastUsedMs(): number {
    return this.#lastUsedMs
  }

  /**
   * Holds the worst case of a request: `full`, or as much as there is down to `floor`. In the steady state without
   * a promise. Throws or rejects with `InsufficientCredit`, or with the error of the store.
   */
  hold(need: CreditDemand): Hold | Promise<Hold> {
    const now = this.#ports.now()
    this.#lastUsedMs = now.monotonicMs
    // First come, first served: a new request does not overtake waiting ones.
    const hold = this.#queue.isEmpty ? this.#holdFromLease(need, now) : undefined
    if (hold) return hold
    const holding = this.#queue.add(need, now.monotonicMs)
    if (!this.#isWorking) void this.#work()
    return holding
  }

  /** Undefined where the ledger must be queried. Throws `InsufficientCredit` while no credit can arrive. */
  #holdFromLease(need: CreditDemand, now: ClockReading): Hold | undefined {
    const lease = this.#leases.usable(now)
    if (lease && lease.free >= need.full && this.#hasMinimum(lease, need, now)) {
      return this.#newHold(lease, need.full)
    }
    if (now.monotonicMs >= this.#exhaustedUntilMs) return undefined
    if (lease) return this.#holdLowered(lease, need)
    throw new InsufficientCredit(0n, maxAmount(need.floor, need.minimum))
  }

  /** The account was credited: a request that was refused may be retried. */
  onCreditAdded(): void {
    this.#exhaustedUntilMs = 0
    this.#spacing = { fruitless: 0, nextAtMs: 0 }
  }

  /** This node returned its free credit: the next request takes it again. */
  noteReturn(): void {
    this.#exhaustedUntilMs = 0
  }

  /** Runs a piece of lease work by itself, such as returning credit; undefined while other lease work runs. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> | undefined {
    if (this.#isWorking) return undefined
    this.#isWorking = true
    return work().finally(() => this.#rest())
  }

  /** Another node is short. During lease work here, free credit is returned after the current call. */
  noteReclaim(): void {
    this.#isReclaimed = this.#isWorking
    this.#yieldsUntilMs = this.#ports.now().monotonicMs + yieldingMs
  }

  /** Drops a lease that has ended, or was returned whole: the next hold takes a new one. */
  drop(lease: LocalLease): void {
    this.#leases.drop(lease)
  }

  /** Makes the next hold take a new lease; running requests end on this one. Does nothing during lease work. */
  retire(): void {
    if (!this.#isWorking) this.#leases.retire()
  }

  /** Finds out how a call without an answer changed a lease. Called within `exclusively`. */
  async fence(lease: LocalLease): Promise<void> {
    await this.#leases.fence(lease)
  }

  /** The minimum applies to the whole account; the ledger has just reported the part outside this lease. */
  #hasMinimum(lease: LocalLease, { minimum }: CreditDemand, now: ClockReading): boolean {
    if (lease.free >= minimum) return true
    const { amount, untilMs } = this.#outside
    return now.monotonicMs < untilMs && lease.free + amount >= minimum
  }

  #newHold(lease: LocalLease, amount: bigint): Hold {
    return new Hold(lease, amount, this.#onEnd)
  }

  /** Returns a refusal where the whole account has less than the minimum, by the ledger's last answer. */
  #findShortfall(lease: LocalLease, minimum: bigint): InsufficientCredit | undefined {
    const total = lease.free + this.#outside.amount
    return total < minimum ? new InsufficientCredit(total, minimum) : undefined
  }

  /** Holds as much as there is, down to the floor. Throws `InsufficientCredit`. */
  #holdLowered(lease: LocalLease, need: CreditDemand): Hold {
    const { free } = lease
    if (free < need.floor) throw new InsufficientCredit(free, maxAmount(need.floor, need.minimum))
    const lack = this.#findShortfall(lease, need.minimum)
    if (lack) throw lack
    return this.#newHold(lease, free < need.full ? free : need.full)
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    try {
      while (!this.#queue.isEmpty) await this.#round().catch((thrown) => this.#recover(thrown))
    } finally {
      this.#rest({ hasTaken: this.#ports.now().monotonicMs < this.#yieldsUntilMs })
    }
  }

  /** Refused requests wait no longer: credit that arrives is for the next nodes in line. */
  async #leaveLine(): Promise<void> {
    if (!this.#isInLine) return
    this.#isInLine = false
    await this.#ports.store.withdraw()
  }

  /** Handles a failed call. While the database answers, requests keep waiting; without a database all fail. */
  async #recover(thrown: unknown): Promise<void> {
    const { store, now } = this.#ports
    if (!(await store.isAlive())) return this.#queue.rejectAll(thrown)
    this.#queue.rejectOld(thrown, now().monotonicMs, store.roundTripMs)
    if (!this.#queue.isEmpty) await this.#leases.throttle()
  }

  /** Ends lease work: requests that arrived meanwhile are next, then other nodes. */
  #rest({ hasTaken } = { hasTaken: false }): void {
    this.#isWorking = false
    if (!this.#queue.isEmpty) return void this.#work()
    const lease = this.#leases.current
    const isReclaimed = this.#isReclaimed || hasTaken
    this.#isReclaimed = false
    if (isReclaimed && lease) void this.exclusively(() => this.#ports.store.release(lease))
  }

  /** Serves or refuses every waiting request, unless the account has more for the next round. */
  async #round(): Promise<void> {
    const waitMs = this.#spacing.nextAtMs - this.#ports.now().monotonicMs
    if (waitMs > 0) await this.#ports.store.creditWithin(waitMs)
    let answer = await this.#take({ isReclaiming: true })
    for (let reclaims = 1; isShort(answer) && isAwaited(answer); reclaims++) {
      const { hasGained, latest } = await this.#awaitOthers(answer)
      answer = latest
      if (this.#queue.isEmpty || reclaims === maxReclaims) break
      // Credit may have become free meanwhile; and a node that sent no call for too long is no longer in line.
      if (!hasGained && latest.isWaiting) break
      answer = await this.#take({ isReclaiming: true })
    }
    if (this.#queue.isEmpty) this.#spacing.fruitless = 0
    else if (isShort(answer)) this.#decide(answer)
    if (this.#queue.isEmpty) await this.#leaveLine()
  }

  /** Takes what other nodes return, until all have answered. */
  async #awaitOthers(first: LeaseAnswer): Promise<{ hasGained: boolean; latest: LeaseAnswer }> {
    const { store, now } = this.#ports
    const endsMs = now().monotonicMs + maxAnswerMs + answerRoundTrips * store.roundTripMs
    let latest = first
    let hasGained = false
    while (!this.#queue.isEmpty && isShort(latest) && isAwaited(latest)) {
      const remainingMs = endsMs - now().monotonicMs
      if (remainingMs <= 0) break
      await store.creditWithin(Math.min(remainingMs, 250 + store.roundTripMs))
      const lease = this.#leases.current
      if (this.#isReclaimed && lease) {
        this.#isReclaimed = false
        await store.release(lease)
      }
      const before = this.#leases.current?.amount ?? 0n
      latest = await this.#take({ isReclaiming: false })
      hasGained ||= (this.#leases.current?.amount ?? 0n) > before
    }
    return { hasGained, latest }
  }

  /** Takes what requests lack, and serves those that it covers. */
  async #take({ isReclaiming }: { isReclaiming: boolean }): Promise<LeaseAnswer> {
    const demand = () => {
      if (isReclaiming) this.#queue.markQueried()
      const { full, largest } = this.#queue
      return { full, wish: maxAmount(this.#spend.amount, minRequestsHeld * largest) }
    }
    const requestedAtMs = this.#ports.now().monotonicMs
    const answer = await this.#leases.take({ demand, isReclaiming })
    this.#isInLine = answer.isWaiting
    const now = this.#ports.now()
    this.#outside = {
      amount: answer.available + answer.onOtherNodes,
      untilMs: requestedAtMs + answerTrustMs,
    }
    const lease = this.#leases.usable(now)
    if (!lease) return answer
    this.#queue.rejectWhere(({ minimum }) => this.#findShortfall(lease, minimum))
    // Requests are served in order: the first one may need more than there is.
    this.#queue.serve((need) =>
      lease.free >= need.full ? this.#newHold(lease, need.full) : undefined,
    )
    return answer
  }

  /**
   * The account has nothing more: holds are lowered, then refused. Requests that arrived after the call may find
   * what others have returned since: they wait for the next one.
   */
  #decide(answer: LeaseAnswer): void {
    const now = this.#ports.now()
    const lease = this.#leases.usable(now)
    // Without one, a clock has jumped meanwhile: the next round finds out the state of the lease.
    if (!lease && answer.isActive) return
    if (answer.onOtherNodes === 0n) this.#exhaustedUntilMs = this.#outside.untilMs
    const { fruitless } = this.#spacing
    const spacingMs = Math.min(maxSpacingMs, 100 * (2 ** fruitless - 1))
    this.#spacing = { fruitless: fruitless + 1, nextAtMs: now.monotonicMs + spacingMs }
    this.#queue.settleQueried((need) => {
      if (!lease) throw new InsufficientCredit(0n, maxAmount(need.floor, need.minimum))
      return this.#holdLowered(lease, need)
    })
  }
}
