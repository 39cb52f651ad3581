import type { Customer, Gateway } from '../rig'

/** One request of a load. */
export interface Shot {
  node: number
  atMs: number
  tookMs: number
  status: number
  headers: Headers
}

interface Load {
  perSecond: number
  seconds: number
}

const windowMs = 60_000

async function shoot(gateway: Gateway, node: number, key: string): Promise<Shot> {
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
  { perSecond, seconds }: Load,
): Promise<Shot[]> {
  const shots: Promise<Shot>[] = []
  const startedAt = performance.now()
  while (performance.now() - startedAt < seconds * 1000) {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond)
    while (shots.length < due) {
      const node = shots.length % nodes.length
      const gateway = nodes[node]
      if (gateway) shots.push(shoot(gateway, node, key))
    }
    await Bun.sleep(5)
  }
  return Promise.all(shots)
}

/** Returns the maximum admitted within any 60 seconds. */
export function mostAMinute(shots: readonly Shot[]): number {
  const times = shots
    .filter(({ status }) => status === 200)
    .map(({ atMs }) => atMs)
    .toSorted((a, b) => a - b)
  let first = 0
  let most = 0
  for (const [last, atMs] of times.entries()) {
    while ((times[first] ?? atMs) <= atMs - windowMs) first += 1
    most = Math.max(most, last - first + 1)
  }
  return most
}

/** Returns a percentile of latencies. */
export function percentile(shots: readonly Shot[], part: number): number {
  const sorted = shots.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
