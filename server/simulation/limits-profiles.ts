import type { LimitFault, LimitProfile } from './limits-world'

/** A hundred seeds are half a minute of computation, several on a busy machine: for the timeout of a test. Milliseconds. */
export const simulationMs = 600_000

/** Returns the first seeds. */
export const firstSeeds = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => at + 1)

const rates = [
  [20, 20],
  [90, 10],
  [200, 200],
  [600, 5],
  [1, 60],
] as const
const limits = {
  requests: [60, 7, 300],
  tokens: [1000, 100_000, 10_000],
  places: [2, 10, 4],
} as const
const kinds = ['requests', 'tokens', 'places'] as const

/** Returns the profile of a seed: all kinds, limits and rates in turn, unless `others` say otherwise. */
export function profileOf(seed: number, others: Partial<LimitProfile>): LimitProfile {
  const kind = others.kind ?? kinds[seed % 3] ?? 'requests'
  const limit = limits[kind][Math.floor(seed / 3) % 3] ?? 60
  const nodes = 2 + (seed % 4)
  return { seed, nodes, kind, limit, rates: rates[seed % 5] ?? rates[0], ...others }
}

/** How long faults last at most, where it is not the usual time. Milliseconds. */
const lasting: Partial<Record<LimitFault, { maxFaultMs: number }>> = {
  // A node that is cut off alone for longer may use its share beside the others.
  'node cut off': { maxFaultMs: 55_000 },
  'node stalled': { maxFaultMs: 200_000 },
}

/** Returns the profile of a seed with a fault. */
export const faultProfileOf = (seed: number, fault: LimitFault): LimitProfile =>
  profileOf(seed, { fault, ...lasting[fault] })
