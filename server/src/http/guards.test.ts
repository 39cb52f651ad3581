import { expect, test } from 'bun:test'
import { Hono } from 'hono'
import type { Env } from './env'
import { account, modelKey, operator, unauthenticated } from './access'
import { assertGuarded, createGuards, guarded } from './guards'
import { renderError, toRendered } from './render'
import { newApiKey, hashOf } from '../auth/api-key'
import { ApiKeyCache } from '../auth/api-key-cache'
import { type Permission, type Principal } from '../auth/principal'
import { combineLimits } from '../limits/caller-limits'
import { reportQuota } from '../errors'
import { AddressRate } from '../limits/address-rate'
import { Authenticator } from '../auth/authenticator'
import { FailedAuthentications } from '../limits/failed-authentications'
import { RateLimits } from '../limits/limits'
import { MemoryCounters } from '../limits/memory-counters'
import { UnknownKeyLimiter } from '../limits/unknown-key-limiter'

const adminKey = 'the-operator-key-of-this-test'
const now = () => 0

const principal = (userId: string, permissions: Permission[]): Principal => ({
  keyId: `key of ${userId}`,
  keyPrefix: 'sk-tg-AAAAAA',
  logBodies: false,
  disabledUntilMs: null,
  accessLists: null,
  userId,
  accountId: userId,
  permissions,
  expiresAtMs: null,
  endsAtMs: null,
  limits: combineLimits([
    {
      id: userId,
      requestsPerMinute: 2,
      tokensPerMinute: null,
      imagesPerMinute: null,
      audioSecondsPerMinute: null,
      maxConcurrentRequests: null,
      monthlyRequests: null,
      monthlySpend: null,
    },
  ]),
})

/** What is on record is tested where there is a database. */
const unwritten = {
  async record(_read: unknown, run: () => Promise<unknown>) {
    await run()
  },
}

/** Guards over a clock that stands still: 3 requests a minute to `/api`, 2 to `/api/public`. */
function createFixture() {
  const keys = new Map<string, Principal>()
  const rates = { api: 3, public: 2 }
  const authenticator = new Authenticator({
    unknownKeys: new UnknownKeyLimiter(),
    apiKeys: new ApiKeyCache({ lookUp: (hash) => Promise.resolve(keys.get(hash)), now }),
    failures: new FailedAuthentications({ perMinute: () => 100, now }),
    limits: new RateLimits(new MemoryCounters(now)),
    lastUse: { note: () => undefined },
    anonymousCallers: new AddressRate({ perMinute: () => rates.public, now }),
    apiPerMinute: () => rates.api,
  })
  const sessions = { signedIn: () => Promise.resolve(undefined) }
  const newKey = (userId: string, permissions: Permission[] = ['read', 'write']) => {
    const key = newApiKey()
    keys.set(hashOf(key), principal(userId, permissions))
    return key
  }
  return {
    guards: createGuards({ authenticator, adminKey, sessions, trail: unwritten }),
    rates,
    newKey,
  }
}

type Guards = ReturnType<typeof createGuards>

const appOf = (guards: Guards) =>
  new Hono<Env>()
    .use('*', async (c, next) => {
      await next()
      const quota = c.get('quota')
      if (quota && c.res.status !== 429) reportQuota(c.res.headers, quota)
    })
    .get('/v1/models', guards.for(modelKey('read')), (c) => c.text('models'))
    .get('/api/things', guards.for(account('read')), (c) => c.text(c.get('principal').userId))
    .post('/api/things', guards.for(account('write')), (c) => c.text('made'))
    .get('/api/public/things', guards.for(unauthenticated), (c) => c.text('public'))
    .get('/api/admin/things', guards.for(operator()), (c) => c.text('operator'))
    .get('/healthz', guards.open, (c) => c.text('ok'))
    .onError((thrown) => renderError(toRendered(thrown), 'req_1'))

/** Serves the routes of this test and asks them: status, and what is left. */
function serve() {
  const { guards, rates, newKey } = createFixture()
  const app = appOf(guards)
  assertGuarded(app)
  const http = Bun.serve({ port: 0, fetch: (request, server) => app.fetch(request, { server }) })
  const ask = async (request: string, key?: string) => {
    const [method = '', path = ''] = request.split(' ')
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
    const response = await fetch(`http://127.0.0.1:${http.port}${path}`, { method, headers })
    const limitHeaders = ['limit', 'remaining'].map((name) =>
      response.headers.get(`x-ratelimit-${name}`),
    )
    return [
      response.status,
      ...limitHeaders.map((value) => (value === null ? null : Number(value))),
    ]
  }
  return { ask, rates, newKey, [Symbol.asyncDispose]: () => http.stop(true) }
}

test('/api has a rate for each account, all its keys together, apart from that of the models', async () => {
  await using served = serve()
  const { ask, newKey, rates } = served
  const [one, two, other] = [newKey('user_1'), newKey('user_1'), newKey('user_2')]
  expect(await ask('GET /v1/models', one)).toEqual([200, 2, 1])
  expect(await ask('GET /api/things', one)).toEqual([200, 3, 2])
  expect(await ask('POST /api/things', two)).toEqual([200, 3, 1])
  expect(await ask('GET /api/things', one)).toEqual([200, 3, 0])
  expect(await ask('GET /api/things', two)).toEqual([429, 3, 0])
  expect(await ask('GET /api/things', other)).toEqual([200, 3, 2])
  expect(await ask('GET /v1/models', one)).toEqual([200, 2, 0])
  // What the operator sets holds from the next request on.
  rates.api = 5
  expect(await ask('GET /api/things', one)).toEqual([200, 5, 1])
})

test('checks key, permission, then rate: an earlier rejection does not count towards the rate', async () => {
  await using served = serve()
  const { ask, newKey } = served
  const reader = newKey('user_1', ['read'])
  expect(await ask('GET /api/things')).toEqual([401, null, null])
  for (let tries = 0; tries < 5; tries++)
    expect(await ask('POST /api/things', reader)).toEqual([403, 3, 3])
  expect(await ask('GET /api/things', reader)).toEqual([200, 3, 2])
  for (let tries = 0; tries < 3; tries++) await ask('GET /api/things', reader)
  expect(await ask('POST /api/things', reader)).toEqual([403, 3, 0])
})

test('/api/public has a rate for each address; operators and health are not counted', async () => {
  await using served = serve()
  const { ask, newKey } = served
  expect(await ask('GET /api/public/things')).toEqual([200, 2, 1])
  expect(await ask('GET /api/public/things', newKey('user_1'))).toEqual([200, 2, 0])
  expect(await ask('GET /api/public/things')).toEqual([429, 2, 0])
  for (let count = 0; count < 10; count++) {
    expect(await ask('GET /api/admin/things', adminKey)).toEqual([200, null, null])
    expect(await ask('GET /healthz')).toEqual([200, null, null])
  }
  expect(await ask('GET /api/things', newKey('user_1'))).toEqual([200, 3, 2])
})

test.each<[string, (guards: Guards, app: Hono<Env>) => Hono<Env>]>([
  [
    '/api/things',
    (guards, app) => app.get('/api/things', guards.for(modelKey('read')), (c) => c.text('')),
  ],
  ['/api/things', ({ open }, app) => app.get('/api/things', open, (c) => c.text(''))],
  [
    '/api/admin/x',
    (guards, app) => app.get('/api/admin/x', guards.for(account('admin')), (c) => c.text('')),
  ],
  ['/api/public/x', ({ open }, app) => app.get('/api/public/x', open, (c) => c.text(''))],
  ['/v1/x', (guards, app) => app.get('/v1/x', guards.for(account('read')), (c) => c.text(''))],
  ['/v1/x', (_guards, app) => app.get('/v1/x', (c) => c.text(''))],
  [
    '/api/x',
    (_guards, app) =>
      app.get(
        '/api/x',
        guarded((c) => c.text('')),
      ),
  ],
])('a route %s with another guard, or without one, keeps the server from starting', (path, add) => {
  const { guards } = createFixture()
  expect(() => assertGuarded(add(guards, new Hono<Env>()))).toThrow(path)
})

test('sign-in and the payment processor bring their own proof', () => {
  const { open } = createFixture().guards
  const app = new Hono<Env>()
    .post('/api/auth/sign-in', open, (c) => c.text(''))
    .post('/api/webhooks/payments', open, (c) => c.text(''))
  expect(() => assertGuarded(app)).not.toThrow()
})
