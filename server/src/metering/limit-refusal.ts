import type { LimitRemainder } from './budget'
import { ApiError } from '../errors'
import type { WindowLimit } from '../limits/caller-limits'
import type { Window, WindowUnit } from '../platform/time-window'
import { formatPlainUsd, toUsd } from '../wire/usd'

const periods: Record<WindowUnit, string> = {
  hour: 'an hour',
  day: 'a day',
  week: 'a week',
  month: 'a month',
  quarter: 'a quarter',
  year: 'a year',
  total: 'in total',
}

/** Returns when more of a limit becomes free: its window ends, or a greater amount comes into force; infinite for never. */
const findReset = ({ risesAtMs = Infinity }: WindowLimit, { toMs }: Window): number =>
  Math.min(toMs, risesAtMs)

const toTime = (ms: number): string | null =>
  Number.isFinite(ms) ? new Date(ms).toISOString() : null

/** Returns a budget as a refusal names it in its details. Source: contract 6.14. */
function toBudgetDetails(limit: WindowLimit, remaining: number, window: Window) {
  const { budget } = limit
  if (!budget) return {}
  const { id, name, rule } = budget
  return {
    budget: {
      id,
      name,
      ...toUnitAndAmount(limit),
      remaining,
      window: rule.unit,
      // Null for a total.
      window_end: toTime(window.toMs),
    },
  }
}

function toUnitAndAmount({ spend, requests, tokens = null }: WindowLimit) {
  if (tokens !== null) return { unit: 'tokens', amount: Number(tokens) }
  return spend === null
    ? { unit: 'requests', amount: requests }
    : { unit: 'usd', amount: toUsd(spend) }
}

/** Creates the refusal of a request by a limit on their number. */
export function refuseByRequests(limit: WindowLimit, window: Window, wallMs: number): ApiError {
  const { fromMs, toMs } = window
  const maxRequests = limit.requests ?? 0
  const resetAtMs = findReset(limit, window)
  const seconds = (resetAtMs - wallMs) / 1000
  return new ApiError('rate_limit_exceeded', {
    message: toRequestsMessage(limit, window),
    details: {
      limit: maxRequests,
      window: (toMs - fromMs) / 1000,
      retry_after: Math.ceil(seconds),
      ...toBudgetDetails(limit, 0, window),
    },
    retryAfterSeconds: seconds,
    // Client libraries do not wait that long.
    retryable: false,
    quota: { limit: maxRequests, remaining: 0, resetAtMs },
  })
}

function toRequestsMessage(limit: WindowLimit, window: Window): string {
  const { requests, budget } = limit
  const end = toTime(findReset(limit, window))
  if (!budget) {
    return `The limit is ${requests} requests per month. The next month begins at ${end}.`
  }
  const { name, rule } = budget
  return `The budget "${name}" allows ${requests} requests ${periods[rule.unit]}. None is left until ${end}.`
}

/** A refusal by a spending limit: its message, and what it adds to the details of `insufficient_credits`. */
interface SpendingRefusal {
  message: string
  details: Record<string, unknown>
  /** When the limit resets; undefined for a limit that is not a budget, and for a total. */
  retryAfterSeconds?: number | undefined
}

/** Describes the refusal of a request that requires more than is left of a spending limit. */
export function describeSpendingRefusal(
  { remaining, limit, window }: LimitRemainder,
  requiredAmount: bigint,
  wallMs: number,
): SpendingRefusal {
  const { budget, spend } = limit
  const remainingUsd = formatPlainUsd(remaining)
  const requirement = `this request requires ${formatPlainUsd(requiredAmount)} USD.`
  if (!budget || spend === null) {
    return {
      message: `${remainingUsd} USD remain of this month's spending limit; ${requirement}`,
      details: {},
    }
  }
  const { name, rule } = budget
  const resetAtMs = findReset(limit, window)
  const end = toTime(resetAtMs)
  const until = end === null ? '' : ` until ${end}`
  const terms = `The budget "${name}" allows ${formatPlainUsd(spend)} USD ${periods[rule.unit]}`
  const seconds = Math.ceil((resetAtMs - wallMs) / 1000)
  return {
    message: `${terms}. ${remainingUsd} USD remain${until}; ${requirement}`,
    details: {
      ...toBudgetDetails(limit, toUsd(remaining), window),
      ...(end !== null && { retry_after: seconds }),
    },
    retryAfterSeconds: end === null ? undefined : seconds,
  }
}

/** Describes the refusal of a request that requires more tokens than are left of a budget, as one by a rate limit. */
export function describeTokenRefusal(
  { remaining, limit, window }: LimitRemainder,
  requiredTokens: bigint,
  wallMs: number,
) {
  const { fromMs, toMs } = window
  const resetAtMs = findReset(limit, window)
  const seconds = (resetAtMs - wallMs) / 1000
  const tokens = limit.tokens ?? 0n
  const name = limit.budget?.name ?? ''
  const period = periods[limit.budget?.rule.unit ?? 'month']
  const terms = `The budget "${name}" allows ${tokens} tokens ${period}.`
  return {
    message: `${terms} ${remaining} tokens remain until ${new Date(resetAtMs).toISOString()}; this request requires ${requiredTokens}.`,
    details: {
      limit: Number(tokens),
      window: (toMs - fromMs) / 1000,
      retry_after: Math.ceil(seconds),
      ...toBudgetDetails(limit, Number(remaining), window),
    },
    retryAfterSeconds: seconds,
    // Client libraries do not wait that long.
    retryable: false,
    quota: { limit: Number(tokens), remaining: Number(remaining), resetAtMs },
  }
}
