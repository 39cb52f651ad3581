import { describe, expect } from 'bun:test'
import { mistypeKey } from './mistyped'
import { newApiKey } from '../../../server/src/auth/api-key'
import { freeze, postgresPid, startTwoNodes } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'
import { timedTest } from '../../harness/timed'

async function models({ url, recorder }: Gateway, key: string) {
  const startedAt = performance.now()
  const response = await recorder.fetch(`${url}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const body: { error?: { code: string } } = JSON.parse(await response.text())
  return {
    status: response.status,
    code: body.error?.code,
    retryAfter: response.headers.get('retry-after'),
    tookMs: performance.now() - startedAt,
  }
}

/** What each kind of key gets while the database does not answer; refusals in so many ms. */
async function expectOutage(gateway: Gateway, known: string, refusedWithinMs: number) {
  const malformed = await models(gateway, mistypeKey(known))
  expect(malformed).toMatchObject({ status: 401, code: 'invalid_api_key' })
  expect(malformed.tookMs).toBeLessThan(100)

  const working = await models(gateway, known)
  expect(working.status).toBe(200)
  expect(working.tookMs).toBeLessThan(100)

  const unknown = await Promise.all(Array.from({ length: 30 }, () => models(gateway, newApiKey())))
  for (const answer of unknown) {
    expect(answer).toMatchObject({ status: 503, code: 'gateway_unavailable' })
    expect(Number(answer.retryAfter)).toBeGreaterThanOrEqual(1)
  }
  const slowest = Math.max(...unknown.map(({ tookMs }) => tookMs))
  expect(slowest).toBeLessThan(refusedWithinMs)
  return slowest
}

describe('a database that does not answer makes no key invalid', () => {
  timedTest('D02: frozen', async () => {
    const environment = { DATABASE_GRACE_SECONDS: '0' }
    await using gateway = await startGateway({ environment, database: 'embedded' })
    const { key } = await gateway.customer()
    const fresh = await gateway.customer()
    expect((await models(gateway, key)).status).toBe(200)
    {
      using _frozen = await freeze(await postgresPid(gateway.dataDir))
      const slowest = await expectOutage(gateway, key, 1200)
      console.log(`refused after at most ${Math.round(slowest)} ms while frozen`)
      const ready = await fetch(`${gateway.url}/readyz`)
      expect(ready.status).toBe(503)
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
    }
    const thawedAt = performance.now()
    let answer = await models(gateway, fresh.key)
    while (answer.status !== 200 && performance.now() - thawedAt < 5000) {
      expect(answer.status).toBe(503)
      answer = await models(gateway, fresh.key)
    }
    const tookMs = performance.now() - thawedAt
    console.log(`a key never seen before works ${Math.round(tookMs)} ms after the thaw`)
    expect(tookMs).toBeLessThan(2000)
    gateway.recorder.verify()
  })

  timedTest('D01: gone', async () => {
    await using nodes = await startTwoNodes({ database: 'embedded' })
    const { a, b } = nodes
    const { key } = await a.customer()
    b.recorder.canary(key)
    expect((await models(b, key)).status).toBe(200)
    // Node A takes its PostgreSQL along.
    await a.stop('SIGTERM')
    const slowest = await expectOutage(b, key, 300)
    console.log(`refused after at most ${Math.round(slowest)} ms while down`)
    expect(b.output()).not.toContain(key)
    b.recorder.verify()
  })
})
