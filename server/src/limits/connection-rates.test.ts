import { describe, expect, test } from 'bun:test'
import { ConnectionRates } from './connection-rates'
import { MemoryCounters } from './memory-counters'

function createFixture() {
  const clock = { ms: 0 }
  const rates = new ConnectionRates(new MemoryCounters(() => clock.ms))
  return { rates, clock }
}

const unlimited = { rpm: null, tpm: null, imagesPerMinute: null, audioSecondsPerMinute: null }
const limited = (rpm: number | null, tpm: number | null, id = 'conn_1') => ({
  ...unlimited,
  id,
  rpm,
  tpm,
})

const images = (amount: number) => ({ tokens: 0, media: { unit: 'images', amount } as const })
const seconds = (amount: number) => ({
  tokens: 0,
  media: { unit: 'audioSeconds', amount } as const,
})

test('limits requests a minute for each connection separately', async () => {
  const { rates, clock } = createFixture()
  await rates.admit(limited(2, null), { tokens: 0 })
  await rates.admit(limited(2, null), { tokens: 0 })
  await rates.admit(limited(2, null, 'conn_2'), { tokens: 0 })
  await expect(rates.admit(limited(2, null), { tokens: 0 })).rejects.toMatchObject({
    code: 'rate_limit_exceeded',
    details: { limit: 2, window: 60, retry_after: 60 },
  })
  clock.ms += 61_000
  await rates.admit(limited(2, null), { tokens: 0 })
})

describe('tokens', () => {
  test('are reserved at admission, and corrected when the usage is known', async () => {
    const { rates } = createFixture()
    const end = await rates.admit(limited(null, 100), { tokens: 90 })
    await expect(rates.admit(limited(null, 100), { tokens: 20 })).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
    })
    end({ tokens: 10 })
    await rates.admit(limited(null, 100), { tokens: 20 })
  })

  test('a request that they reject does not count', async () => {
    const { rates } = createFixture()
    const end = await rates.admit(limited(2, 100), { tokens: 90 })
    await expect(rates.admit(limited(2, 100), { tokens: 90 })).rejects.toMatchObject({
      status: 429,
    })
    end({ tokens: 0 })
    await rates.admit(limited(2, 100), { tokens: 90 })
  })

  test('bounds the Retry-After of a request that never fits', async () => {
    const { rates } = createFixture()
    await expect(rates.admit(limited(null, 100), { tokens: 101 })).rejects.toMatchObject({
      details: { limit: 100, window: 60, retry_after: 60 },
    })
  })
})

describe('images and seconds of sound', () => {
  test('are reserved at admission, and those that were not made come back', async () => {
    const { rates } = createFixture()
    const connection = { ...unlimited, id: 'conn_1', imagesPerMinute: 4 }
    const end = await rates.admit(connection, images(3))
    await expect(rates.admit(connection, images(2))).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      message: expect.stringContaining('accepts 4 images per minute'),
    })
    end({ tokens: 0, media: { madeImages: 1 } })
    await rates.admit(connection, images(3))
  })

  test('the seconds of an answer count in full', async () => {
    const { rates } = createFixture()
    const connection = { ...unlimited, id: 'conn_1', audioSecondsPerMinute: 60 }
    const end = await rates.admit(connection, seconds(1))
    end({ tokens: 0, media: { spokenMs: 59_500 } })
    await expect(rates.admit(connection, seconds(1))).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      message: expect.stringContaining('accepts 60 seconds of sound per minute'),
    })
  })

  test('a connection that did not answer counts none', async () => {
    const { rates } = createFixture()
    const connection = { ...unlimited, id: 'conn_1', rpm: 5, imagesPerMinute: 4 }
    const end = await rates.admit(connection, images(4))
    end({ tokens: 0 })
    await rates.admit(connection, images(4))
  })

  test('requests of other kinds are not limited by them', async () => {
    const { rates } = createFixture()
    const connection = { ...unlimited, id: 'conn_1', imagesPerMinute: 1 }
    await rates.admit(connection, images(1))
    await rates.admit(connection, { tokens: 100 })
    await rates.admit(connection, seconds(100))
  })
})
