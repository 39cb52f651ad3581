import { expect } from 'bun:test'
import { RedisClient } from 'bun'
import { limit, untilReported } from './limit-nodes'
import { expectAnswered, type LoadRequest } from './load'
import { startWire, type SlowWire } from './slow-wire'
import { startTwoNodes, type TwoNodes } from '../../harness/database'
import { startRedis, type RedisServer } from '../../harness/redis-server'

/** Two nodes that share limits in a Redis. */
export interface LimitPair extends TwoNodes {
  both: TwoNodes['a'][]
  redis: RedisServer
  /** The way of node B to Redis. */
  wire: SlowWire
  /** Waits until both nodes reach Redis, and know each other. */
  untilShared: () => Promise<void>
}

/** Starts them. Disposing of them verifies all that was recorded. */
export async function startLimitPair(): Promise<LimitPair> {
  await using stack = new AsyncDisposableStack()
  const redis = stack.use(await startRedis())
  const wire = stack.use(startWire(redis.port))
  const nodes = stack.use(
    await startTwoNodes({
      environment: { REDIS_URL: redis.url, METRICS_PORT: '0', LOG_LEVEL: 'info' },
      ofB: { REDIS_URL: `redis://127.0.0.1:${wire.port}` },
    }),
  )
  const { a, b } = nodes
  const untilShared = () => untilReported(() => readReports(redis), 2)
  await untilShared()
  const open = stack.move()
  return {
    a,
    b,
    both: [a, b],
    redis,
    wire,
    untilShared,
    async [Symbol.asyncDispose]() {
      for (const { recorder } of [a, b]) recorder.verify()
      await open.disposeAsync()
    },
  }
}

async function readReports({ url }: RedisServer): Promise<Map<string, number>> {
  const client = new RedisClient(url, { autoReconnect: false })
  try {
    const reports = await client.hgetall('tollgate:slices:nodes')
    return new Map(Object.entries(reports).map(([node, atMs]) => [node, Number(atMs)]))
  } finally {
    client.close()
  }
}

/** Checks that all answers are admitted or rejected, with all rate limit headers. */
export function expectProperAnswers(shots: readonly LoadRequest[]): void {
  expectAnswered(shots)
  for (const { status, headers } of shots) {
    expect(headers.get('x-ratelimit-limit')).toBe(String(limit))
    expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
    expect(headers.get('x-ratelimit-reset')).toMatch(/^\d+$/)
    if (status === 429) expect(Number(headers.get('retry-after-ms'))).toBeWithin(1, 60_001)
  }
}
