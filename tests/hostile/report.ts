import { appendFileSync } from 'node:fs'

/** How an account that has nothing to do with the attack is served. */
interface Service {
  /** Requests answered well, a second. */
  rate: number
  p99Ms: number
}

/** What an attack does to another account, as it was measured. */
export interface MeasuredAttack {
  attack: string
  attackerCost: string | { requests: number; sentBytes: number }
  victimBefore: Service
  victimDuring: Service
}

/** A line of the report of `npm run test:hostile`. */
export interface AttackRow {
  attack: string
  /** What it takes: requests, bytes, money. */
  cost: string
  /** What it does to other accounts, or to the house. */
  effect: string
  isHeld: boolean
}

/** The variable that names the file to which rows are added; without it nothing is reported. */
export const reportVariable = 'HOSTILE_REPORT'

/** Adds a row to the report. Call it before the row's expectations, so that a broken promise is in the report too. */
export function reportAttack(row: AttackRow): void {
  const path = process.env[reportVariable]
  if (path) appendFileSync(path, `${JSON.stringify(row)}\n`)
}

/** The most that an attack may change: a tenth of the rate, and twice the p99. */
export const maxEffect = { rateLoss: 0.1, p99Factor: 2 }

const costOf = (cost: MeasuredAttack['attackerCost']) =>
  typeof cost === 'string'
    ? cost
    : `${cost.requests} requests, ${(cost.sentBytes / 1e6).toFixed(1)} MB`

/** Adds a measured attack. `isHeld` where its test judges by something else than `maxEffect`. */
export function reportMeasured(measured: MeasuredAttack, isHeld?: boolean): void {
  const { attack, attackerCost, victimBefore: before, victimDuring: during } = measured
  const share = during.rate / before.rate
  const factor = during.p99Ms / before.p99Ms
  reportAttack({
    attack,
    cost: costOf(attackerCost),
    effect:
      `rate ${before.rate.toFixed(0)} → ${during.rate.toFixed(0)} a second (${(share * 100).toFixed(0)} %), ` +
      `p99 ${before.p99Ms.toFixed(0)} → ${during.p99Ms.toFixed(0)} ms`,
    isHeld: isHeld ?? (share >= 1 - maxEffect.rateLoss && factor <= maxEffect.p99Factor),
  })
}
