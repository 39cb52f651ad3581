import { describe, expect, test } from 'bun:test'
import { mistypeKey } from './mistyped'
import { newApiKey } from '../../../server/src/auth/api-key'
import { freeze, postgresPid, startTwoNodes } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

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

const bound = { unit: 'ms', atMost: 100 }

/** What each kind of key gets while the database does not answer. Returns the time of the slowest refusal. */
async function expectOutage(gateway: Gateway, known: string): Promise<number> {
  const malformed = await models(gateway, mistypeKey(known))
  expect(malformed).toMatchObject({ status: 401, code: 'invalid_api_key' })
  recordFigure('a malformed key without the database', malformed.tookMs, bound)

  const working = await models(gateway, known)
  expect(working.status).toBe(200)
  recordFigure('a known key without the database', working.tookMs, bound)

  const unknown = await Promise.all(Array.from({ length: 30 }, () => models(gateway, newApiKey())))
  for (const answer of unknown) {
    expect(answer).toMatchObject({ status: 503, code: 'gateway_unavailable' })
    expect(Number(answer.retryAfter)).toBeGreaterThanOrEqual(1)
  }
  return Math.max(...unknown.map(({ tookMs }) => tookMs))
}

describe('a database that does not answer makes no key invalid', () => {
  test('D02: frozen', async () => {
    const environment = { DATABASE_GRACE_SECONDS: '0' }
    await using gateway = await startGateway({ environment, database: 'embedded' })
    const { key } = await gateway.customer()
    const fresh = await gateway.customer()
    expect((await models(gateway, key)).status).toBe(200)
    {
      using _frozen = await freeze(await postgresPid(gateway.dataDir))
      const slowestMs = await expectOutage(gateway, key)
      recordFigure('D02: the slowest refusal', slowestMs, { unit: 'ms', atMost: 1200 })
      const ready = await fetch(`${gateway.url}/readyz`)
      expect(ready.status).toBe(503)
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
    }
    const tookMs = await eventually(async () => {
      const { status } = await models(gateway, fresh.key)
      expect(status).toBeOneOf([200, 503])
      return status === 200
    })
    recordFigure('D02: a new key after the thaw', tookMs, { unit: 'ms', atMost: 2000 })
    gateway.recorder.verify()
  })

  test('D01: gone', async () => {
    await using nodes = await startTwoNodes({ database: 'embedded' })
    const { a, b } = nodes
    const { key } = await a.customer()
    b.recorder.canary(key)
    expect((await models(b, key)).status).toBe(200)
    // Node A takes its PostgreSQL along.
    await a.stop('SIGTERM')
    const slowestMs = await expectOutage(b, key)
    recordFigure('D01: the slowest refusal', slowestMs, { unit: 'ms', atMost: 300 })
    expect(b.output()).not.toContain(key)
    b.recorder.verify()
  })
})
