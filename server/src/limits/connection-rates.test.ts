import { describe, expect, test } from 'bun:test'
import { ConnectionRates } from './connection-rates'
import { MemoryCounters } from './memory-counters'

function createFixture() {
  const clock = { ms: 0 }
  const rates = new ConnectionRates(new MemoryCounters(() => clock.ms))
  return { rates, clock }
}

const limited = (rpm: number | null, tpm: number | null, id = 'conn_1') => ({ id, rpm, tpm })

test('limits requests a minute for each connection separately', async () => {
  const { rates, clock } = createFixture()
  await rates.admit(limited(2, null), 0)
  await rates.admit(limited(2, null), 0)
  await rates.admit(limited(2, null, 'conn_2'), 0)
  await expect(rates.admit(limited(2, null), 0)).rejects.toMatchObject({
    code: 'rate_limit_exceeded',
    details: { limit: 2, window: 60, retry_after: 60 },
  })
  clock.ms += 61_000
  await rates.admit(limited(2, null), 0)
})

describe('tokens', () => {
  test('are reserved at admission, and corrected when the usage is known', async () => {
    const { rates } = createFixture()
    const end = await rates.admit(limited(null, 100), 90)
    await expect(rates.admit(limited(null, 100), 20)).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
    })
    end(10)
    await rates.admit(limited(null, 100), 20)
  })

  test('a request that they reject does not count', async () => {
    const { rates } = createFixture()
    const end = await rates.admit(limited(2, 100), 90)
    await expect(rates.admit(limited(2, 100), 90)).rejects.toMatchObject({ status: 429 })
    end(0)
    await rates.admit(limited(2, 100), 90)
  })

  test('bounds the Retry-After of a request that never fits', async () => {
    const { rates } = createFixture()
    await expect(rates.admit(limited(null, 100), 101)).rejects.toMatchObject({
      details: { limit: 100, window: 60, retry_after: 60 },
    })
  })
})
