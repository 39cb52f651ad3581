import { findEndpoint, endpoints } from './endpoints'
import { Histogram } from './histogram'
import { errors, type ApiError, type ErrorCode } from '../errors'

/** Statuses that are counted apart; any other counts as 0. 499 is of clients that disconnected. */
export const statuses = [
  0, 200, 201, 204, 302, 304, 400, 401, 402, 403, 404, 413, 429, 499, 500, 502, 503, 504,
] as const

/** The limits that refuse authenticated callers, beside missing permissions. */
export const limits = [
  'requests',
  'concurrency',
  'tokens',
  'images',
  'audio',
  'month',
  'credit',
] as const
export type LimitName = (typeof limits)[number]

export const codes: readonly ErrorCode[] = Object.keys(errors).filter(
  (code): code is ErrorCode => code in errors,
)

const answerBounds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
]
const ownBounds = [
  0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1,
]

/** A request that is answered. */
export interface AnsweredRequest {
  path: string
  /** Of a request to a model: the time spent waiting for a provider, in milliseconds. */
  readonly waitedMs?: number
}

const statusAt = new Uint8Array(600)
for (const [at, status] of statuses.entries()) statusAt[status] = at
const codeAt: ReadonlyMap<string, number> = new Map(codes.map((code, at) => [code, at]))
/** February has this many seconds; windows of other limits are at most a day. */
const minMonthSeconds = 28 * 86_400

/** The limit that an error stands for; undefined for none. */
function limitOf({ code, details }: ApiError): LimitName | undefined {
  if (code === 'tokens_per_minute_exceeded') return 'tokens'
  if (code === 'images_per_minute_exceeded') return 'images'
  if (code === 'audio_seconds_per_minute_exceeded') return 'audio'
  if (code === 'insufficient_credits') return 'credit'
  if (code !== 'rate_limit_exceeded') return undefined
  const window = Number(details['window'])
  if (window === 0) return 'concurrency'
  return window >= minMonthSeconds ? 'month' : 'requests'
}

/** Counts answers of all endpoints, by a few additions in place for each. */
export class AnswerCounts {
  readonly #answers = new Float64Array(endpoints.length * statuses.length)
  readonly #errors = new Float64Array(codes.length)
  readonly #limits = new Float64Array(limits.length)
  readonly #durations = endpoints.map(() => new Histogram(answerBounds))
  /** The duration of a request without its waits for a provider. */
  readonly overhead = new Histogram(ownBounds)

  /** Counts the head of an answer, sent after so many milliseconds. */
  countAnswer(request: AnsweredRequest, status: number, durationMs: number): void {
    const endpoint = findEndpoint(request.path)
    const at = endpoint * statuses.length + (statusAt[status] ?? 0)
    this.#answers[at] = (this.#answers[at] ?? 0) + 1
    this.#durations[endpoint]?.observe(durationMs / 1000)
    const { waitedMs = 0 } = request
    if (waitedMs > 0 && status === 200) this.overhead.observe((durationMs - waitedMs) / 1000)
  }

  /** An error goes to a caller, instead of an answer or within one. */
  countError(error: ApiError): void {
    const at = codeAt.get(error.code) ?? 0
    this.#errors[at] = (this.#errors[at] ?? 0) + 1
    const limit = limitOf(error)
    if (limit === undefined) return
    const limitAt = limits.indexOf(limit)
    this.#limits[limitAt] = (this.#limits[limitAt] ?? 0) + 1
  }

  /** Returns each combination that was seen. */
  answers() {
    return endpoints.flatMap((endpoint, row) =>
      statuses.flatMap((status, column) => {
        const count = this.#answers[row * statuses.length + column] ?? 0
        return count > 0 ? [{ endpoint, status: status === 0 ? 'other' : status, count }] : []
      }),
    )
  }

  durations() {
    return endpoints.flatMap((endpoint, at) => {
      const histogram = this.#durations[at]
      return histogram && histogram.count > 0 ? [{ endpoint, histogram }] : []
    })
  }

  /** Returns all codes, as an alert on one that never occurred must find it. */
  errors() {
    return codes.map((code, at) => ({ code, count: this.#errors[at] ?? 0 }))
  }

  refusals() {
    return limits.map((limit, at) => ({ limit, count: this.#limits[at] ?? 0 }))
  }
}
