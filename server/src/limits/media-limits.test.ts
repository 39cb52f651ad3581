import { expect, test } from 'bun:test'
import { combineLimits, type LimitScope } from './caller-limits'
import { RateLimits, type Admission } from './limits'
import { speechNeed, toImageNeed, toSoundNeed } from './media-need'
import { MemoryCounters } from './memory-counters'
import { ApiError } from '../errors'
import * as fc from '../../testing/property'

const callerWith = (...scopes: Partial<LimitScope>[]) => ({
  limits: combineLimits(
    scopes.map((fields) => ({
      id: 'user_1',
      requestsPerMinute: null,
      tokensPerMinute: null,
      imagesPerMinute: null,
      audioSecondsPerMinute: null,
      maxConcurrentRequests: null,
      monthlyRequests: null,
      monthlySpend: null,
      ...fields,
    })),
  ),
})

function createFixture() {
  const clock = { ms: 0 }
  const counters = new MemoryCounters(() => clock.ms)
  return { clock, counters, limits: new RateLimits(counters) }
}

async function refusal(reserving: () => unknown): Promise<ApiError> {
  try {
    await reserving()
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown
    throw thrown
  }
  throw new Error('it was not refused')
}

const caller = callerWith({ imagesPerMinute: 10, audioSecondsPerMinute: 60 })
const reading = async (limits: RateLimits, { images, audioSeconds } = caller.limits) => {
  const read = await limits.readUse({ windows: [...images, ...audioSeconds], running: [] })
  return read.map(({ used }) => used)
}

test('images and seconds count in their own limits only, and return the rest', async () => {
  const { limits } = createFixture()
  const admission = await limits.admit(caller)
  await admission.reserve(0, toImageNeed(4))
  expect(await reading(limits)).toEqual([4, 0])
  admission.trueUp(0, { madeImages: 1, audioMs: 9000 })
  admission.release()
  admission.release()
  expect(await reading(limits)).toEqual([1, 0])
  const other = await limits.admit(caller)
  await other.reserve(0, toSoundNeed(12_500))
  expect(await reading(limits)).toEqual([1, 13])
  other.release()
  expect(await reading(limits)).toEqual([1, 0])
})

test('seconds of speech beyond the reservation count from the end of the answer on', async () => {
  const { clock, limits } = createFixture()
  const admission = await limits.admit(caller)
  await admission.reserve(0, speechNeed)
  clock.ms = 90_000
  admission.trueUp(0, { spokenMs: 29_100 })
  admission.release()
  expect(await reading(limits)).toEqual([0, 29])
})

test.each([
  {
    code: 'images_per_minute_exceeded',
    first: toImageNeed(7),
    second: toImageNeed(4),
    tooMany: toImageNeed(11),
    limit: 10,
  },
  {
    code: 'audio_seconds_per_minute_exceeded',
    first: toSoundNeed(40_000),
    second: toSoundNeed(21_000),
    tooMany: toSoundNeed(61_000),
    limit: 60,
  },
])('$code is the error of tokens in another unit', async (row) => {
  const { code, first, second, tooMany, limit } = row
  const { clock, limits } = createFixture()
  const admission = await limits.admit(caller)
  await admission.reserve(0, first)
  clock.ms = 10_000
  const next = await limits.admit(caller)
  expect(await refusal(() => next.reserve(0, second))).toMatchObject({
    code,
    status: 429,
    details: { limit, used: first.amount },
    retryAfterSeconds: 50,
    retryable: true,
    quota: { limit, remaining: limit - first.amount },
  })
  expect(await refusal(() => next.reserve(0, tooMany))).toMatchObject({
    code,
    retryable: false,
  })
  clock.ms = 60_000
  await next.reserve(0, second)
})

test('images count for a key and its account, and a rejection counts for neither', async () => {
  const { limits } = createFixture()
  const account = { id: 'user_1', imagesPerMinute: 5 }
  const one = callerWith(account, { id: 'key_1', imagesPerMinute: 3 })
  const admission = await limits.admit(one)
  await admission.reserve(0, toImageNeed(2))
  await refusal(async () => (await limits.admit(one)).reserve(0, toImageNeed(2)))
  expect(await reading(limits, one.limits)).toEqual([2, 2])
})

test('without a limit, nothing is counted', async () => {
  const { limits, counters } = createFixture()
  const admission = await limits.admit(callerWith({}))
  await admission.reserve(0, toImageNeed(10))
  admission.trueUp(0, { madeImages: 10 })
  admission.release()
  expect(counters.size).toBe(0)
})

test('a minute never has more images than its limit, for any reservations and answers', async () => {
  const request = fc.record({
    count: fc.integer({ min: 1, max: 10 }),
    made: fc.integer({ min: 0, max: 12 }),
    endsAtOnce: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 20 }), async (requests) => {
      const { limits } = createFixture()
      const running: { admission: Admission; count: number; made: number }[] = []
      let ended = 0
      const end = ({ admission, count, made }: (typeof running)[number]) => {
        admission.trueUp(0, { madeImages: made })
        admission.release()
        ended += Math.min(made, count)
      }
      for (const { count, made, endsAtOnce } of requests) {
        const admission = await limits.admit(caller)
        const held = running.reduce((sum, one) => sum + one.count, 0)
        const fits = ended + held + count <= 10
        const reserving = Promise.try(() => admission.reserve(0, toImageNeed(count)))
        const isAdmitted = await reserving.then(
          () => true,
          () => false,
        )
        expect(isAdmitted).toBe(fits)
        if (!isAdmitted) admission.release()
        else if (endsAtOnce) end({ admission, count, made })
        else running.push({ admission, count, made })
      }
      running.forEach(end)
      expect((await reading(limits))[0]).toBe(ended)
    }),
  )
})
