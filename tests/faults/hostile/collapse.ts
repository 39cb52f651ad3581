import type { Cost } from './attacker-process'
import {
  addCost,
  awaitAttack,
  describeCost,
  describeServices,
  newCost,
  prepareAssault,
  serviceOf,
  type Attack,
  type Service,
} from './effect'
import type { Fixture } from './fixture'

/** The effect of an attack on another account, and its cost. */
export interface Effect {
  attack: string
  attackerCost: Cost
  victimBefore: Service
  victimDuring: Service
}

type Services = Pick<Effect, 'victimBefore' | 'victimDuring'>

/** What a victim keeps under any attack, on any machine. A missing limit leaves it far less. */
export const collapse = { minRateShare: 0.5, maxP99Ms: 1000 }

const timing = {
  /** The number of measurements without and with the attack after which a result far from the bound ends them. */
  minRounds: 1,
  /** The number after which one within the bound ends them. */
  minNearRounds: 5,
  /** The maximum: a bound that is exceeded in fewer may be due to other load of the machine. */
  maxRounds: 15,
  /** The duration of each measurement. */
  windowMs: 700,
  /** The least lead time of the attack before a measurement, and of the victim's recovery after it. */
  leadMs: 200,
}

/** Returns whether the victim keeps its service. */
export const isServed = ({ victimBefore, victimDuring }: Services): boolean =>
  victimDuring.rate >= collapse.minRateShare * victimBefore.rate &&
  victimDuring.p99Ms < collapse.maxP99Ms

/** Returns whether more measurements would not change the result. */
const isFarFromCollapse = ({ victimBefore, victimDuring }: Services): boolean =>
  victimDuring.rate > 0.8 * victimBefore.rate && victimDuring.p99Ms < collapse.maxP99Ms / 4

/**
 * Measures a victim with and without an attack, in turns, so that other load of the machine affects
 * both. Returns the medians of each.
 */
export async function measureEffect(fixture: Fixture, attack: Attack): Promise<Effect> {
  const { minRounds, minNearRounds, maxRounds, windowMs, leadMs } = timing
  const before: Service[] = []
  const during: Service[] = []
  const attackerCost = newCost()
  const order = await prepareAssault(attack, fixture)
  const medians = () => ({ victimBefore: serviceOf(before), victimDuring: serviceOf(during) })
  for (let round = 1; round <= maxRounds; round++) {
    before.push(await fixture.measure(windowMs))
    const running = fixture.assault(order)
    await awaitAttack(running, leadMs)
    during.push(await fixture.measure(windowMs))
    addCost(attackerCost, await running.stop())
    await Bun.sleep(leadMs)
    const measured = medians()
    if (round >= minRounds && isFarFromCollapse(measured)) break
    if (round >= minNearRounds && isServed(measured)) break
  }
  return { attack: attack.name, attackerCost, ...medians() }
}

/** Formats one line of text. */
export const describeEffect = ({ attack, attackerCost, victimBefore, victimDuring }: Effect) =>
  `${attack}: ${describeServices(victimBefore, victimDuring)}; ${describeCost(attackerCost)}`
