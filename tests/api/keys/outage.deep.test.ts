import { describe, expect, test } from 'bun:test'
import { mistypeKey } from './mistyped'
import { newApiKey } from '../../../server/src/auth/api-key'
import { freeze, postgresPid, startTwoNodes } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'
import { recordFigure, recordTimeFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

async function models({ url, recorder }: Gateway, key: string) {
  const response = await recorder.fetch(`${url}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const body: { error?: { code: string } } = JSON.parse(await response.text())
  return {
    status: response.status,
    code: body.error?.code,
    retryAfter: response.headers.get('retry-after'),
  }
}

const bound = { atMost: 100 }

interface Refusal {
  id: string
  atMost: number
}

/** Expects the answer to each kind of key while the database does not answer, and records their times. */
async function expectOutage(gateway: Gateway, known: string, refusal: Refusal) {
  const malformed = await recordTimeFigure('a malformed key without the database', bound, () =>
    models(gateway, mistypeKey(known)),
  )
  expect(malformed).toMatchObject({ status: 401, code: 'invalid_api_key' })

  const working = await recordTimeFigure('a known key without the database', bound, () =>
    models(gateway, known),
  )
  expect(working.status).toBe(200)

  const unknown = await Promise.all(
    Array.from({ length: 30 }, () =>
      recordTimeFigure(`${refusal.id}: the slowest refusal`, { atMost: refusal.atMost }, () =>
        models(gateway, newApiKey()),
      ),
    ),
  )
  for (const answer of unknown) {
    expect(answer).toMatchObject({ status: 503, code: 'gateway_unavailable' })
    expect(Number(answer.retryAfter)).toBeGreaterThanOrEqual(1)
  }
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
      await expectOutage(gateway, key, { id: 'D02', atMost: 1200 })
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
    await expectOutage(b, key, { id: 'D01', atMost: 300 })
    expect(b.output()).not.toContain(key)
    b.recorder.verify()
  })
})
