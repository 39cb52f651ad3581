import type { BrowserContext, Page } from 'playwright-core'
import type { SignedIn } from './signed-in'
import { allowLoopback, upstreamEnvironment, startUpstream } from '../harness/byok'
import { raiseApiRate } from '../money/funding/fixture'
import { startSignedIn } from './signed-in'
import { password } from '../harness/browser-session'

/** The account that all of it is about. */
export const email = 'ada@example.com'

/** A dashboard with a signed-in account, a provider that it may name, and no limits in the way. */
export async function createAttackFixture() {
  await using opening = new AsyncDisposableStack()
  const upstream = opening.use(startUpstream())
  const dashboard = opening.use(
    await startSignedIn({
      environment: {
        ...upstreamEnvironment(upstream),
        ALERT_SECONDS: '0.2',
        GITHUB_CLIENT_ID: 'simulated',
        GITHUB_CLIENT_SECRET: 'simulated',
      },
    }),
  )
  await allowLoopback(dashboard.gateway)
  await raiseApiRate(dashboard.gateway)
  const open = opening.move()
  return { dashboard, upstream, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

/** All tries of a test come from one address. */
export const clearRateLimit = ({ sql }: SignedIn) => sql`delete from auth_rate_limit`

/** Signs in on the current page. */
export async function signIn(page: Page, as = email, withPassword = password) {
  await page.getByLabel('Email').fill(as)
  await page.getByRole('textbox', { name: 'Password' }).fill(withPassword)
  await page.keyboard.press('Enter')
}

/** Signs in with a browser of its own, and is at the overview then. */
export async function signInNewContext(dashboard: SignedIn): Promise<[BrowserContext, Page]> {
  await clearRateLimit(dashboard)
  const context = await dashboard.stranger()
  const page = await context.newPage()
  await page.goto(`${dashboard.address}/sign-in`)
  await signIn(page)
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
  return [context, page]
}

/** The cookie of a session, as a browser keeps it. */
export async function sessionCookie(context: BrowserContext) {
  const cookies = await context.cookies()
  const found = cookies.find(({ name }) => name.endsWith('session_token'))
  if (!found) throw new Error('no account is signed in')
  return found
}

/** A page of another site on another port: the same site, so that cookies come along. */
export function startNeighbour(body = '<!doctype html><title>Next door</title>') {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(body, { headers: { 'content-type': 'text/html' } }),
  })
  return {
    address: `http://localhost:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** Changes that a page of another site would like to make: method, path, body. */
export const foreignChanges = (keyId: string) =>
  [
    ['POST', '/api/account/keys', { name: 'Theirs', permissions: ['admin'] }],
    ['DELETE', `/api/account/keys/${keyId}`, undefined],
    ['PUT', '/api/account/settings', { display_name: 'Theirs' }],
    ['POST', '/api/organizations', { name: 'Theirs' }],
    ['POST', '/api/account/alerts', { name: 'Theirs', type: 'cost_threshold', threshold: 1 }],
    ['POST', '/api/auth/update-user', { name: 'Theirs' }],
    ['POST', '/api/auth/revoke-sessions', {}],
    ['POST', '/api/auth/sign-out', {}],
  ] as const

/** Run in a page of another site: everything that it can send without asking first. */
export const attack = `async ([target, wishes]) => {
  const settled = []
  for (const [method, path, body] of wishes) {
    const url = target + path
    const text = body && JSON.stringify(body)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json']) {
      const mode = type === 'application/json' || method !== 'POST' ? 'cors' : 'no-cors'
      const headers = { 'content-type': type }
      settled.push(fetch(url, { method, mode, headers, credentials: 'include', body: text }))
    }
    const image = new Image()
    image.src = url + '?_method=' + method
    if (method !== 'POST') continue
    navigator.sendBeacon(url, text)
    const frame = document.createElement('iframe')
    frame.name = 'frame' + path
    const form = document.createElement('form')
    Object.assign(form, { action: url, method: 'post', enctype: 'text/plain', target: frame.name })
    const field = document.createElement('input')
    // The sign between name and value is all that is not ours: '{"name":"Theirs","x":"="}'.
    field.name = text.replace(/}$/, (text === '{}' ? '' : ',') + '"x":"')
    field.value = '"}'
    form.append(field)
    document.body.append(frame, form)
    settled.push(new Promise((resolve) => (frame.onload = resolve)))
    form.submit()
  }
  const patience = new Promise((resolve) => setTimeout(resolve, 3000))
  await Promise.race([Promise.allSettled(settled), patience])
}`
