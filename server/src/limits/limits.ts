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
import { countMedia, type MediaNeed, type MediaUnit, type MediaUse } from './media-need'
import { ApiError, type RateLimitQuota } from '../errors'
import { chain, type MaybePromise } from '../platform/maybe-promise'

const noBuckets: readonly LimitBucket[] = []

/**
 * Rate limits: requests, tokens, images and seconds of sound per minute, and concurrent requests, by all scopes of a
 * caller. The counters decide where they are counted.
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
    const take = this.#counters.take({ windows, weight: 1, running })
    return take instanceof Promise
      ? this.#admitLater(take, limits)
      : this.#toAdmission(take, limits)
  }

  async #admitLater(taking: Promise<CounterTake>, limits: CallerLimits): Promise<Admission> {
    return this.#toAdmission(await taking, limits)
  }

  #toAdmission(take: CounterTake, limits: CallerLimits): Admission {
    if (take.kind === 'refused') throw toRateLimitError(take)
    return new Admission(take, this.#counters, limits)
  }
}

/** Images or seconds of sound that were reserved. */
interface MediaReservation {
  grant: Granted
  need: MediaNeed
  usedAmount: number
}

/**
 * Permission to run one request. Its holder calls `release` when the request ends, for whatever reason; twice is
 * harmless.
 */
export class Admission {
  readonly quota: RateLimitQuota | undefined
  readonly #requests: Granted
  readonly #counters: Counters
  readonly #limits: CallerLimits
  #tokens: Granted | undefined
  /** Undefined for nearly all requests. */
  #media: MediaReservation | undefined
  #reservedTokens = 0
  #usedTokens = 0

  constructor(requests: Granted, counters: Counters, limits: CallerLimits) {
    this.quota = quotaOf(requests.tightest)
    this.#requests = requests
    this.#counters = counters
    this.#limits = limits
  }

  /**
   * Reserves tokens, and images or seconds of sound, as `admit` counts. Throws or rejects with the error of the limit
   * that is exceeded, such as `tokens_per_minute_exceeded`. Once.
   */
  reserve(tokens: number, media?: MediaNeed): MaybePromise<undefined> {
    const demand = { windows: this.#limits.tokens, weight: tokens, running: noBuckets }
    const take = this.#counters.take(demand)
    const taking =
      take instanceof Promise ? this.#takeLater(take, tokens) : this.#takeTokens(take, tokens)
    return media ? this.#reserveMedia(taking, media) : taking
  }

  async #takeLater(taking: Promise<CounterTake>, tokens: number): Promise<undefined> {
    return this.#takeTokens(await taking, tokens)
  }

  #takeTokens(take: CounterTake, tokens: number): undefined {
    if (take.kind === 'refused') throw toWindowError(take, tokenTexts, tokens)
    this.#tokens = take
    this.#reservedTokens = tokens
  }

  #reserveMedia(takingTokens: MaybePromise<undefined>, need: MediaNeed): MaybePromise<undefined> {
    const windows = this.#limits[need.unit]
    if (windows.length === 0) return takingTokens
    const demand = { windows, weight: need.amount, running: noBuckets }
    const taking = chain(takingTokens, () => this.#counters.take(demand))
    return chain(taking, (take) => this.#takeMedia(take, need))
  }

  #takeMedia(take: CounterTake, need: MediaNeed): undefined {
    if (take.kind === 'refused') throw toWindowError(take, mediaTexts[need.unit], need.amount)
    this.#media = { grant: take, need, usedAmount: 0 }
  }

  /** Reports the real use, which `release` counts; a request that never reports has used nothing. */
  trueUp(tokens: number, media?: MediaUse): void {
    this.#usedTokens = tokens
    if (this.#media && media) this.#media.usedAmount = countMedia(this.#media.need, media)
  }

  /** Gives back the place only: the request continues with no client waiting. */
  releaseSlot(): void {
    this.#requests.end(0)
  }

  /** Gives back the place, and the tokens, images and seconds that were not used. */
  release(): void {
    this.#tokens?.end(this.#usedTokens - this.#reservedTokens)
    if (this.#media) this.#media.grant.end(this.#media.usedAmount - this.#media.need.amount)
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

/** The error of a limit whose requests need different amounts, and its words. */
interface WindowTexts {
  code:
    | 'tokens_per_minute_exceeded'
    | 'images_per_minute_exceeded'
    | 'audio_seconds_per_minute_exceeded'
  unit: string
  /** Shown for a request that exceeds the limit alone. */
  advice: string
}

const tokenTexts: WindowTexts = {
  code: 'tokens_per_minute_exceeded',
  unit: 'tokens',
  advice: 'Lower its output limit or shorten the prompt.',
}

const mediaTexts: Readonly<Record<MediaUnit, WindowTexts>> = {
  images: { code: 'images_per_minute_exceeded', unit: 'images', advice: 'Lower n.' },
  audioSeconds: {
    code: 'audio_seconds_per_minute_exceeded',
    unit: 'seconds of sound',
    advice: 'Send shorter files.',
  },
}

function toWindowError(refusal: LimitRefusal, texts: WindowTexts, need: number): ApiError {
  const { limit, used } = refusal.reading
  const { code, unit, advice } = texts
  const isHopeless = refusal.waitMs === Infinity
  const waitMs = isHopeless ? windowMs : refusal.waitMs
  return new ApiError(code, {
    message: isHopeless
      ? `This request may need ${need} ${unit}; the limit is ${limit} ${unit} per minute. ${advice}`
      : `This request may need ${need} ${unit}; ${used} of ${limit} ${unit} per minute are used. Retry after the time in Retry-After.`,
    details: { limit, used },
    retryAfterSeconds: waitMs / 1000,
    retryable: !isHopeless,
    quota: refusedQuota(refusal, waitMs),
  })
}
