import type { Decision, LimitFault, LimitOutcome, LimitProfile } from './limits-world'
import { slotMs, windowMs } from '../src/limits/sliding-window'

/** All decisions about one limit. */
export interface LimitDecisions {
  profile: Pick<LimitProfile, 'kind' | 'limit'>
  decisions: readonly Decision[]
}

interface Event {
  atMs: number
  /** Added to the units in use. */
  units: number
  /** Whether a request is admitted by it: then the limit must hold. */
  isAdmission: boolean
}

/** Windows count in whole milliseconds. */
const toleranceMs = 1

/**
 * All that changed the units in use, as one observer of all nodes sees it, in the order of time; what becomes free does
 * so `lagMs` later.
 */
function eventsOf({ profile, decisions }: LimitDecisions, lagMs = 0): Event[] {
  const events: Event[] = []
  for (const { isAdmitted, atMs, weight, end } of decisions) {
    if (!isAdmitted) continue
    events.push({ atMs, units: weight, isAdmission: true })
    if (profile.kind === 'places') {
      if (end) events.push({ atMs: end.atMs + lagMs, units: -weight, isAdmission: false })
      continue
    }
    const expiresAtMs = atMs + windowMs - toleranceMs + lagMs
    const refund = end && end.atMs < expiresAtMs ? end.delta : 0
    if (end && refund < 0)
      events.push({ atMs: end.atMs + lagMs, units: refund, isAdmission: false })
    events.push({ atMs: expiresAtMs, units: -weight - refund, isAdmission: false })
  }
  return events.toSorted((a, b) => a.atMs - b.atMs || a.units - b.units)
}

/** The units in use beyond the limit at any time. */
export function overshootOf(outcome: LimitDecisions): number {
  let used = 0
  let max = 0
  for (const { units, isAdmission } of eventsOf(outcome)) {
    used += units
    if (isAdmission) max = Math.max(max, used)
  }
  return Math.max(0, max - outcome.profile.limit)
}

/** A node that received no request for so long may have given its slice back. Milliseconds. */
const idleMs = windowMs - slotMs
/** The faults in which no node admits a share. */
const exactFaults: ReadonlySet<unknown> = new Set<LimitFault>([
  'node dead',
  'node restarted',
  'store emptied',
])
/** The time in which nodes notice that a fault is over. Milliseconds. */
const recoveryMs = 1000

/**
 * The units beyond the limit that nodes may admit during a fault: a node that has no slice of the limit admits its
 * equal share while the store does not answer. Slots of a node that stood still belong to others meanwhile.
 */
export function toleratedOvershoot({ profile, decisions, fault }: LimitOutcome): number {
  const { kind, limit, nodes, fault: name } = profile
  if (!fault || exactFaults.has(name)) return 0
  const { fromMs, toMs, node: faulty } = fault
  const admitted = decisions.filter(({ isAdmitted }) => isAdmitted)
  if (name === 'node stalled') {
    if (kind !== 'places' || toMs - fromMs < windowMs) return 0
    return admitted.filter(({ node, atMs }) => node === faulty && atMs <= fromMs).length
  }
  const maxWeight = kind === 'tokens' ? Math.ceil(limit / 8) : 1
  const share = Math.max(maxWeight, Math.floor(limit / nodes))
  const idle = Array.from({ length: nodes }, (_, node) => node).filter((node) => {
    const own = decisions.filter((one) => one.node === node)
    return own.some(({ atMs, isAdmitted }, at) => {
      const idleSinceMs = own[at - 1]?.atMs ?? -Infinity
      return (
        isAdmitted && atMs >= fromMs && atMs <= toMs + recoveryMs && atMs - idleSinceMs >= idleMs
      )
    })
  })
  return idle.length * share
}

/** The units in use over time. */
class UseOverTime {
  readonly #events: readonly Event[]
  /** The units in use after each event. */
  readonly #used: number[] = []

  constructor(events: readonly Event[]) {
    this.#events = events
    let used = 0
    for (const { units } of events) this.#used.push((used += units))
  }

  /** Returns the most units in use from one time to another. */
  findMax(fromMs: number, toMs: number): number {
    let at = this.#countBefore(fromMs)
    let max = at > 0 ? (this.#used[at - 1] ?? 0) : 0
    for (; at < this.#events.length && (this.#events[at]?.atMs ?? Infinity) <= toMs; at++) {
      max = Math.max(max, this.#used[at] ?? 0)
    }
    return max
  }

  #countBefore(atMs: number): number {
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#events[middle]?.atMs ?? Infinity) < atMs) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Other nodes know after an exchange or two what became free. */
const usualNoticeMs = 20

/** Requests that were refused although they fitted from when they arrived until they were refused. */
export function falseRefusalsOf(outcome: LimitDecisions, noticeMs = usualNoticeMs): Decision[] {
  const { limit, kind } = outcome.profile
  const use = new UseOverTime(eventsOf(outcome, kind === 'places' ? noticeMs : slotMs + noticeMs))
  return outcome.decisions.filter(({ isAdmitted, atMs, durationMs, weight }) => {
    if (isAdmitted) return false
    return use.findMax(atMs - durationMs, atMs) + weight <= limit
  })
}

const byTime = (a: Decision, b: Decision) => a.atMs - b.atMs

/**
 * How far `Retry-After` is from when a request fits if nothing else happens, in milliseconds: the worst case of a limit
 * of requests.
 */
export function maxWaitError(outcome: LimitOutcome): number {
  const { limit } = outcome.profile
  const admitted = outcome.decisions
    .filter(({ isAdmitted }) => isAdmitted)
    .map(({ atMs }) => atMs)
    .toSorted((a, b) => a - b)
  let worst = 0
  let before = 0
  for (const { isAdmitted, atMs, waitMs } of outcome.decisions.toSorted(byTime)) {
    if (isAdmitted) continue
    while ((admitted[before] ?? Infinity) <= atMs) before += 1
    const fits = (admitted[before - limit] ?? atMs - windowMs) + windowMs
    worst = Math.max(worst, Math.abs(atMs + waitMs - fits))
  }
  return worst
}
