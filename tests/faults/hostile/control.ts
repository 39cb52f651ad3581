import type { Cost } from './attacker-process'
import {
  addCost,
  awaitAttack,
  describeCost,
  describeServices,
  median,
  newCost,
  prepareAssault,
  serviceOf,
  type Attack,
  type Service,
} from './effect'
import type { Assault, ControlledFixture, Target } from './fixture'

/** The victim's service while its own gateway is attacked, and while the one beside it is. */
interface Round {
  attacked: Service
  beside: Service
}

export interface Comparison {
  attack: string
  rounds: readonly Round[]
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

/**
 * Returns the victim's rate beside the control, in percent, and by what its p99 is longer: medians of the rounds, each
 * of which compares two seconds that follow each other, as other load of the machine changes over minutes.
 */
export const compareServices = (rounds: readonly Round[]) => ({
  ratePercent: median(rounds.map(({ attacked, beside }) => (100 * attacked.rate) / beside.rate)),
  p99Factor: median(
    rounds.map(({ attacked, beside }) => attacked.p99Ms / Math.max(minP99Ms, beside.p99Ms)),
  ),
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
 * process costs. It does not hold where far more processes want the processor than it has cores: there the second
 * gateway gets a part of it of its own.
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
  const rounds: Round[] = []
  const loads: Load[] = []
  const costAttacked = newCost()
  const costBeside = newCost()
  const order = await prepareAssault(attack, fixture)
  const control = await prepareAssault(attack, fixture.control)
  await fixture.measure(300)
  const attackVictim = async () => {
    const { service, cost, load } = await measureUnder(fixture, fixture, order)
    addCost(costAttacked, cost)
    loads.push(load)
    return service
  }
  const attackBeside = async () => {
    const load = order.bytesPerSecond === undefined ? { load: meanLoad(loads) } : {}
    const paced = { ...control, ...load }
    const { service, cost } = await measureUnder(fixture, fixture.control, paced)
    addCost(costBeside, cost)
    return service
  }
  while (rounds.length < timing.maxRounds) {
    // Each comes first in every other round, so that what drifts favours none.
    if (rounds.length % 2 === 0) {
      const attacked = await attackVictim()
      rounds.push({ attacked, beside: await attackBeside() })
    } else {
      const beside = await attackBeside()
      rounds.push({ attacked: await attackVictim(), beside })
    }
    const { ratePercent, p99Factor } = compareServices(rounds)
    if (rounds.length >= timing.minRounds && ratePercent > 95 && p99Factor < 1.5) break
  }
  return { attack: attack.name, rounds, costAttacked, costBeside }
}

/** Formats one line of text: from the control to the attack. */
export function describeComparison({ attack, rounds, costAttacked, costBeside }: Comparison) {
  const beside = serviceOf(rounds.map((round) => round.beside))
  const attacked = serviceOf(rounds.map((round) => round.attacked))
  const { ratePercent, p99Factor } = compareServices(rounds)
  return (
    `${attack}: beside the control ${ratePercent.toFixed(0)} % of the rate, ${p99Factor.toFixed(1)} x the p99 ` +
    `(medians: ${describeServices(beside, attacked)}); ` +
    `control: ${describeCost(costBeside)}; attacked: ${describeCost(costAttacked)}`
  )
}
