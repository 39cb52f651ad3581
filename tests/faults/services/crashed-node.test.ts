import { expect, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { recordTimeFigure } from '../../../server/testing/figures'
import { beginStream, endStreams, startEndless, untilAdmitted } from './endless'
import { startRedis } from '../../harness/redis-server'
import { startTwoNodes } from '../../harness/database'
import { startNodes } from '../../harness/nodes'

type Begin = () => Promise<Response>

/** Waits until all slots are taken for a node. While its store is late, its share may have one. */
const waitUntilRefused = (begin: Begin) =>
  eventually(async () => {
    const statuses: number[] = []
    for (let count = 0; count < 3; count++) {
      const response = await begin()
      await response.body?.cancel()
      statuses.push(response.status)
    }
    return statuses.every((status) => status === 429)
  })

test.concurrent('R11: concurrency slots of a crashed node are released', async () => {
  await using redis = await startRedis()
  await using nodes = await startTwoNodes({ environment: { REDIS_URL: redis.url } })
  const { a, b } = nodes
  await using endless = await startEndless(a)
  const { begin } = endless
  const plan = await a.admin('POST', '/plans', { name: 'two at once', concurrent_requests: 2 })
  const { key } = await a.customer({}, { plan_id: plan['id'] })
  const hold = () => untilAdmitted(() => begin(b, key))
  const held = await Promise.all([hold(), hold()])
  await waitUntilRefused(() => begin(a, key))
  await b.stop('SIGKILL')
  // Sooner it may only be slow.
  const bound = { atLeast: 30_000, atMost: 130_000 }
  await recordTimeFigure('R11: slots of a crashed node are released after', bound, async () => {
    await waitUntilRefused(() => begin(a, key))
    // On a busy machine a node may lose its Redis for moments, and then enforces its share, which is one of them.
    await eventually(async () => {
      const both = await Promise.all([begin(a, key), begin(a, key)])
      await Promise.all(both.map((response) => response.body?.cancel()))
      return both.every(({ status }) => status === 200)
    }, 240_000)
  })
  await endStreams(held)
}, 360_000)

test.concurrent('R11: a node that crashed and starts again in its data directory releases its slots with its first requests', async () => {
  const environment = { LOG_LEVEL: 'warn', LIMIT_STORE: 'postgresql' }
  await using nodes = await startNodes(2, environment)
  const model = await nodes.model('chunks-10000-gap-100', { pricing: undefined, is_free: true })
  const plan = await nodes.at(0).admin('POST', '/plans', {
    name: 'two at once',
    concurrent_requests: 2,
  })
  const { key } = await nodes.at(0).customer({}, { plan_id: plan['id'] })
  const begin = (index: number) => beginStream(nodes.at(index), key, model)
  const hold = () => untilAdmitted(() => begin(1))
  const held = await Promise.all([hold(), hold()])
  await waitUntilRefused(() => begin(0))
  await nodes.at(1).stop('SIGKILL')
  await waitUntilRefused(() => begin(0))
  await nodes.restart(1)
  // A process that did not know the one before it would find them taken for 70 s. A store that is late has a request refused.
  const admitted = await untilAdmitted(() => begin(1))
  expect(admitted.status).toBe(200)
  await endStreams([...held, admitted])
}, 240_000)
