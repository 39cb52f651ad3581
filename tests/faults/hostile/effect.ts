import type { Cost } from './attacker-process'
import type { Assault, Fixture } from './fixture'
import type { Customer } from '../../harness/server'

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
  assault: (attacker: Customer, fixture: Fixture) => Assault | Promise<Assault>
}

export interface Timing {
  /** The number of measurements without and with the attack after which a clear effect ends them. */
  minClearRounds: number
  /** The number after which one within its bounds ends them. */
  minFairRounds: number
  /** The maximum: a bound that is exceeded in fewer may be due to other load of the machine. */
  maxRounds: number
  /** The duration of each measurement. */
  windowMs: number
  /** The lead time of the attack before a measurement. */
  leadMs: number
}

export const defaultTiming: Timing = {
  minClearRounds: 3,
  minFairRounds: 5,
  maxRounds: 11,
  windowMs: 800,
  leadMs: 200,
}

/** The bounds of an effect: 10 % of the rate, and twice the p99. */
const maxEffect = { rateLoss: 0.1, p99Factor: 2 }

/** Below this, a p99 is due to the machine: the provider of the victim takes 20 ms by itself. */
const minP99Ms = 40

/** The bounds of the victim's service under attack. */
export const bounds = (before: Service) => ({
  minRate: (1 - maxEffect.rateLoss) * before.rate,
  maxP99Ms: maxEffect.p99Factor * Math.max(minP99Ms, before.p99Ms),
})

/** Returns whether an effect is within its bounds. */
export function isFair({
  victimBefore,
  victimDuring,
}: Pick<Effect, 'victimBefore' | 'victimDuring'>) {
  const { minRate, maxP99Ms } = bounds(victimBefore)
  return victimDuring.rate > minRate && victimDuring.p99Ms < maxP99Ms
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const serviceOf = (measured: readonly Service[]): Service => ({
  rate: median(measured.map(({ rate }) => rate)),
  p99Ms: median(measured.map(({ p99Ms }) => p99Ms)),
})

/** Tells whether the effect is below half of its bound: more measurements would not change the result. */
const isClear = ({
  victimBefore,
  victimDuring,
}: Pick<Effect, 'victimBefore' | 'victimDuring'>): boolean =>
  victimDuring.rate > 0.95 * victimBefore.rate && victimDuring.p99Ms < 1.5 * victimBefore.p99Ms

/**
 * Measures a victim with and without an attack, in turns, so that other load of the machine affects
 * both. Returns the medians of each.
 */
export async function measureEffect(
  fixture: Fixture,
  { name, assault }: Attack,
  { minClearRounds, minFairRounds, maxRounds, windowMs, leadMs }: Timing = defaultTiming,
): Promise<Effect> {
  const before: Service[] = []
  const during: Service[] = []
  const cost: Cost = { requests: 0, sentBytes: 0, receivedBytes: 0, statuses: {} }
  const order = await assault(await fixture.newAttacker(), fixture)
  await fixture.measure(300)
  const medians = () => ({ victimBefore: serviceOf(before), victimDuring: serviceOf(during) })
  for (let turn = 1; turn <= maxRounds; turn++) {
    before.push(await fixture.measure(windowMs))
    const end = fixture.assault(order)
    await Bun.sleep(leadMs)
    during.push(await fixture.measure(windowMs))
    add(cost, await end())
    await Bun.sleep(leadMs)
    const measured = medians()
    if (turn >= minClearRounds && isClear(measured)) break
    if (turn >= minFairRounds && isFair(measured)) break
  }
  return { attack: name, attackerCost: cost, ...medians() }
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
export function describeEffect({
  attack,
  attackerCost,
  victimBefore,
  victimDuring,
}: Effect): string {
  const rate = (100 * victimDuring.rate) / victimBefore.rate
  const { requests, sentBytes, statuses } = attackerCost
  return (
    `${attack}: ${victimBefore.rate.toFixed(0)} -> ${victimDuring.rate.toFixed(0)} requests a second (${rate.toFixed(0)} %), ` +
    `p99 ${victimBefore.p99Ms.toFixed(0)} -> ${victimDuring.p99Ms.toFixed(0)} ms; ` +
    `${requests} requests, ${(sentBytes / 1e6).toFixed(0)} MB, ${JSON.stringify(statuses)}`
  )
}
