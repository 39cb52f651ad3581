import type {
  Counters,
  Granted,
  LimitBuckets,
  BucketReading,
  LimitRefusal,
  CounterTake,
  BucketUse,
} from './counters'
import { windowMs } from './sliding-window'
import type { CallerLimits, LimitBucket } from './caller-limits'
import { ApiError, type RateLimitQuota } from '../errors'
import { chain, type MaybePromise } from '../platform/maybe-promise'

const noBuckets: readonly LimitBucket[] = []

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
  async readQuota(windows: readonly LimitBucket[]): Promise<RateLimitQuota | undefined> {
    const take = await this.#counters.take({ windows, weight: 0, running: [] })
    return take.kind === 'granted' ? quotaOf(take.tightest) : quotaOf(take.reading)
  }

  /** Returns the use of each bucket, windows first; counts nothing. */
  async readUse(at: LimitBuckets): Promise<BucketUse[]> {
    return this.#counters.readUse(at)
  }

  /** Counts a request that takes no time. Rejects with `rate_limit_exceeded`. */
  async count(windows: readonly LimitBucket[]): Promise<RateLimitQuota | undefined> {
    const take = await this.#counters.take({ windows, weight: 1, running: [] })
    if (take.kind === 'refused') throw toRateLimitError(take)
    return quotaOf(take.tightest)
  }

  /**
   * Counts a request and holds its place; a promise only where nodes share their limits. Throws or
   * rejects with `rate_limit_exceeded`.
   */
  admit({ limits }: { limits: CallerLimits }): MaybePromise<Admission> {
    const { requests: windows, running } = limits
    const taking = this.#counters.take({ windows, weight: 1, running })
    return chain(taking, (take) => this.#toAdmission(take, limits.tokens))
  }

  #toAdmission(take: CounterTake, windows: readonly LimitBucket[]): Admission {
    if (take.kind === 'refused') throw toRateLimitError(take)
    return new Admission(take, this.#counters, windows)
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
  #reservedTokens = 0
  #usedTokens = 0

  constructor(requests: Granted, counters: Counters, windows: readonly LimitBucket[]) {
    this.quota = quotaOf(requests.tightest)
    this.#requests = requests
    this.#counters = counters
    this.#windows = windows
  }

  /** Reserves tokens, as `admit` counts. Throws or rejects with `tokens_per_minute_exceeded`. Once. */
  reserve(tokens: number): MaybePromise<undefined> {
    const demand = { windows: this.#windows, weight: tokens, running: noBuckets }
    return chain(this.#counters.take(demand), (take) => this.#takeTokens(take, tokens))
  }

  #takeTokens(take: CounterTake, tokens: number): undefined {
    if (take.kind === 'refused') throw tooManyTokens(take, tokens)
    this.#tokens = take
    this.#reservedTokens = tokens
  }

  /** Reports the real use, which `release` counts; a request that never reports has used nothing. */
  trueUp(tokens: number): void {
    this.#usedTokens = tokens
  }

  /** Gives back the place only: the request continues with no client waiting. */
  releaseSlot(): void {
    this.#requests.end(0)
  }

  /** Gives back the place, and the tokens that were not used. */
  release(): void {
    this.#tokens?.end(this.#usedTokens - this.#reservedTokens)
    this.releaseSlot()
  }
}

const quotaOf = (reading: BucketReading | undefined): RateLimitQuota | undefined =>
  reading && {
    limit: reading.limit,
    remaining: reading.remaining,
    resetAtMs: Date.now() + reading.resetMs,
  }

/** The quota of the bucket that refused: it resets when a repeat will succeed. */
const refusedQuota = ({ reading, by }: LimitRefusal, waitMs: number): RateLimitQuota => ({
  limit: reading.limit,
  remaining: by === 'running' ? 0 : reading.remaining,
  resetAtMs: Date.now() + waitMs,
})

/** `rate_limit_exceeded` for a refusal: a window of requests, or too many concurrent ones. */
export function toRateLimitError(refusal: LimitRefusal, text?: string): ApiError {
  const { reading, by, waitMs } = refusal
  const message =
    text ??
    (by === 'running'
      ? `${reading.limit} requests are running, the maximum of concurrent requests. Wait for one of them to end.`
      : `The limit is ${reading.limit} requests per minute. Retry after the time in Retry-After.`)
  return new ApiError('rate_limit_exceeded', {
    message,
    details: {
      limit: reading.limit,
      window: by === 'running' ? 0 : windowMs / 1000,
      retry_after: Math.ceil(waitMs / 1000),
    },
    retryAfterSeconds: waitMs / 1000,
    quota: refusedQuota(refusal, waitMs),
  })
}

function tooManyTokens(refusal: LimitRefusal, tokens: number): ApiError {
  const { limit, used } = refusal.reading
  const isHopeless = refusal.waitMs === Infinity
  const waitMs = isHopeless ? windowMs : refusal.waitMs
  return new ApiError('tokens_per_minute_exceeded', {
    message: isHopeless
      ? `This request may need ${tokens} tokens; the limit is ${limit} tokens per minute. Lower its output limit or shorten the prompt.`
      : `This request may need ${tokens} tokens; ${used} of ${limit} tokens per minute are used. Retry after the time in Retry-After.`,
    details: { limit, used },
    retryAfterSeconds: waitMs / 1000,
    retryable: !isHopeless,
    quota: refusedQuota(refusal, waitMs),
  })
}
