import { LRUCache } from 'lru-cache'

/** How a member of a collection fares, as far as this process has seen. */
export interface Standing {
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
const latenciesKept = 100
const sliceMs = 5000
const slices = 12

/**
 * How the members of collections fare: what runs, what was asked in the last minute, how fast the last 100
 * successes were, and who is to be left alone for a minute. Each process has its own; what was used
 * longest ago is forgotten first.
 */
export class MemberBook {
  readonly #now: () => number
  readonly #pages = new LRUCache<string, Page>({ max: capacity })

  constructor({ now = () => performance.now() }: Options = {}) {
    this.#now = now
  }

  /** How `key` fares: a collection, a member of it, and whose credential it is asked with. */
  look(key: string): Standing {
    const page = this.#pages.peek(key)
    if (!page) return unknown
    const nowMs = this.#now()
    return {
      inFlight: page.inFlight,
      lastMinute: page.askedBefore(nowMs),
      meanLatencyMs: page.latencies.mean,
      isCoolingDown: nowMs < page.coolUntilMs,
    }
  }

  /** It is asked. `ended` on what this returns is to be called once, when the request is over. */
  asked(key: string): Asked {
    let page = this.#pages.get(key)
    if (!page) this.#pages.set(key, (page = new Page()))
    page.inFlight += 1
    const startedMs = this.#now()
    page.count(startedMs)
    return new Asked(page, startedMs, this.#now)
  }
}

const unknown: Standing = {
  inFlight: 0,
  lastMinute: 0,
  meanLatencyMs: undefined,
  isCoolingDown: false,
}

/** One request to a member. */
export class Asked {
  readonly #page: Page
  readonly #startedMs: number
  readonly #now: () => number
  #isOver = false

  constructor(page: Page, startedMs: number, now: () => number) {
    this.#page = page
    this.#startedMs = startedMs
    this.#now = now
  }

  /** It answered: the whole of it, or the first event of a stream. */
  answered(): void {
    this.#page.latencies.add(this.#now() - this.#startedMs)
  }

  /** It was busy, or failed by its own fault: for a minute others come before it. */
  failed(): void {
    this.#page.coolUntilMs = this.#now() + coolingMs
  }

  /** Nothing more comes of it. Twice is harmless. */
  ended(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#page.inFlight -= 1
  }
}

class Page {
  inFlight = 0
  coolUntilMs = -Infinity
  readonly latencies = new Latencies()
  /** How many were asked in each slice of 5 s, by the slice's number modulo 12. */
  readonly #asked = Array.from({ length: slices }, () => 0)
  #slice = 0

  count(nowMs: number): void {
    this.#advance(nowMs)
    const at = this.#slice % slices
    this.#asked[at] = (this.#asked[at] ?? 0) + 1
  }

  askedBefore(nowMs: number): number {
    this.#advance(nowMs)
    return this.#asked.reduce((sum, asked) => sum + asked, 0)
  }

  #advance(nowMs: number): void {
    const slice = Math.floor(nowMs / sliceMs)
    const passed = Math.min(slices, slice - this.#slice)
    for (let step = 1; step <= passed; step++) this.#asked[(slice - passed + step) % slices] = 0
    this.#slice = Math.max(this.#slice, slice)
  }
}

/** The last 100, and their mean. */
class Latencies {
  readonly #kept: number[] = []
  #next = 0
  #sum = 0

  get mean(): number | undefined {
    return this.#kept.length > 0 ? this.#sum / this.#kept.length : undefined
  }

  add(latencyMs: number): void {
    this.#sum += latencyMs - (this.#kept[this.#next] ?? 0)
    this.#kept[this.#next] = latencyMs
    this.#next = (this.#next + 1) % latenciesKept
  }
}
