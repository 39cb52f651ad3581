import { AccountLeases, type AccountCreditPorts, type TakeAnswer } from './account-leases'
import { CreditQueue } from './credit-queue'
import { maxAmount, InsufficientCredit, type CreditDemand } from './credit-demand'
import { maxAnswerMs, trustedAnswerMs } from './lease-reclaim'
import { OutsideCredit } from './outside-credit'
import { RecentSpend } from './recent-spend'
import { RoundSpacing } from './round-spacing'
import { Hold, type ClockReading, type OnHoldEnd, type LocalLease } from './local-lease'

const maxReclaims = 4
const yieldingMs = 3000
/** Nodes notify each other of what they wait for; this is for notifications that are lost. */
const pollMs = 250
const minRequestsHeld = 4n

/** Returns whether other nodes may still return something. */
const isAwaited = ({ unanswered, reserved }: TakeAnswer) => unanswered > 0n || reserved > 0n

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
  /** Another node ran short during lease work, and no call has answered it since. */
  #isReclaimed = false
  /** Something happened to the account since the last call was sent. */
  #isSignalled = false
  /** Until then another node counts as short: after each take this one returns what is left over. */
  #yieldsUntilMs = 0
  /** The ledger has recorded this node's demand. */
  #isInLine = false
  readonly #outside = new OutsideCredit()
  /** Until then the account has nothing more, and no credit can arrive unnoticed. */
  #exhaustedUntilMs = 0
  readonly #spacing = new RoundSpacing()
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
    const lease = this.#leases.findUsable(now)
    const free = lease?.free ?? 0n
    if (lease && free >= need.full && this.#hasMinimum(free, need, now)) {
      return this.#newHold(lease, need.full)
    }
    if (now.monotonicMs >= this.#exhaustedUntilMs) return undefined
    return this.#holdLowered(lease, need)
  }

  /** The account was credited: a request that was refused may be retried. */
  onCreditAdded(): void {
    this.#isSignalled = true
    this.#exhaustedUntilMs = 0
    this.#spacing.reset()
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

  /** The last reclaim that this node has received; see `LeaseReclaim`. */
  get lastReclaim(): bigint {
    return this.#leases.lastReclaim
  }

  /** Another node is short. During lease work here, the next call returns what that node needs. */
  noteReclaim(at: bigint): void {
    this.#leases.noteReclaim(at)
    this.#isReclaimed = this.#isWorking
    this.#isSignalled = true
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
  #hasMinimum(free: bigint, { minimum }: CreditDemand, now: ClockReading): boolean {
    if (free >= minimum) return true
    const { amount, untilMs } = this.#outside
    return now.monotonicMs < untilMs && free + amount >= minimum
  }

  #toInsufficientCredit(free: bigint, { floor, minimum }: CreditDemand): InsufficientCredit {
    return new InsufficientCredit(free + this.#outside.refusalAmount, maxAmount(floor, minimum))
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
  #holdLowered(lease: LocalLease | undefined, need: CreditDemand): Hold {
    if (!lease || lease.free < need.floor) throw this.#toInsufficientCredit(lease?.free ?? 0n, need)
    const { free } = lease
    const lack = this.#findShortfall(lease, need.minimum)
    if (lack) throw lack
    return this.#newHold(lease, free < need.full ? free : need.full)
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    try {
      while (!this.#queue.isEmpty) await this.#round().catch((thrown) => this.#recover(thrown))
    } finally {
      this.#rest({ hasTaken: this.#isYielding })
    }
  }

  /** Its requests have their verdicts: credit is for the next nodes in line, and those that arrived since join it anew. */
  async #leaveLine(): Promise<void> {
    if (!this.#isInLine) return
    this.#isInLine = false
    const { current } = this.#leases
    if (current && current.free > 0n) this.noteReturn()
    await this.#leases.leaveLine()
  }

  /** Handles a failed call. While the database answers, requests keep waiting; without a database all fail. */
  async #recover(thrown: unknown): Promise<void> {
    const { store, now } = this.#ports
    // It may not have answered.
    this.#isReclaimed ||= this.#isYielding
    if (!(await store.isAlive())) return this.#queue.rejectAll(thrown)
    this.#queue.rejectOld(thrown, now().monotonicMs, store.roundTripMs)
    if (!this.#queue.isEmpty) await this.#leases.throttle()
  }

  get #isYielding(): boolean {
    return this.#ports.now().monotonicMs < this.#yieldsUntilMs
  }

  /** Ends lease work: requests that arrived meanwhile are next, then other nodes. */
  #rest({ hasTaken } = { hasTaken: false }): void {
    this.#isWorking = false
    if (!this.#queue.isEmpty) return void this.#work()
    const wasReclaimed = this.#isReclaimed
    this.#isReclaimed = false
    const due = wasReclaimed || hasTaken ? this.#leases.all : []
    if (due.length > 0) void this.exclusively(() => this.#release(due))
  }

  async #release(leases: readonly LocalLease[]): Promise<void> {
    for (const lease of leases) await this.#ports.store.release(lease)
  }

  /** Serves or refuses every waiting request, unless the account has more for the next round. */
  async #round(): Promise<void> {
    const waitMs = this.#spacing.waitMs(this.#ports.now().monotonicMs)
    if (waitMs > 0 && !this.#isReclaimed) await this.#ports.store.creditWithin(waitMs)
    let answer = await this.#take({ isReclaiming: true })
    for (let reclaims = 1; answer.isShort && isAwaited(answer); reclaims++) {
      const { isOutdated, latest } = await this.#awaitOthers(answer)
      answer = latest
      if (this.#queue.isEmpty || reclaims === maxReclaims) break
      // A node that sent no call for too long is no longer in line.
      if (!isOutdated && latest.isWaiting) break
      answer = await this.#take({ isReclaiming: true })
    }
    if (this.#queue.isEmpty) this.#spacing.noteServed()
    else if (answer.isShort) this.#decide(answer)
    await this.#leaveLine()
  }

  /** Takes what other nodes return, until all have answered. */
  async #awaitOthers(first: TakeAnswer): Promise<{ isOutdated: boolean; latest: TakeAnswer }> {
    const { store, now } = this.#ports
    const startMs = now().monotonicMs
    const endsMs = startMs + maxAnswerMs(store.roundTripMs)
    let latest = first
    let hasGained = false
    while (!this.#queue.isEmpty && latest.isShort && isAwaited(latest)) {
      const remainingMs = endsMs - now().monotonicMs
      if (remainingMs <= 0) break
      if (!this.#isSignalled)
        await store.creditWithin(Math.min(remainingMs, pollMs + store.roundTripMs))
      await this.#release(this.#leases.unused)
      const before = this.#leases.current?.amount ?? 0n
      latest = await this.#take({ isReclaiming: false })
      hasGained ||= (this.#leases.current?.amount ?? 0n) > before
    }
    // Credit may have become free since they answered.
    const isOld = now().monotonicMs - startMs > trustedAnswerMs(store.roundTripMs)
    return { isOutdated: hasGained && isOld, latest }
  }

  /** Takes what requests lack, and serves those that it covers. */
  async #take({ isReclaiming }: { isReclaiming: boolean }): Promise<TakeAnswer> {
    const demand = () => {
      if (isReclaiming) this.#queue.markQueried()
      this.#isSignalled = false
      // The call returns what another node needs; what this one keeps for now, it returns when it leaves the line.
      this.#isReclaimed = false
      const { full, largest } = this.#queue
      return { full, wish: maxAmount(this.#spend.amount, minRequestsHeld * largest) }
    }
    const requestedAtMs = this.#ports.now().monotonicMs
    const answer = await this.#leases.take({ demand, isReclaiming })
    this.#isInLine = answer.isWaiting
    const now = this.#ports.now()
    this.#outside.note(answer, requestedAtMs)
    const lease = this.#leases.findUsable(now)
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
  #decide(answer: TakeAnswer): void {
    const now = this.#ports.now()
    const lease = this.#leases.findUsable(now)
    // Without one, a clock has jumped meanwhile: the next round finds out the state of the lease.
    if (!lease && answer.isActive) return
    if (answer.onOtherNodes === 0n) this.#exhaustedUntilMs = this.#outside.untilMs
    this.#spacing.noteFruitless(now.monotonicMs)
    this.#queue.settleQueried((need) => this.#holdLowered(lease, need))
  }
}
