import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext } from 'playwright-core'
import {
  attack,
  email,
  signIn,
  createAttackFixture,
  clearRateLimit,
  sessionCookie,
  signInNewContext,
  startNeighbour,
  foreignChanges,
} from './attack-fixture'
import { heard } from './browser'
import type { SignedIn } from './signed-in'
import { freePort } from '../harness/free-port'
import { startGateway } from '../harness/server'
import { Browser, linksFor, password } from '../harness/browser-session'
import { openDatabase } from '../harness/database'
import { eventually } from '../../server/testing/eventually'

let fixture: Awaited<ReturnType<typeof createAttackFixture>>
let dashboard: SignedIn
let address: string

beforeAll(async () => {
  fixture = await createAttackFixture()
  dashboard = fixture.dashboard
  address = dashboard.address
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** Returns the state that no page of another site may change. */
async function belongings() {
  const { account } = dashboard
  const paths = ['/account/keys', '/account/settings', '/organizations', '/account/alerts']
  const answers = await Promise.all(paths.map((path) => account.send(`GET /api${path}`)))
  return answers.map(({ status, body }) => ({ status, body }))
}

async function firstKeyId(): Promise<string> {
  const { body } = await dashboard.account.send('GET /api/account/keys')
  const { keys } = body
  return Array.isArray(keys) ? String(keys[0].id) : ''
}

/** For where it comes from, or for a body that only a form sends. */
const refusals = new Set([403, 415])

/** Statuses that changes got, as the browser saw them. */
function statusesOfChanges(context: BrowserContext): number[] {
  const statuses: number[] = []
  context.on('response', (response) => {
    const request = response.request()
    const isChange = !['GET', 'OPTIONS'].includes(request.method())
    if (isChange && request.url().startsWith(address)) statuses.push(response.status())
  })
  return statuses
}

describe('B01: pages of other sites change nothing', () => {
  test('B01: neither next door, where cookies come along, nor from another site', async () => {
    await using neighbour = startNeighbour()
    const before = await belongings()
    const changes = foreignChanges(await firstKeyId())
    const [context, page] = await signInNewContext(dashboard)
    const statuses = statusesOfChanges(context)
    await page.goto(neighbour.address)
    // The cookie is there: what is refused is refused for where it comes from.
    const own = context.waitForEvent('response', (one) => one.url().endsWith('/api/account/keys'))
    await page.evaluate(
      `fetch('${address}/api/account/keys', { mode: 'no-cors', credentials: 'include' })`,
    )
    expect((await own).status()).toBe(200)
    await page.evaluate(`(${attack})(${JSON.stringify([address, changes])})`)
    await eventually(() => statuses.length >= changes.length)
    expect(statuses.filter((status) => !refusals.has(status))).toEqual([])

    await context.route('http://evil.example/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Evil</title>' }),
    )
    await page.goto('http://evil.example/')
    statuses.length = 0
    await page.evaluate(`(${attack})(${JSON.stringify([address, changes])})`)
    expect(statuses.filter((status) => status < 400)).toEqual([])
    expect(await belongings()).toEqual(before)
    await page.goto(address)
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    await context.close()
  })

  test('B01: requests with another origin, or none, are rejected too', async () => {
    const before = await belongings()
    const { host, hostname } = new URL(address)
    const cookie = [...dashboard.account.cookies].map((pair) => pair.join('=')).join('; ')
    const origins = [
      undefined,
      'null',
      `http://sub.${host}`,
      `http://${hostname}:1`,
      `http://${host}.evil.example`,
      `http://evil.example/${host}`,
    ]
    const statuses = new Set<number>()
    for (const [method, path, body] of foreignChanges(await firstKeyId())) {
      for (const origin of origins) {
        for (const type of ['application/json', 'text/plain']) {
          const headers = { cookie, 'content-type': type, ...(origin && { origin }) }
          const sent = body && { body: JSON.stringify(body) }
          const { status } = await fetch(`${address}${path}`, { method, headers, ...sent })
          statuses.add(status)
        }
      }
    }
    expect(statuses.difference(refusals)).toEqual(new Set())
    expect(await belongings()).toEqual(before)
  })
})

describe('B03: sessions', () => {
  test('B03: the cookie is new at each sign-in, for this host alone, and out of reach', async () => {
    await clearRateLimit(dashboard)
    const context = await dashboard.stranger()
    const planted = 'chosen-by-an-attacker'
    await context.addCookies([{ name: 'tollgate.session_token', value: planted, url: address }])
    const page = await context.newPage()
    await page.goto(`${address}/keys`)
    await signIn(page)
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    const cookie = await sessionCookie(context)
    expect(cookie).toMatchObject({
      domain: 'localhost',
      path: '/',
      httpOnly: true,
      sameSite: 'Strict',
    })
    expect(cookie.value).not.toBe(planted)
    expect(await page.evaluate<string>('document.cookie')).toBe('')
    await page.evaluate(`localStorage.clear(); sessionStorage.clear()`)
    await page.reload()
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    const [again] = await signInNewContext(dashboard)
    expect((await sessionCookie(again)).value).not.toBe(cookie.value)
    await Promise.all([context.close(), again.close()])
  })

  test('B03: it is for https alone where the service is', async () => {
    const base = 'https://gate.example'
    await using gateway = await startGateway({
      environment: { BASE_URL: base, PORT: String(freePort()) },
    })
    await using sql = await openDatabase(gateway.dataDir)
    const browser = new Browser(gateway)
    await browser.send('POST /api/auth/sign-up/email', { email, password, name: 'Ada' })
    const [link = ''] = await linksFor(sql, email)
    const { headers } = await fetch(link.replace(base, gateway.url), { redirect: 'manual' })
    const cookies = headers.getSetCookie().filter((line) => line.includes('session_token'))
    expect(cookies).toHaveLength(1)
    for (const flag of ['Secure', 'HttpOnly', 'SameSite=Strict', 'Path=/']) {
      expect(cookies[0]?.toLowerCase()).toContain(flag.toLowerCase())
    }
    expect(cookies[0]).not.toMatch(/domain=/i)
  })

  test('B03: signed out is signed out, and the way back shows nothing', async () => {
    const [context, page] = await signInNewContext(dashboard)
    const { value } = await sessionCookie(context)
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('cell', { name: 'Mine' }).first().waitFor()
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.content()).not.toContain('Mine')
    const old = await fetch(`${address}/api/account/keys`, {
      headers: { cookie: `tollgate.session_token=${value}` },
    })
    expect(old.status).toBe(401)
    await context.close()
  })

  test('B03: a new password, and the end of all others, end them everywhere', async () => {
    const [first, page] = await signInNewContext(dashboard)
    const [second, other] = await signInNewContext(dashboard)
    await page.goto(`${address}/settings/security`)
    await page.getByRole('button', { name: 'Sign out all others' }).click()
    await page.getByText('current', { exact: true }).waitFor()
    await page
      .getByRole('button', { name: 'Sign out', exact: true })
      .first()
      .waitFor({ state: 'detached' })
    await other.goto(`${address}/keys`)
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await clearRateLimit(dashboard)
    await signIn(other)
    await other.getByRole('heading', { name: 'API keys' }).waitFor()
    const next = 'another long enough password'
    await page.getByLabel('Current password').fill(password)
    await page.getByRole('textbox', { name: 'New password' }).fill(next)
    await page.getByRole('button', { name: 'Change password' }).click()
    await heard(page, 'Your password was changed.')
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Security' }).waitFor()
    // As the others know it.
    await page.getByLabel('Current password').fill(next)
    await page.getByRole('textbox', { name: 'New password' }).fill(password)
    await page.getByRole('button', { name: 'Change password' }).click()
    await heard(page, 'Your password was changed.')
    await Promise.all([first.close(), second.close()])
  })
})
