import { expect, test } from 'bun:test'
import { forFile } from '../../harness/for-file'
import { startGateway } from '../../harness/server'

const gateway = forFile(
  () => startGateway(),
  async (opened) => opened[Symbol.asyncDispose](),
)

const html = 'text/html,application/xhtml+xml'

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway().url}${path}`, { headers, redirect: 'manual' })

/** The directives of a policy by name. */
const policyOf = ({ headers }: Response) =>
  new Map(
    (headers.get('content-security-policy') ?? '').split(';').map((directive) => {
      const [name = '', ...sources] = directive.trim().split(/\s+/)
      return [name, sources] as const
    }),
  )

/** Expects the headers of every answer outside of `/v1`, for every caller. */
function expectClosed(response: Response): void {
  const policy = policyOf(response)
  const { headers } = response
  expect(policy.get('frame-ancestors')).toEqual(["'none'"])
  expect([["'none'"], ["'self'"]]).toContainEqual(policy.get('default-src') ?? [])
  const scripts = policy.get('script-src') ?? policy.get('default-src') ?? []
  expect(scripts.filter((source) => source !== "'self'" && source !== "'none'")).toEqual([])
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('referrer-policy')).toBe('same-origin')
}

/** What a page of HTML loads and leads to, of this service. */
const linksOf = (page: string) =>
  [...page.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path = '']) => path)

test('B04: pages and all that they load may run and load only files of this service', async () => {
  const waiting = ['/', '/sign-in', '/settings/security', '/operator', '/docs', '/no/such/page']
  const seen = new Set<string>()
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.has(path)) continue
    seen.add(path)
    const response = await get(path, { accept: html })
    expect([path, response.status]).toEqual([path, 200])
    expectClosed(response)
    if (!response.headers.get('content-type')?.startsWith('text/html')) continue
    const page = await response.text()
    // The policy would stop them: a page that has them is a page that does not work.
    expect(page).not.toMatch(/<script(?![^>]*\ssrc=)/)
    expect(page).not.toMatch(/\son\w+=|javascript:/i)
    waiting.push(...linksOf(page))
  }
  // Scripts and styles of both were among them.
  expect([...seen].filter((path) => path.endsWith('.js')).length).toBeGreaterThanOrEqual(3)
})

test.each([
  ['/healthz', 200],
  ['/openapi.json', 200],
  ['/api/public/providers', 200],
  ['/api/account/settings', 401],
  ['/api/admin/users', 404],
  ['/api/nothing', 404],
  ['/api/auth/get-session', 200],
])('%s, answered with %d, is not a page and loads nothing', async (path, status) => {
  const response = await get(path)
  expect(response.status).toBe(status)
  expectClosed(response)
  expect(policyOf(response).get('default-src')).toEqual(["'none'"])
})

test('answers of accounts are not cached by intermediaries', async () => {
  const { key } = await gateway().customer()
  for (const authorization of [`Bearer ${key}`, 'Bearer nonsense']) {
    const response = await get('/api/account/settings', { authorization })
    expect(response.headers.get('cache-control')).toBe('no-store')
  }
})

test('paths below /v1 have exactly the headers of their contract', async () => {
  const { key } = await gateway().customer()
  const { headers } = await get('/v1/models', { authorization: `Bearer ${key}` })
  expect(headers.has('content-security-policy')).toBe(false)
})
