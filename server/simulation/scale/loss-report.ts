import { limitKinds, type LimitKind } from './population'
import { lossMs } from './profile'
import { Samples } from './samples'
import type { ScaleOutcome } from './scale-world'
import { count, percent, row, seconds, usd } from './table'

/**
 * Far from their store limits reject some requests that fit at any time. Their recovery is when this share of such rejections
 * is past.
 */
const pastShare = 0.95

/** The times after the loss of a region at which its effects end, in milliseconds; 0 for an effect that there was not. */
export interface Recovery {
  /** The last request that failed, or waited for more than five seconds while the region was lost. */
  failuresMs: number
  slownessMs: number
  /** All leases of the lost nodes are freed; Infinity if they are not. */
  leasesMs: number
  /** The last rejection of a request that its account could have paid with credit of lost nodes. */
  creditMs: number
  /** The rejections by limits of requests that fitted are past. */
  limitsMs: number
}

/** Returns the times to recover from the loss of a region; undefined for a run without one. */
export function recoveryOf(outcome: ScaleOutcome): Recovery | undefined {
  const { loss } = outcome
  if (!loss) return undefined
  const freed = loss.remaining.find(({ leases }) => leases === 0)
  return {
    failuresMs: loss.failedAtMs.percentile(1),
    slownessMs: loss.slowAtMs.percentile(1),
    leasesMs: freed?.afterMs ?? Infinity,
    creditMs: loss.refusedAtMs.percentile(1),
    limitsMs: falselyRefusedAt(outcome).percentile(pastShare),
  }
}

/** Returns when, after the loss, limits rejected requests that fitted. Milliseconds. */
function falselyRefusedAt({ falseRefusals, loss }: ScaleOutcome, only?: LimitKind): Samples {
  const times = new Samples()
  for (const { atMs, kind } of falseRefusals) {
    const afterMs = atMs - (loss?.atMs ?? Infinity)
    if (afterMs >= 0 && (only ?? kind) === kind) times.add(afterMs)
  }
  return times
}

/** Formats the figures of the loss of a region; nothing for a run without one. */
export function reportLoss(outcome: ScaleOutcome): string[] {
  const { loss, profile, traffic, unanswered } = outcome
  const recovery = recoveryOf(outcome)
  if (!loss || !recovery) return []
  const all = traffic.lost.reduce((sum, { requests }) => sum + requests, 0)
  const limits = limitKinds.map((kind) => {
    const falsely = falselyRefusedAt(outcome, kind)
    const refused = traffic.lost.reduce((sum, region) => sum + region.of(kind), 0)
    const times = [count(falsely.size), count(refused), pastAt(falsely), lastOf(falsely)]
    return row(`  rejected by ${kind}: falsely, of, 95 % after, last`, times)
  })
  return [
    '',
    row(`Region ${profile.regions} of ${profile.regions} ${profile.loss} for ${seconds(lossMs)}`, [
      'share p50',
      'share p99',
    ]),
    row(`  stranded credit of ${count(loss.stranded.parts.size)} accounts, by account`, [
      percent(loss.stranded.shares.percentile(0.5)),
      percent(loss.stranded.shares.percentile(0.99)),
    ]),
    ...limitKinds.map((kind) => {
      const { shares } = loss.strandedUnits[kind]
      return row(`  stranded ${kind} of ${count(shares.size)} limits, by limit`, [
        percent(shares.percentile(0.5)),
        percent(shares.percentile(0.99)),
      ])
    }),
    row('  stranded credit, USD', [usd(loss.stranded.amounts.sum)]),
    row('  requests from the loss on', [count(all)]),
    row('  answered by no process', [count(unanswered)]),
    row('  failed, the last after', [count(loss.failedAtMs.size), lastOf(loss.failedAtMs)]),
    row('  slower than five seconds, the last after', [
      count(loss.slowAtMs.size),
      lastOf(loss.slowAtMs),
    ]),
    row('  the same since the region is back', [count(loss.slowBackAtMs.size)]),
    row('  rejected for stranded credit, the last after', [
      count(loss.refusedAtMs.size),
      lastOf(loss.refusedAtMs),
    ]),
    ...limits,
    row('  all leases of lost nodes freed after', [seconds(recovery.leasesMs)]),
    row('  rejections that fit are past after', [seconds(recovery.limitsMs)]),
    ...overshootLines(outcome),
  ]
}

const pastAt = (times: Samples) => (times.size === 0 ? '' : seconds(times.percentile(pastShare)))
const lastOf = (times: Samples) => (times.size === 0 ? '' : seconds(times.percentile(1)))

/** Formats limits that were exceeded: nodes that are cut off admit their equal share of limits. */
function overshootLines({ overshoots }: ScaleOutcome): string[] {
  if (overshoots.length === 0) return []
  const beyond = new Samples()
  for (const { units, limit } of overshoots) beyond.add(units / limit)
  return [
    row(`  limits exceeded, by a share of the limit, p50 / max`, [
      count(beyond.size),
      percent(beyond.percentile(0.5)),
      percent(beyond.percentile(1)),
    ]),
  ]
}
