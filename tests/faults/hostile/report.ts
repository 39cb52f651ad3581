import { appendFileSync } from 'node:fs'
import type { Service } from './effect'

/** The measured effect of an attack on another account. */
export interface MeasuredAttack {
  attack: string
  attackerCost: string | { requests: number; sentBytes: number }
  victimBefore: Service
  victimDuring: Service
}

/** A line of the report of `npm run test:hostile`. */
export interface AttackRow {
  attack: string
  /** Its cost: requests, bytes, money. */
  cost: string
  /** Its effect on other accounts, or on the operator. */
  effect: string
  isHeld: boolean
}

/** The variable with the path of the report; without it nothing is reported. */
export const reportVariable = 'HOSTILE_REPORT'

/** Adds a row to the report. Called before the row's expectations, so that failures are reported too. */
export function reportAttack(row: AttackRow): void {
  const path = process.env[reportVariable]
  if (path) appendFileSync(path, `${JSON.stringify(row)}\n`)
}

const costOf = (cost: MeasuredAttack['attackerCost']) =>
  typeof cost === 'string'
    ? cost
    : `${cost.requests} requests, ${(cost.sentBytes / 1e6).toFixed(1)} MB`

/** Adds a measured attack. `bound` is what the verdict compares, in words. */
export function reportMeasured(
  measured: MeasuredAttack,
  { isHeld, bound }: { isHeld: boolean; bound: string },
): void {
  const { attack, attackerCost, victimBefore: before, victimDuring: during } = measured
  const share = during.rate / before.rate
  reportAttack({
    attack,
    cost: costOf(attackerCost),
    effect:
      `rate ${before.rate.toFixed(0)} → ${during.rate.toFixed(0)} a second (${(share * 100).toFixed(0)} %), ` +
      `p99 ${before.p99Ms.toFixed(0)} → ${during.p99Ms.toFixed(0)} ms; ${bound}`,
    isHeld,
  })
}
