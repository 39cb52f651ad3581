import type { WindowLimit } from './caller-limits'
import { findAmountInForce } from '../platform/amount-override'

/** A limit with the amount that is in force at a moment, and the moments between which it is: the last is exclusive. */
export interface LimitInForce {
  limit: WindowLimit
  fromMs: number
  untilMs: number
}

/** Finds a limit as its override has it at a moment. */
export function findLimitInForce(limit: WindowLimit, atMs: number): LimitInForce {
  const { override } = limit.budget ?? {}
  if (!override) return { limit, fromMs: -Infinity, untilMs: Infinity }
  const { requests, spend, tokens = null } = limit
  const base = spend ?? tokens ?? BigInt(requests ?? 0)
  const { amount, fromMs, untilMs, risesAtMs } = findAmountInForce(base, override, atMs)
  const inForce = {
    ...limit,
    requests: requests === null ? null : Number(amount),
    spend: spend === null ? null : amount,
    tokens: tokens === null ? null : amount,
    risesAtMs,
  }
  return { limit: inForce, fromMs, untilMs }
}
