import { describe, expect, test, setSystemTime } from 'bun:test'
import { hashOf, newApiKey } from './api-key'
import { ApiKeyCache } from './api-key-cache'
import { combineLimits } from '../limits/caller-limits'
import type { Principal } from './principal'
import { TestClock } from '../../testing/clock'

const key = newApiKey()
const header = `Bearer ${key}`

const principal = (fields: Partial<Principal> = {}): Principal => ({
  keyId: 'key_1',
  keyPrefix: 'sk-tg-AAAAAA',
  logBodies: false,
  disabledUntilMs: null,
  accessLists: null,
  userId: 'user_1',
  accountId: 'user_1',
  permissions: ['read'],
  expiresAtMs: null,
  endsAtMs: null,
  limits: combineLimits([]),
  ...fields,
})

/** A cache of keys over a database of the test's making, and its clock. */
function createFixture() {
  const clock = new TestClock()
  const stored = new Map<string, Principal>([[hashOf(key), principal()]])
  const lookups: string[] = []
  const state = { isDown: false }
  const waiting: (() => void)[] = []
  const held = { isHeld: false }
  const ring = new ApiKeyCache({
    async lookUp(hash) {
      lookups.push(hash)
      const { isDown } = state
      const found = stored.get(hash)
      if (held.isHeld) await new Promise<void>((resolve) => waiting.push(resolve))
      if (isDown) throw new Error('the database is away')
      return found
    },
    now: clock.monotonicMs,
    random: () => 0.5,
  })
  const use = async (authorization: string | null = header) => ring.authenticate(authorization)
  const release = () => {
    held.isHeld = false
    for (const resolve of waiting.splice(0)) resolve()
  }
  return { ring, clock, stored, lookups, state, held, use, release }
}

/** Lets what runs in the background come to its end. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('a header', () => {
  test.each([
    [null, 'missing_api_key'],
    ['', 'missing_api_key'],
    ['   ', 'missing_api_key'],
    ['Bearer', 'missing_api_key'],
    ['Bearer   ', 'missing_api_key'],
    ['Basic dXNlcjpwYXNz', 'invalid_api_key'],
    [key, 'invalid_api_key'],
    [`Bearer ${key} ${key}`, 'invalid_api_key'],
    [`Bearer ${key.slice(0, -1)}`, 'invalid_api_key'],
    ['Bearer sk-tg-unknown', 'invalid_api_key'],
  ])('K05: %p is %s, without a lookup', async (authorization, code) => {
    const { use, lookups } = createFixture()
    await expect(use(authorization)).rejects.toMatchObject({ code, status: 401 })
    expect(lookups).toEqual([])
  })

  test.each(['bearer', 'BEARER', 'bEaReR'])('K05: the scheme may be %s', async (scheme) => {
    const { use } = createFixture()
    expect((await use(`${scheme}   ${key}`)).keyId).toBe('key_1')
  })
})

describe('a key in memory', () => {
  test('D06: a thousand calls at once are one lookup', async () => {
    const { use, lookups } = createFixture()
    const all = await Promise.all(Array.from({ length: 1000 }, () => use()))
    expect(new Set(all).size).toBe(1)
    expect(lookups).toHaveLength(1)
  })

  test('is returned without a promise once it is cached', async () => {
    const { ring, use } = createFixture()
    await use()
    expect(ring.findCached(header)).toMatchObject({ keyId: 'key_1' })
  })

  test('is rejected as disabled until its pause ends by itself', async () => {
    const { clock, stored, lookups, use } = createFixture()
    const end = clock.monotonicMs() + 1
    stored.set(hashOf(key), principal({ disabledUntilMs: end }))
    const refused = { code: 'invalid_api_key', status: 401 }
    await expect(use()).rejects.toMatchObject(refused)
    await expect(use()).rejects.toThrow('disabled')
    await clock.advance(1)
    expect((await use()).keyId).toBe('key_1')
    expect(lookups).toHaveLength(1)
    const other = newApiKey()
    stored.set(hashOf(other), principal({ disabledUntilMs: Infinity }))
    await expect(use(`Bearer ${other}`)).rejects.toMatchObject(refused)
  })

  test('is renewed in the background after 30 s, and served meanwhile', async () => {
    const { ring, clock, lookups, stored, use } = createFixture()
    await use()
    stored.set(hashOf(key), principal({ permissions: ['admin'] }))
    await clock.advance(30_001)
    expect(ring.findCached(header)).toMatchObject({ permissions: ['read'] })
    expect(lookups).toHaveLength(2)
    await settle()
    expect(ring.findCached(header)).toMatchObject({ permissions: ['admin'] })
  })

  test('A08: stays valid for 60 s at most without a notification', async () => {
    const { clock, stored, use } = createFixture()
    await use()
    stored.clear()
    await clock.advance(60_000)
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('K06: keys with the same beginning never share an entry', async () => {
    const { stored, use } = createFixture()
    const twins = Array.from({ length: 200 }, newApiKey)
    for (const twin of twins) stored.set(hashOf(twin), principal({ keyId: twin }))
    const found = await Promise.all(twins.map((twin) => use(`Bearer ${twin}`)))
    expect(found.map(({ keyId }) => keyId)).toEqual(twins)
    // The same beginning with another ending has another checksum: refused before any lookup.
    const near = key.slice(0, 46) + (key[46] === '0' ? '1' : '0') + key.slice(47)
    await expect(use(`Bearer ${near}`)).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('T06: expires while it is cached, with its own error', async () => {
    const { clock, stored, use } = createFixture()
    const endsAtMs = clock.monotonicMs() + 1
    stored.set(hashOf(key), principal({ expiresAtMs: Date.now() + 1, endsAtMs }))
    expect((await use()).keyId).toBe('key_1')
    await clock.advance(1)
    await expect(use()).rejects.toMatchObject({ code: 'expired_api_key', status: 401 })
  })

  test('is invalid, not expired, where a rotation replaced its secret and the overlap ends', async () => {
    const { clock, stored, use } = createFixture()
    stored.set(hashOf(key), principal({ secretEndsAtMs: clock.monotonicMs() + 1 }))
    await use()
    await clock.advance(1)
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key', status: 401 })
  })

  test('T01: a changed wall clock neither revives an expired key nor expires a valid one', async () => {
    const { clock, stored, use } = createFixture()
    try {
      for (const hours of [-2, 2, 87_600]) {
        const expiresAtMs = Date.now() + 60_000
        stored.set(hashOf(key), principal({ expiresAtMs, endsAtMs: clock.monotonicMs() + 60_000 }))
        setSystemTime(Date.now() + hours * 3_600_000)
        expect((await use()).keyId).toBe('key_1')
        setSystemTime()
      }
      const ended = createFixture()
      ended.stored.set(
        hashOf(key),
        principal({ expiresAtMs: Date.now(), endsAtMs: ended.clock.monotonicMs() }),
      )
      setSystemTime(new Date(Date.now() - 2 * 3_600_000))
      await expect(ended.use()).rejects.toMatchObject({ code: 'expired_api_key' })
    } finally {
      setSystemTime()
    }
  })
})

describe('an unknown key', () => {
  test('is looked up once in 5 s', async () => {
    const { clock, lookups, stored, use } = createFixture()
    stored.clear()
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
    await clock.advance(4999)
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect(lookups).toHaveLength(1)
    stored.set(hashOf(key), principal())
    await clock.advance(1)
    expect((await use()).keyId).toBe('key_1')
  })

  test('D01: is not rejected as invalid while the database is unavailable', async () => {
    const { state, use } = createFixture()
    state.isDown = true
    await expect(use()).rejects.toMatchObject({ code: 'gateway_unavailable', status: 503 })
  })

  test('D01: an earlier "unknown" is not reused after 5 s', async () => {
    const { clock, state, stored, use } = createFixture()
    stored.clear()
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
    state.isDown = true
    await clock.advance(5000)
    await expect(use()).rejects.toMatchObject({ code: 'gateway_unavailable' })
  })
})

describe('while the database is away', () => {
  test('D01: a known key works for 5 minutes, then the gateway is unavailable', async () => {
    const { clock, state, use } = createFixture()
    await use()
    state.isDown = true
    await clock.advance(299_999)
    expect((await use()).keyId).toBe('key_1')
    await clock.advance(1)
    await expect(use()).rejects.toMatchObject({ code: 'gateway_unavailable' })
  })

  test('D02: a known key waits for one failed lookup, not for one in each call', async () => {
    const { clock, state, lookups, ring, use } = createFixture()
    await use()
    state.isDown = true
    await clock.advance(60_000)
    await use()
    expect(ring.findCached(header)).toMatchObject({ keyId: 'key_1' })
    expect(lookups).toHaveLength(2)
    await clock.advance(1000)
    await use()
    expect(lookups).toHaveLength(3)
  })

  test('A08: never returns a key from before its change', async () => {
    const { ring, state, use } = createFixture()
    await use()
    state.isDown = true
    ring.invalidateKey(hashOf(key))
    await expect(use()).rejects.toMatchObject({ code: 'gateway_unavailable' })
  })
})

describe('a change', () => {
  test('A08: invalidateKey makes the next call look the key up', async () => {
    const { ring, stored, use } = createFixture()
    await use()
    stored.clear()
    ring.invalidateKey(hashOf(key))
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('A08: invalidateUser does so for all keys of the account, and no other', async () => {
    const { ring, stored, lookups, use } = createFixture()
    const other = newApiKey()
    stored.set(hashOf(other), principal({ keyId: 'key_2', userId: 'user_2' }))
    await Promise.all([use(), use(`Bearer ${other}`)])
    stored.clear()
    ring.invalidateUser('user_1')
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect((await use(`Bearer ${other}`)).keyId).toBe('key_2')
    expect(lookups).toHaveLength(3)
  })

  test('an account that is reinstated works at once', async () => {
    const { ring, stored, use } = createFixture()
    stored.clear()
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
    stored.set(hashOf(key), principal())
    ring.invalidateUser('user_1')
    expect((await use()).keyId).toBe('key_1')
  })

  test('D13: after invalidateAll every key is looked up again', async () => {
    const { ring, stored, clock, use } = createFixture()
    await use()
    stored.clear()
    await clock.advance(10)
    ring.invalidateAll()
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test.each([
    ['invalidateKey', (ring: ApiKeyCache) => ring.invalidateKey(hashOf(key))],
    ['invalidateUser', (ring: ApiKeyCache) => ring.invalidateUser('user_1')],
    ['invalidateAll', (ring: ApiKeyCache) => ring.invalidateAll()],
  ])('A08: %s during a lookup prevents its result from being cached', async (_name, invalidate) => {
    const { ring, stored, held, release, use } = createFixture()
    held.isHeld = true
    const early = use()
    stored.clear()
    invalidate(ring)
    release()
    expect((await early).keyId).toBe('key_1')
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
  })
})
