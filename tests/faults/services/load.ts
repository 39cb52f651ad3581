import { expect } from 'bun:test'
import type { Customer, Gateway } from '../../harness/server'
import { internalUrl, scrape } from '../../harness/scrape'

/** One request of a load. */
export interface LoadRequest {
  node: number
  /** When its answer was read. Milliseconds, as `tookMs`. */
  atMs: number
  tookMs: number
  status: number
  headers: Headers
}

type TimedRequest = Pick<LoadRequest, 'atMs' | 'tookMs' | 'status'>

interface Load {
  perSecond: number
  seconds: number
  /** What happens once a load has run for so many seconds, while it goes on. */
  during?: readonly (readonly [afterSeconds: number, act: () => Promise<unknown>])[]
}

const windowMs = 60_000

/** Sends one request to a node, which is known as `node`. */
export async function shoot(gateway: Gateway, node: number, key: string): Promise<LoadRequest> {
  const startedAt = performance.now()
  const response = await gateway.recorder.fetch(`${gateway.url}/v1/models/sandbox/echo`, {
    headers: { authorization: `Bearer ${key}` },
  })
  await response.text()
  const { status, headers } = response
  const endedAt = performance.now()
  return { node, atMs: endedAt, tookMs: endedAt - startedAt, status, headers }
}

/** Sends requests at a steady rate to all nodes in turn, however long the answers take. */
export async function fire(
  nodes: readonly Gateway[],
  { key }: Customer,
  { perSecond, seconds, during = [] }: Load,
): Promise<LoadRequest[]> {
  const shots: Promise<LoadRequest>[] = []
  const acts: Promise<unknown>[] = []
  const startedAt = performance.now()
  const elapsed = () => (performance.now() - startedAt) / 1000
  while (elapsed() < seconds) {
    const next = during[acts.length]
    // One after the other: what restarts something waits for what has killed it.
    if (next && elapsed() >= next[0]) acts.push(Promise.resolve(acts.at(-1)).then(next[1]))
    const due = Math.floor(elapsed() * perSecond)
    while (shots.length < due) {
      const node = shots.length % nodes.length
      const gateway = nodes[node]
      if (gateway) shots.push(shoot(gateway, node, key))
    }
    await Bun.sleep(5)
  }
  await Promise.all(acts)
  return Promise.all(shots)
}

/** Returns the requests that were admitted. */
export const admitted = (shots: readonly LoadRequest[]): LoadRequest[] =>
  shots.filter(({ status }) => status === 200)

/** Checks that all requests are admitted or rejected. */
export function expectAnswered(shots: readonly LoadRequest[]): void {
  for (const { status } of shots) expect([200, 429]).toContain(status)
}

/** Prints what became of a load. */
export const report = (name: string, shots: readonly LoadRequest[]): void =>
  console.log(
    `${name}: at most ${maxPerMinute(shots)} a minute, ${admitted(shots).length} in all, ` +
      `p50 ${percentile(shots, 0.5).toFixed(1)} p99 ${percentile(shots, 0.99).toFixed(1)} ms`,
  )

/**
 * Returns the maximum admitted within any 60 seconds, by what is certain: a node admits a request at some moment between its
 * start and its answer, which are seconds apart on a busy machine, so that only requests count whose whole time is within.
 */
export function maxPerMinute(requests: readonly TimedRequest[]): number {
  const admitted = requests
    .filter(({ status }) => status === 200)
    .map(({ atMs, tookMs }) => ({ startMs: atMs - tookMs, endMs: atMs }))
  const within = (fromMs: number) =>
    admitted.filter(({ startMs, endMs }) => startMs >= fromMs && endMs < fromMs + windowMs).length
  return Math.max(0, ...admitted.map(({ startMs }) => within(startMs)))
}

/**
 * Returns how many a limit admits at most in the whole time of requests: one window's in each begun minute. With
 * `maxPerMinute` it leaves no room where answers are late.
 */
export function maxInAll(requests: readonly TimedRequest[], limit: number): number {
  const startMs = Math.min(...requests.map(({ atMs, tookMs }) => atMs - tookMs))
  const endMs = Math.max(...requests.map(({ atMs }) => atMs))
  return limit * Math.ceil((endMs - startMs) / windowMs)
}

/** Returns a percentile of latencies. */
export function percentile(shots: readonly LoadRequest[], part: number): number {
  const sorted = shots.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/** Reads the units of limits that nodes admitted without their store, which did not answer in time. */
export async function assumedUnits(nodes: readonly Pick<Gateway, 'output'>[]): Promise<number> {
  const scrapes = await Promise.all(nodes.map(async (node) => scrape(await internalUrl(node))))
  return scrapes.reduce((units, { sum }) => units + sum('tollgate_limit_assumed_units_total'), 0)
}
