import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  email,
  signIn,
  createAttackFixture,
  clearRateLimit,
  signInNewContext,
  startNeighbour,
} from './attack-fixture'
import type { SignedIn } from './signed-in'
import { Browser, linksFor } from '../harness/browser-session'
import type { Json } from '../harness/http'
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

const atGateway = () => new Browser({ url: address })
const evil = 'https://evil.example/'
/** Ways to write an address of another site as if it were a path. */
const disguises = [
  evil,
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example/',
  '/.//evil.example/',
  'javascript:document.title="ran"',
]

describe('B04: no visitor is redirected or framed', () => {
  test('B04: pages of other sites cannot frame ours', async () => {
    const body = `<!doctype html><iframe src="${address}/keys"></iframe>`
    await using neighbour = startNeighbour(body)
    const [context, page] = await signInNewContext(dashboard)
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(neighbour.address)
    await page.waitForLoadState('networkidle')
    const [, frame] = page.frames()
    expect(await frame?.content()).not.toContain('root')
    await eventually(() => /frame-ancestors|X-Frame-Options/.test(complaints.join(' ')))
    await context.close()
  })

  test.each(disguises)('B04: sign-in redirects to none of them: %j', async (to) => {
    await clearRateLimit(dashboard)
    const context = await dashboard.stranger()
    const page = await context.newPage()
    await page.goto(`${address}/sign-in?to=${encodeURIComponent(to)}`)
    await signIn(page)
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    expect(new URL(page.url()).origin).toBe(address)
    expect(await page.title()).not.toBe('ran')
    await context.close()
  })

  test('B04: links of mails are not redirected either', async () => {
    const led: string[] = []
    for (const to of disguises) {
      await clearRateLimit(dashboard)
      const browser = atGateway()
      const where = encodeURIComponent(to)
      await browser.send('POST /api/auth/sign-in/magic-link', { email, callbackURL: to })
      await browser.send('POST /api/auth/request-password-reset', { email, redirectTo: to })
      const answers = await Promise.all([
        browser.send(`GET /api/auth/magic-link/verify?token=x&callbackURL=${where}`),
        browser.send(`GET /api/auth/magic-link/verify?token=x&errorCallbackURL=${where}`),
        browser.send(`GET /api/auth/verify-email?token=x&callbackURL=${where}`),
        browser.send(`GET /api/auth/reset-password/x?callbackURL=${where}`),
      ])
      led.push(...answers.flatMap(({ location }) => location ?? []))
    }
    const mailed = await linksFor(dashboard.sql, email)
    const hidden = mailed.flatMap((link) => [...new URL(link).searchParams.values()])
    const ways = [...led, ...mailed, ...hidden.filter((text) => /[/:\\]/.test(text))]
    expect(ways.length).toBeGreaterThan(0)
    expect(ways.filter((to) => URL.parse(to, address)?.origin !== address)).toEqual([])
  })

  test('B04: a mail about a password leads here, for any host of the request', async () => {
    await clearRateLimit(dashboard)
    const requestReset = async (redirectTo: string) => {
      const response = await fetch(`${dashboard.gateway.url}/api/auth/request-password-reset`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', host: 'evil.example' },
        body: JSON.stringify({ email, redirectTo }),
      })
      await response.text()
      return response.status
    }
    expect(await requestReset('https://evil.example/reset')).toBe(403)
    expect(await requestReset('/reset-password')).toBe(200)
    const [link = ''] = await linksFor(dashboard.sql, email)
    expect(new URL(link).origin).toBe(address)
    const { location } = await atGateway().send(`GET ${link}`)
    expect(URL.parse(location ?? '', address)?.origin).toBe(address)
  })

  test('B04: pages accept no messages, and a reset token leaks to no site', async () => {
    await clearRateLimit(dashboard)
    const context = await dashboard.stranger()
    await context.addInitScript(`window.heard = []
      const listen = EventTarget.prototype.addEventListener
      EventTarget.prototype.addEventListener = function (type, ...rest) {
        if (type === 'message' && this === window) window.heard.push(String(rest[0]))
        return listen.call(this, type, ...rest)
      }`)
    const leaks: string[] = []
    context.on('request', (request) => {
      const { referer = '' } = request.headers()
      if (!request.url().startsWith(address)) leaks.push(request.url(), referer)
    })
    const page = await context.newPage()
    await page.goto(`${address}/forgot-password`)
    await page.getByLabel('Email').fill(email)
    await page.getByRole('button', { name: 'Send link' }).click()
    await page.getByText('a link is on its way').waitFor()
    const [link = ''] = await linksFor(dashboard.sql, email)
    await page.goto(link)
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
    expect(page.url()).toContain('token=')
    const answer = await page.reload()
    expect(answer?.headers()['referrer-policy']).toMatch(/^(no-referrer|same-origin)$/)
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
    expect(leaks).toEqual([])
    expect(await page.evaluate<string[]>('window.heard')).toEqual([])
    await context.close()
  })
})

/** Everywhere that a page can keep something. */
const kept = (page: Page) =>
  page.evaluate<string>(`(async () => {
    const parts = [document.documentElement.outerHTML, location.href, JSON.stringify(history.state),
      JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie,
      [...document.querySelectorAll('input, textarea')].map((field) => field.value).join(' ')]
    for (const name of await caches.keys()) {
      for (const request of await (await caches.open(name)).keys()) parts.push(request.url)
    }
    parts.push(JSON.stringify(await indexedDB.databases()))
    return parts.join(' ')
  })()`)

test('B05: a key is in no page, storage, history or answer once it was shown', async () => {
  const [context, page] = await signInNewContext(dashboard)
  const answers: Promise<string>[] = []
  await page.goto(`${address}/keys`)
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name').fill('Once')
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = await page.getByRole('textbox', { name: 'API key' }).inputValue()
  expect(await kept(page)).toContain(key)
  page.on('response', (response) => answers.push(response.text().catch(() => '')))
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('textbox', { name: 'API key' }).waitFor({ state: 'detached' })
  expect(await kept(page)).not.toContain(key)
  for (const path of ['/logs', '/keys', '/']) {
    await page.goto(`${address}${path}`)
    await page.waitForLoadState('networkidle')
    expect(await kept(page)).not.toContain(key)
  }
  await page.goBack()
  await page.getByRole('cell', { name: 'Once' }).first().waitFor()
  expect(await kept(page)).not.toContain(key)
  expect((await Promise.all(answers)).filter((text) => text.includes(key))).toEqual([])
  await context.close()
})

describe('B07: guessing', () => {
  test.each<[string, Json]>([
    ['POST /api/auth/sign-in/email', { password: 'another long password' }],
    ['POST /api/auth/request-password-reset', { redirectTo: '/reset-password' }],
    ['POST /api/auth/sign-in/magic-link', { callbackURL: '/' }],
  ])('B07: no words reveal whether an address has an account: %s', async (request, fields) => {
    const outcomeOf = async (to: string) => {
      const { status, body } = await atGateway().send(request, { ...fields, email: to })
      return { status, body }
    }
    for (let count = 0; count < 3; count += 1) {
      await clearRateLimit(dashboard)
      const known = await outcomeOf(email)
      expect(await outcomeOf(`nobody-${count}@example.com`)).toEqual(known)
    }
  })

  test('B07: guesses on the page are stopped, with an explanation', async () => {
    await clearRateLimit(dashboard)
    const context = await dashboard.stranger()
    const page = await context.newPage()
    await page.goto(`${address}/sign-in`)
    const statuses: number[] = []
    page.on('response', (one) => {
      if (one.url().endsWith('/sign-in/email')) statuses.push(one.status())
    })
    while (!statuses.includes(429) && statuses.length < 20) {
      const answered = page.waitForResponse((one) => one.url().endsWith('/sign-in/email'))
      await signIn(page, email, `guess number ${statuses.length}`)
      await (await answered).finished()
      // A form that is still busy sends nothing.
      await page.getByRole('button', { name: 'Sign in', exact: true }).click({ trial: true })
    }
    expect(statuses.at(-1)).toBe(429)
    await page
      .getByRole('alert')
      .getByText(/too many/i)
      .waitFor()
    await clearRateLimit(dashboard)
    await context.close()
  })

  test('B07: a link to reset a password works once, in the page', async () => {
    await clearRateLimit(dashboard)
    const browser = atGateway()
    const resetRequest = { email, redirectTo: '/reset-password' }
    await browser.send('POST /api/auth/request-password-reset', resetRequest)
    const [link = ''] = await linksFor(dashboard.sql, email)
    const context = await dashboard.stranger()
    const page = await context.newPage()
    await page.goto(link)
    const form = page.url()
    const change = async () => {
      await page.getByRole('textbox', { name: 'New password' }).fill('a long enough password')
      await page.getByRole('button', { name: 'Change password' }).click()
    }
    await change()
    await page.getByRole('heading', { name: 'Your password was changed' }).waitFor()
    await page.goto(form)
    await change()
    await page.getByRole('alert').waitFor()
    await page.goto(link)
    await page.getByRole('heading', { name: 'This link has expired' }).waitFor()
    await context.close()
  })

  test('B07: an answer of another service counts only if requested', async () => {
    await clearRateLimit(dashboard)
    const asking = atGateway()
    const social = { provider: 'github', callbackURL: '/' }
    const { body } = await asking.send('POST /api/auth/sign-in/social', social)
    const state = new URL(String(body['url'])).searchParams.get('state') ?? ''
    expect(state.length).toBeGreaterThan(20)
    for (const forged of [state, 'forged', '']) {
      // A browser that never asked.
      const other = atGateway()
      const answer = await other.send(`GET /api/auth/callback/github?code=x&state=${forged}`)
      expect(answer.location).toMatch(/^(https?:\/\/localhost:\d+)?\/(sign-in|api\/auth\/error)\?/)
      expect([...other.cookies.keys()].filter((name) => name.includes('session'))).toEqual([])
      expect((await other.send('GET /api/account/keys')).status).toBe(401)
    }
  })
})
