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
import type { Assault, ControlledFixture, Target } from './fixture'

/** The victim's service while its own gateway is attacked, and while the one beside it is. */
export interface Comparison {
  attack: string
  victimAttacked: Service
  victimBeside: Service
  costAttacked: Cost
  costBeside: Cost
}

const timing = {
  minRounds: 5,
  maxRounds: 9,
  windowMs: 1000,
  /** The least lead time of the attack before a measurement, in which an unpaced beginning ends. */
  leadMs: 400,
}

/** Below this, a p99 is due to the machine: the provider of the victim takes 20 ms by itself. */
const minP99Ms = 40

/** Returns the victim's rate beside the control, in percent, and by what its p99 is longer. */
export const compareServices = ({
  victimAttacked,
  victimBeside,
}: Pick<Comparison, 'victimAttacked' | 'victimBeside'>) => ({
  ratePercent: (100 * victimAttacked.rate) / victimBeside.rate,
  p99Factor: victimAttacked.p99Ms / Math.max(minP99Ms, victimBeside.p99Ms),
})

type Load = NonNullable<Assault['load']>

/** Attacks a gateway while the victim calls its own; returns its service, the cost, and the load of that time. */
async function measureUnder({ measure }: ControlledFixture, target: Target, order: Assault) {
  const running = target.assault(order)
  await awaitAttack(running, timing.leadMs)
  const startedAtMs = performance.now()
  const costBefore = await running.readCost()
  const service = await measure(timing.windowMs)
  const costAfter = await running.readCost()
  const seconds = (performance.now() - startedAtMs) / 1000
  const cost = await running.stop()
  await Bun.sleep(timing.leadMs)
  const load: Load = {
    requestsPerSecond: (costAfter.requests - costBefore.requests) / seconds,
    floodBytesPerSecond: (costAfter.floodBytes - costBefore.floodBytes) / seconds,
  }
  return { service, cost, load }
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length

const meanLoad = (loads: readonly Load[]): Load => ({
  requestsPerSecond: mean(loads.map(({ requestsPerSecond }) => requestsPerSecond)),
  floodBytesPerSecond: mean(loads.map(({ floodBytesPerSecond }) => floodBytesPerSecond)),
})

/**
 * Measures a victim while an attack runs against its own gateway, and, as the control, while the same attack runs
 * against an idle gateway beside it, in turns. Both take as much of the processors; the difference is what sharing a
 * process costs.
 *
 * The attacker's clients send one request after the other: an idle gateway would serve them, and read their provider's
 * flood, faster than the one that also serves the victim, and take more of the processors, which would flatter the
 * comparison. The control therefore gets the load that the victim's gateway took before, in requests a second
 * and in bytes of the flood a second, and no more. Bodies that are sent slowly have a fixed rate in both.
 */
export async function measureComparison(
  fixture: ControlledFixture,
  attack: Attack,
): Promise<Comparison> {
  const attacked: Service[] = []
  const beside: Service[] = []
  const loads: Load[] = []
  const costAttacked = newCost()
  const costBeside = newCost()
  const order = await prepareAssault(attack, fixture)
  const control = await prepareAssault(attack, fixture.control)
  await fixture.measure(300)
  const medians = () => ({ victimAttacked: serviceOf(attacked), victimBeside: serviceOf(beside) })
  for (let round = 1; round <= timing.maxRounds; round++) {
    const own = await measureUnder(fixture, fixture, order)
    attacked.push(own.service)
    addCost(costAttacked, own.cost)
    loads.push(own.load)
    const load = order.bytesPerSecond === undefined ? { load: meanLoad(loads) } : {}
    const other = await measureUnder(fixture, fixture.control, { ...control, ...load })
    beside.push(other.service)
    addCost(costBeside, other.cost)
    const { ratePercent, p99Factor } = compareServices(medians())
    if (round >= timing.minRounds && ratePercent > 95 && p99Factor < 1.5) break
  }
  return { attack: attack.name, costAttacked, costBeside, ...medians() }
}

/** Formats one line of text: from the control to the attack. */
export const describeComparison = ({
  attack,
  victimAttacked,
  victimBeside,
  costAttacked,
  costBeside,
}: Comparison) =>
  `${attack}: ${describeServices(victimBeside, victimAttacked)}; ` +
  `beside ${describeCost(costBeside)}; attacked ${describeCost(costAttacked)}`
