import type {
  Counters,
  Granted,
  Look,
  BucketReading,
  LimitRefusal,
  CounterTake,
  BucketUse,
} from './counters'
import { windowMs } from './sliding-window'
import type { CallerLimits, LimitBucket } from './caller-limits'
import { ApiError, type RateLimitQuota } from '../errors'

const nowhere: readonly LimitBucket[] = []

/**
 * Rate limits: requests and tokens per minute, and concurrent requests, by all scopes of a caller. The counters
 * decide where they are counted.
 */
export class RateLimits {
  readonly #counters: Counters

  constructor(counters: Counters) {
    this.#counters = counters
  }

  /** Returns a caller's quota; counts nothing. */
  async look(windows: readonly LimitBucket[]): Promise<RateLimitQuota | undefined> {
    const taken = await this.#counters.take({ windows, weight: 0, running: [] })
    return taken.kind === 'granted' ? quotaOf(taken.tightest) : quotaOf(taken.reading)
  }

  /** Returns the use of each bucket, windows first; counts nothing. */
  used(at: Look): BucketUse[] | Promise<BucketUse[]> {
    return this.#counters.look(at)
  }

  /** Counts a request that takes no time. Rejects with `rate_limit_exceeded`. */
  async count(windows: readonly LimitBucket[]): Promise<RateLimitQuota | undefined> {
    const taken = await this.#counters.take({ windows, weight: 1, running: [] })
    if (taken.kind === 'refused') throw toRateLimitError(taken)
    return quotaOf(taken.tightest)
  }

  /**
   * Counts a request and holds its place; a promise only where nodes share their limits. Throws or
   * rejects with `rate_limit_exceeded`.
   */
  admit({ limits }: { limits: CallerLimits }): Admission | Promise<Admission> {
    const { requests: windows, running } = limits
    const taken = this.#counters.take({ windows, weight: 1, running })
    return taken instanceof Promise
      ? this.#admitLater(taken, limits.tokens)
      : this.#admitted(taken, limits.tokens)
  }

  async #admitLater(
    taking: Promise<CounterTake>,
    windows: readonly LimitBucket[],
  ): Promise<Admission> {
    return this.#admitted(await taking, windows)
  }

  #admitted(taken: CounterTake, windows: readonly LimitBucket[]): Admission {
    if (taken.kind === 'refused') throw toRateLimitError(taken)
    return new Admission(taken, this.#counters, windows)
  }
}

/**
 * Permission to run one request. Its holder calls `release` when the request ends, for whatever reason; twice is
 * harmless.
 */
export class Admission {
  readonly quota: RateLimitQuota | undefined
  readonly #requests: Granted
  readonly #counters: Counters
  /** The windows that count its tokens. */
  readonly #windows: readonly LimitBucket[]
  #tokens: Granted | undefined
  #reserved = 0
  #used = 0

  constructor(requests: Granted, counters: Counters, windows: readonly LimitBucket[]) {
    this.quota = quotaOf(requests.tightest)
    this.#requests = requests
    this.#counters = counters
    this.#windows = windows
  }

  /** Reserves tokens, as `admit` counts. Throws or rejects with `tokens_per_minute_exceeded`. Once. */
  reserve(tokens: number): undefined | Promise<undefined> {
    const demand = { windows: this.#windows, weight: tokens, running: nowhere }
    const taken = this.#counters.take(demand)
    return taken instanceof Promise
      ? this.#reserveLater(taken, tokens)
      : this.#reserve(taken, tokens)
  }

  async #reserveLater(taking: Promise<CounterTake>, tokens: number): Promise<undefined> {
    return this.#reserve(await taking, tokens)
  }

  #reserve(taken: CounterTake, tokens: number): undefined {
    if (taken.kind === 'refused') throw tooManyTokens(taken, tokens)
    this.#tokens = taken
    this.#reserved = tokens
  }

  /** Reports the real use, which `release` counts; a request that never reports has used nothing. */
  trueUp(tokens: number): void {
    this.#used = tokens
  }

  /** Gives back the place only: the request continues with no client waiting. */
  releasePlace(): void {
    this.#requests.end(0)
  }

  /** Gives back the place, and the tokens that were not used. */
  release(): void {
    this.#tokens?.end(this.#used - this.#reserved)
    this.releasePlace()
  }
}

const quotaOf = (reading: BucketReading | undefined): RateLimitQuota | undefined =>
  reading && {
    limit: reading.limit,
    remaining: reading.left,
    resetAtMs: Date.now() + reading.resetMs,
  }

/** The quota of the bucket that refused: it resets when a repeat will succeed. */
const refusedQuota = ({ reading, by }: LimitRefusal, waitMs: number): RateLimitQuota => ({
  limit: reading.limit,
  remaining: by === 'running' ? 0 : reading.left,
  resetAtMs: Date.now() + waitMs,
})

/** `rate_limit_exceeded` for a refusal: a window of requests, or too many concurrent ones. */
export function toRateLimitError(refused: LimitRefusal, words?: string): ApiError {
  const { reading, by, waitMs } = refused
  const message =
    words ??
    (by === 'running'
      ? `${reading.limit} requests are running, the most at once. Wait for one of them to end.`
      : `The limit is ${reading.limit} requests a minute. Wait as long as Retry-After says.`)
  return new ApiError('rate_limit_exceeded', {
    message,
    details: {
      limit: reading.limit,
      window: by === 'running' ? 0 : windowMs / 1000,
      retry_after: Math.ceil(waitMs / 1000),
    },
    retryAfterSeconds: waitMs / 1000,
    quota: refusedQuota(refused, waitMs),
  })
}

function tooManyTokens(refused: LimitRefusal, tokens: number): ApiError {
  const { limit, used } = refused.reading
  const isHopeless = refused.waitMs === Infinity
  const waitMs = isHopeless ? windowMs : refused.waitMs
  return new ApiError('tokens_per_minute_exceeded', {
    message: isHopeless
      ? `This request may need ${tokens} tokens; the limit is ${limit} tokens a minute. Lower its output limit or shorten it.`
      : `This request may need ${tokens} tokens, and ${used} of ${limit} a minute are used. Wait as Retry-After says.`,
    details: { limit, used },
    retryAfterSeconds: waitMs / 1000,
    retryable: !isHopeless,
    quota: refusedQuota(refused, waitMs),
  })
}
