import { expect, test } from 'bun:test'
import { startRedis } from './redis-server'
import { call, newSomebody } from '../connections/stage'
import { messages, parsed } from '../faults/asking'
import { Agent } from '../gateways/agent-for-tests'
import { startGateway } from '../rig'

const asked = 40

test('a gateway connected to one of two workers serves requests to either', async () => {
  await using redis = await startRedis()
  await using gateway = await startGateway({
    environment: {
      WORKERS: '2',
      REDIS_URL: redis.url,
      MINIMUM_BALANCE_USD: '0',
      LOG_LEVEL: 'info',
    },
  })
  await gateway.admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
  const owner = await newSomebody(gateway)
  const { body } = await call(gateway, owner, 'POST /gateways', { name: 'Mine' })
  const token = String(body['token'])
  using agent = new Agent(`${gateway.url.replace('http', 'ws')}/gateway`, token)
  await agent.ready()
  // The other worker's cached models may be older than that.
  await Bun.sleep(300)
  const workers = new Set<string>()
  for (let at = 0; at < asked; at += 1) {
    // On a new connection, so that the kernel chooses the worker.
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      keepalive: false,
      headers: {
        authorization: `Bearer ${owner.key}`,
        'content-type': 'application/json',
        connection: 'close',
      },
      body: JSON.stringify({ model: 'fake/mine', messages }),
    })
    const text = await response.text()
    expect([response.status, parsed(text)['error']]).toEqual([200, undefined])
  }
  const lines = gateway.output().matchAll(/^\{.*"worker":(\d+).*"path":"\/v1.*"status":200/gm)
  for (const [, worker = ''] of lines) workers.add(worker)
  expect(workers).toEqual(new Set(['1', '2']))
  expect(agent.seen('request')).toHaveLength(asked)
}, 60_000)
