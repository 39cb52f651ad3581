import type { Cost } from './attacker-process'
import type { Assault, Stage } from './stage'
import type { Customer } from '../rig'

/** The service that the victim received. */
export interface Service {
  /** Successful requests a second. */
  rate: number
  p99Ms: number
}

/** The effect of an attack on another account, and its cost. */
export interface Effect {
  attack: string
  attackerCost: Cost
  victimBefore: Service
  victimDuring: Service
}

/** An attack: a name, and the actions of the attacker's clients. */
export interface Attack {
  name: string
  assault: (attacker: Customer, stage: Stage) => Assault | Promise<Assault>
}

export interface Timing {
  /** The minimum and maximum number of measurements without and with the attack. */
  leastTurns: number
  turns: number
  /** The duration of each measurement. */
  windowMs: number
  /** The lead time of the attack before a measurement. */
  leadMs: number
}

export const usualTiming: Timing = { leastTurns: 3, turns: 5, windowMs: 800, leadMs: 200 }

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const serviceOf = (measured: readonly Service[]): Service => ({
  rate: median(measured.map(({ rate }) => rate)),
  p99Ms: median(measured.map(({ p99Ms }) => p99Ms)),
})

/** Tells whether the effect is below half of its bound: more measurements would not change the result. */
const isClear = (before: Service, during: Service): boolean =>
  during.rate > 0.95 * before.rate && during.p99Ms < 1.5 * before.p99Ms

/**
 * Measures a victim with and without an attack, in turns, so that other load of the machine affects
 * both. Returns the medians of each.
 */
export async function measureEffect(
  stage: Stage,
  { name, assault }: Attack,
  { leastTurns, turns, windowMs, leadMs }: Timing = usualTiming,
): Promise<Effect> {
  const before: Service[] = []
  const during: Service[] = []
  const cost: Cost = { requests: 0, sentBytes: 0, receivedBytes: 0, statuses: {} }
  const order = await assault(await stage.newAttacker(), stage)
  await stage.measure(300)
  for (let turn = 0; turn < turns; turn++) {
    before.push(await stage.measure(windowMs))
    const end = stage.assault(order)
    await Bun.sleep(leadMs)
    during.push(await stage.measure(windowMs))
    add(cost, await end())
    await Bun.sleep(leadMs)
    if (turn + 1 >= leastTurns && isClear(serviceOf(before), serviceOf(during))) break
  }
  return {
    attack: name,
    attackerCost: cost,
    victimBefore: serviceOf(before),
    victimDuring: serviceOf(during),
  }
}

function add(sum: Cost, { requests, sentBytes, receivedBytes, statuses }: Cost): void {
  sum.requests += requests
  sum.sentBytes += sentBytes
  sum.receivedBytes += receivedBytes
  for (const [status, count] of Object.entries(statuses)) {
    sum.statuses[status] = (sum.statuses[status] ?? 0) + count
  }
}

/** Formats one line of text. */
export function described({ attack, attackerCost, victimBefore, victimDuring }: Effect): string {
  const rate = (100 * victimDuring.rate) / victimBefore.rate
  const { requests, sentBytes, statuses } = attackerCost
  return (
    `${attack}: ${victimBefore.rate.toFixed(0)} -> ${victimDuring.rate.toFixed(0)} requests a second (${rate.toFixed(0)} %), ` +
    `p99 ${victimBefore.p99Ms.toFixed(0)} -> ${victimDuring.p99Ms.toFixed(0)} ms; ` +
    `${requests} requests, ${(sentBytes / 1e6).toFixed(0)} MB, ${JSON.stringify(statuses)}`
  )
}
