import { describe, expect, test, setSystemTime } from 'bun:test'
import { hashOf, newApiKey } from './api-key'
import { ApiKeyCache } from './api-key-cache'
import type { Principal } from './principal'

const key = newApiKey()
const header = `Bearer ${key}`

const principal = (fields: Partial<Principal> = {}): Principal => ({
  keyId: 'key_1',
  keyPrefix: 'sk-tg-AAAAAA',
  logBodies: false,
  userId: 'user_1',
  accountId: 'user_1',
  permissions: ['read'],
  expiresAtMs: null,
  endsAtMs: null,
  limits: {
    requests: [],
    tokens: [],
    running: [],
    monthly: [],
  },
  ...fields,
})

/** A keyring over a database of the test's making, with a clock that stands until it is moved. */
function stage() {
  const clock = { ms: 1000 }
  const stored = new Map<string, Principal>([[hashOf(key), principal()]])
  const asked: string[] = []
  const state = { isDown: false }
  const waiting: (() => void)[] = []
  const held = { isHeld: false }
  const ring = new ApiKeyCache({
    async lookUp(hash) {
      asked.push(hash)
      const { isDown } = state
      const found = stored.get(hash)
      if (held.isHeld) await new Promise<void>((resolve) => waiting.push(resolve))
      if (isDown) throw new Error('the database is away')
      return found
    },
    now: () => clock.ms,
    random: () => 0.5,
  })
  const use = async (authorization: string | null = header) => ring.authenticate(authorization)
  const release = () => {
    held.isHeld = false
    for (const resolve of waiting.splice(0)) resolve()
  }
  return { ring, clock, stored, asked, state, held, use, release }
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
  ])('K05: %p is %s, and nobody is asked', async (authorization, code) => {
    const { use, asked } = stage()
    await expect(use(authorization)).rejects.toMatchObject({ code, status: 401 })
    expect(asked).toEqual([])
  })

  test.each(['bearer', 'BEARER', 'bEaReR'])('K05: the scheme may be %s', async (scheme) => {
    const { use } = stage()
    expect((await use(`${scheme}   ${key}`)).keyId).toBe('key_1')
  })
})

describe('a key in memory', () => {
  test('D06: a thousand calls at once are one lookup', async () => {
    const { use, asked } = stage()
    const all = await Promise.all(Array.from({ length: 1000 }, () => use()))
    expect(new Set(all).size).toBe(1)
    expect(asked).toHaveLength(1)
  })

  test('answers without a promise once it is known', async () => {
    const { ring, use } = stage()
    await use()
    expect(ring.authenticate(header)).not.toBeInstanceOf(Promise)
  })

  test('is renewed in the background after 30 s, and served meanwhile', async () => {
    const { ring, clock, asked, stored, use } = stage()
    await use()
    stored.set(hashOf(key), principal({ permissions: ['admin'] }))
    clock.ms += 30_001
    expect(ring.authenticate(header)).toMatchObject({ permissions: ['read'] })
    expect(asked).toHaveLength(2)
    await settle()
    expect(ring.authenticate(header)).toMatchObject({ permissions: ['admin'] })
  })

  test('A08: holds for 60 s at most when no notification arrives', async () => {
    const { clock, stored, use } = stage()
    await use()
    stored.clear()
    clock.ms += 60_000
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('K06: keys with the same beginning never share an entry', async () => {
    const { stored, use } = stage()
    const twins = Array.from({ length: 200 }, newApiKey)
    for (const twin of twins) stored.set(hashOf(twin), principal({ keyId: twin }))
    const found = await Promise.all(twins.map((twin) => use(`Bearer ${twin}`)))
    expect(found.map(({ keyId }) => keyId)).toEqual(twins)
    // The same beginning with another ending has another checksum: refused before any lookup.
    const near = key.slice(0, 46) + (key[46] === '0' ? '1' : '0') + key.slice(47)
    await expect(use(`Bearer ${near}`)).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('T06: expires while it is cached, and is told from an invalid one', async () => {
    const { stored, use } = stage()
    const endsAtMs = performance.now() + 30
    stored.set(hashOf(key), principal({ expiresAtMs: Date.now() + 30, endsAtMs }))
    expect((await use()).keyId).toBe('key_1')
    while (performance.now() < endsAtMs) await settle()
    await expect(use()).rejects.toMatchObject({ code: 'expired_api_key', status: 401 })
  })

  test('T01: no wall clock that is set anew makes an expired key good, or a good one expired', async () => {
    const { stored, use } = stage()
    try {
      for (const hours of [-2, 2, 87_600]) {
        const expiresAtMs = Date.now() + 60_000
        stored.set(hashOf(key), principal({ expiresAtMs, endsAtMs: performance.now() + 60_000 }))
        setSystemTime(Date.now() + hours * 3_600_000)
        expect((await use()).keyId).toBe('key_1')
        setSystemTime()
      }
      const ended = stage()
      ended.stored.set(
        hashOf(key),
        principal({ expiresAtMs: Date.now(), endsAtMs: performance.now() }),
      )
      setSystemTime(Date.now() - 2 * 3_600_000)
      await expect(ended.use()).rejects.toMatchObject({ code: 'expired_api_key' })
    } finally {
      setSystemTime()
    }
  })
})

describe('an unknown key', () => {
  test('is asked for once in 5 s', async () => {
    const { clock, asked, stored, use } = stage()
    stored.clear()
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
    clock.ms += 4999
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect(asked).toHaveLength(1)
    stored.set(hashOf(key), principal())
    clock.ms += 1
    expect((await use()).keyId).toBe('key_1')
  })

  test('D01: is not taken for invalid while the database is away', async () => {
    const { state, use } = stage()
    state.isDown = true
    await expect(use()).rejects.toMatchObject({ code: 'gateway_unavailable', status: 503 })
  })

  test('D01: an earlier "unknown" is no answer once it is older than 5 s', async () => {
    const { clock, state, stored, use } = stage()
    stored.clear()
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
    state.isDown = true
    clock.ms += 5000
    await expect(use()).rejects.toMatchObject({ code: 'gateway_unavailable' })
  })
})

describe('while the database is away', () => {
  test('D01: a known key works for 5 minutes, then the gateway is unavailable', async () => {
    const { clock, state, use } = stage()
    await use()
    state.isDown = true
    clock.ms += 299_999
    expect((await use()).keyId).toBe('key_1')
    clock.ms += 1
    await expect(use()).rejects.toMatchObject({ code: 'gateway_unavailable' })
  })

  test('D02: a known key waits for one failed lookup, not for one in each call', async () => {
    const { clock, state, asked, ring, use } = stage()
    await use()
    state.isDown = true
    clock.ms += 60_000
    await use()
    expect(ring.authenticate(header)).toMatchObject({ keyId: 'key_1' })
    expect(asked).toHaveLength(2)
    clock.ms += 1000
    await use()
    expect(asked).toHaveLength(3)
  })

  test('A08: a key that was changed is not served from before the change', async () => {
    const { ring, state, use } = stage()
    await use()
    state.isDown = true
    ring.forgetKey(hashOf(key))
    await expect(use()).rejects.toMatchObject({ code: 'gateway_unavailable' })
  })
})

describe('a change', () => {
  test('A08: forgetKey makes the next call look again', async () => {
    const { ring, stored, use } = stage()
    await use()
    stored.clear()
    ring.forgetKey(hashOf(key))
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('A08: forgetUser does so for all keys of the account, and no other', async () => {
    const { ring, stored, asked, use } = stage()
    const other = newApiKey()
    stored.set(hashOf(other), principal({ keyId: 'key_2', userId: 'user_2' }))
    await Promise.all([use(), use(`Bearer ${other}`)])
    stored.clear()
    ring.forgetUser('user_1')
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect((await use(`Bearer ${other}`)).keyId).toBe('key_2')
    expect(asked).toHaveLength(3)
  })

  test('an account that is reinstated works at once', async () => {
    const { ring, stored, use } = stage()
    stored.clear()
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
    stored.set(hashOf(key), principal())
    ring.forgetUser('user_1')
    expect((await use()).keyId).toBe('key_1')
  })

  test('D13: after distrust every key is looked up again', async () => {
    const { ring, stored, clock, use } = stage()
    await use()
    stored.clear()
    clock.ms += 10
    ring.distrust()
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test.each([
    ['forgetKey', (ring: ApiKeyCache) => ring.forgetKey(hashOf(key))],
    ['forgetUser', (ring: ApiKeyCache) => ring.forgetUser('user_1')],
    ['distrust', (ring: ApiKeyCache) => ring.distrust()],
  ])('A08: %s during a lookup: what was read before is not kept', async (_name, forget) => {
    const { ring, stored, held, release, use } = stage()
    held.isHeld = true
    const early = use()
    stored.clear()
    forget(ring)
    release()
    expect((await early).keyId).toBe('key_1')
    await expect(use()).rejects.toMatchObject({ code: 'invalid_api_key' })
  })
})
