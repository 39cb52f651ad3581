import { LRUCache } from 'lru-cache'
import { limitEntries } from '../platform/cache-limit'

/** The state of a collection's member, as this process has seen it. */
export interface MemberState {
  readonly inFlight: number
  readonly lastMinute: number
  readonly meanLatencyMs: number | undefined
  readonly isCoolingDown: boolean
}

interface Options {
  /** Monotonic milliseconds. */
  now?: () => number
}

const capacity = 5000
const coolingMs = 60_000
/** Of one member; the one that has cooled down longest is dropped first. */
const maxCoolingAccounts = 256
const maxLatencies = 100
const sliceMs = 5000
const slices = 12

/**
 * Statistics of the members of collections: running requests, requests of the last minute, the latencies of the last
 * 100 successes, and the accounts that avoid a member for a minute: those whose requests it failed, as their content
 * may be the cause. Failures for all are the circuit breaker's. Each process has its own; the least recently used are
 * evicted first.
 */
export class MemberStats {
  readonly #now: () => number
  readonly #pages = new LRUCache<string, Page>(limitEntries(capacity))

  constructor({ now = () => performance.now() }: Options = {}) {
    this.#now = now
  }

  /** The state of `key` for an account: a collection, a member of it, and the owner of the credential. */
  stateOf(key: string, accountId: string): MemberState {
    const page = this.#pages.peek(key)
    if (!page) return unknownMember
    const nowMs = this.#now()
    return {
      inFlight: page.inFlight,
      lastMinute: page.lastUsedBefore(nowMs),
      meanLatencyMs: page.latencies.mean,
      isCoolingDown: nowMs < (page.coolUntilMs.get(accountId) ?? -Infinity),
    }
  }

  /** A request of an account goes to it. `end` on the result is to be called once, when the request is over. */
  begin(key: string, accountId: string): MemberRequest {
    let page = this.#pages.get(key)
    if (!page) this.#pages.set(key, (page = new Page()))
    page.inFlight += 1
    const startedMs = this.#now()
    page.count(startedMs)
    return new MemberRequest(page, { accountId, startedMs, now: this.#now })
  }
}

const unknownMember: MemberState = {
  inFlight: 0,
  lastMinute: 0,
  meanLatencyMs: undefined,
  isCoolingDown: false,
}

interface Request {
  accountId: string
  startedMs: number
  now: () => number
}

/** One request to a member. */
export class MemberRequest {
  readonly #page: Page
  readonly #request: Request
  #isOver = false

  constructor(page: Page, request: Request) {
    this.#page = page
    this.#request = request
  }

  /** It answered: completely, or with the first event of a stream. */
  recordAnswer(): void {
    const { now, startedMs } = this.#request
    this.#page.latencies.add(now() - startedMs)
  }

  /** It was busy, or failed by its own fault: for a minute other members come before it for this account. */
  recordFailure(): void {
    const { now, accountId } = this.#request
    this.#page.coolFor(accountId, now() + coolingMs)
  }

  /** Nothing more comes of it. Twice is harmless. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#page.inFlight -= 1
  }
}

class Page {
  inFlight = 0
  /** By account, the next to cool down first. */
  readonly coolUntilMs = new Map<string, number>()
  readonly latencies = new Latencies()
  /** The number of requests in each slice of 5 s, by the slice's number modulo 12. */
  readonly #requests = Array.from({ length: slices }, () => 0)
  #slice = 0

  coolFor(accountId: string, untilMs: number): void {
    this.coolUntilMs.delete(accountId)
    this.coolUntilMs.set(accountId, untilMs)
    if (this.coolUntilMs.size <= maxCoolingAccounts) return
    const [first] = this.coolUntilMs.keys()
    if (first !== undefined) this.coolUntilMs.delete(first)
  }

  count(nowMs: number): void {
    this.#advance(nowMs)
    const at = this.#slice % slices
    this.#requests[at] = (this.#requests[at] ?? 0) + 1
  }

  lastUsedBefore(nowMs: number): number {
    this.#advance(nowMs)
    return this.#requests.reduce((sum, count) => sum + count, 0)
  }

  #advance(nowMs: number): void {
    const slice = Math.floor(nowMs / sliceMs)
    const passedSlices = Math.min(slices, slice - this.#slice)
    for (let step = 1; step <= passedSlices; step++)
      this.#requests[(slice - passedSlices + step) % slices] = 0
    this.#slice = Math.max(this.#slice, slice)
  }
}

/** The last 100, and their mean. */
class Latencies {
  readonly #latencies: number[] = []
  #next = 0
  #sum = 0

  get mean(): number | undefined {
    return this.#latencies.length > 0 ? this.#sum / this.#latencies.length : undefined
  }

  add(latencyMs: number): void {
    this.#sum += latencyMs - (this.#latencies[this.#next] ?? 0)
    this.#latencies[this.#next] = latencyMs
    this.#next = (this.#next + 1) % maxLatencies
  }
}
