import type { Cost } from './attacker-process'
import type { Assault, RunningAssault, Target } from './fixture'
import type { Customer } from '../../harness/server'

/** The service that the victim received. */
export interface Service {
  /** Successful requests a second. */
  rate: number
  p99Ms: number
}

/** An attack: a name, and the actions of the attacker's clients. */
export interface Attack {
  name: string
  assault: (attacker: Customer, target: Target) => Assault | Promise<Assault>
}

/** Prepares an attack against a gateway; returns its order. */
export async function prepareAssault({ assault }: Attack, target: Target): Promise<Assault> {
  const order = await assault(await target.newAttacker(), target)
  await target.prepare(order)
  return order
}

/**
 * Waits for `leadMs`, and until the gateway has answered one of the attacker's requests, so that all of its work for one
 * is part of what is measured; a large body takes long to read. Slow bodies get no answer, which ends the wait after a
 * second.
 */
export async function awaitAttack({ readCost }: RunningAssault, leadMs: number): Promise<void> {
  const startedAtMs = performance.now()
  await Bun.sleep(leadMs)
  while (performance.now() - startedAtMs < 1000) {
    const { statuses } = await readCost()
    if (Object.keys(statuses).length > 0) return
    await Bun.sleep(20)
  }
}

/** Returns the median; the higher one of two. */
export const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Returns the medians of measurements. */
export const serviceOf = (measured: readonly Service[]): Service => ({
  rate: median(measured.map(({ rate }) => rate)),
  p99Ms: median(measured.map(({ p99Ms }) => p99Ms)),
})

export const newCost = (): Cost => ({
  requests: 0,
  sentBytes: 0,
  floodBytes: 0,
  receivedBytes: 0,
  statuses: {},
})

/** Adds one cost to another. */
export function addCost(sum: Cost, added: Cost): void {
  sum.requests += added.requests
  sum.sentBytes += added.sentBytes
  sum.floodBytes += added.floodBytes
  sum.receivedBytes += added.receivedBytes
  for (const [status, count] of Object.entries(added.statuses)) {
    sum.statuses[status] = (sum.statuses[status] ?? 0) + count
  }
}

/** Formats the service in two situations: `300 -> 280 requests a second (93 %), p99 45 -> 50 ms`. */
export function describeServices(first: Service, second: Service): string {
  const percent = (100 * second.rate) / first.rate
  return (
    `${first.rate.toFixed(0)} -> ${second.rate.toFixed(0)} requests a second (${percent.toFixed(0)} %), ` +
    `p99 ${first.p99Ms.toFixed(0)} -> ${second.p99Ms.toFixed(0)} ms`
  )
}

/** Formats the cost of an attack. */
export const describeCost = ({ requests, sentBytes, statuses }: Cost): string =>
  `${requests} requests, ${(sentBytes / 1e6).toFixed(0)} MB, ${JSON.stringify(statuses)}`
