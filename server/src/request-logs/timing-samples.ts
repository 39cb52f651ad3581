/** The newest requests from which percentiles are computed: more would keep the client waiting. */
export const maxTimedRequests = 50_000
/** The newest requests whose provider latency is read. */
export const maxWeighedRequests = 5000

/** A number of milliseconds, and the number of requests that it was measured in. */
export interface TimingCount {
  ms: number
  count: number
}

/** Times of the newest successful requests that a filter matches. */
export interface TimingSamples {
  latencies: TimingCount[]
  /** Of streams. */
  firstTokens: TimingCount[]
  /** Latency outside of attempts, where these are known. */
  overheads: TimingCount[]
}

/** The numbers of requests that samples are taken of. */
export interface SampleLimits {
  timed: number
  weighed: number
}

/** Sums and percentiles of times, as statistics show them. */
export interface LogTimings {
  p50_latency_ms: number | null
  p95_latency_ms: number | null
  p50_time_to_first_token_ms: number | null
  p95_time_to_first_token_ms: number | null
  avg_overhead_ms: number | null
  p95_overhead_ms: number | null
}

/** Adds samples of disjoint sets of requests. */
export const addSamples = (one: TimingSamples, other: TimingSamples): TimingSamples => ({
  latencies: [...one.latencies, ...other.latencies],
  firstTokens: [...one.firstTokens, ...other.firstTokens],
  overheads: [...one.overheads, ...other.overheads],
})

/** Computes timings from samples. */
export function toTimings({ latencies, firstTokens, overheads }: TimingSamples): LogTimings {
  const mean = meanOf(overheads)
  return {
    p50_latency_ms: percentileOf(latencies, 0.5),
    p95_latency_ms: percentileOf(latencies, 0.95),
    p50_time_to_first_token_ms: percentileOf(firstTokens, 0.5),
    p95_time_to_first_token_ms: percentileOf(firstTokens, 0.95),
    avg_overhead_ms: mean === null ? null : Math.round(mean * 100) / 100,
    p95_overhead_ms: percentileOf(overheads, 0.95),
  }
}

/** Returns the number of requests that samples were taken of. */
export const countSampled = (samples: readonly TimingCount[]): number =>
  samples.reduce((sum, { count }) => sum + count, 0)

function meanOf(samples: readonly TimingCount[]): number | null {
  const count = countSampled(samples)
  if (count === 0) return null
  return samples.reduce((sum, { ms, count: times }) => sum + ms * times, 0) / count
}

/** Returns the least value that is at least as high as this share of them, as `percentile_disc` of SQL does. */
function percentileOf(samples: readonly TimingCount[], share: number): number | null {
  const needed = Math.max(1, Math.ceil(share * countSampled(samples)))
  let seenCount = 0
  for (const { ms, count } of samples.toSorted((one, other) => one.ms - other.ms)) {
    seenCount += count
    if (seenCount >= needed) return ms
  }
  return null
}
