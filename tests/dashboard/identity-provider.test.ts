import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { startBrowser } from './browser'
import { barriersOf } from './accessibility'
import {
  createIdentityProviderFixture,
  type IdentityProviderFixture,
} from '../api/sign-in/identity-provider-fixture'
import { ForgingProvider } from '../harness/identity-providers/forging-provider'

let provider: ForgingProvider
let fixture: IdentityProviderFixture
let browser: Browser

beforeAll(async () => {
  provider = await ForgingProvider.open()
  fixture = await createIdentityProviderFixture(provider)
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
  await fixture[Symbol.asyncDispose]()
  provider[Symbol.dispose]()
})

async function open(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  await page.goto(`${fixture.gatewayUrl}${path}`)
  return page
}

const name = 'Continue with Example Login'
const phone = { width: 390, height: 844 }

test.each([
  ['light', {}],
  ['dark', { colorScheme: 'dark' as const }],
  ['on a phone', { viewport: phone }],
])('the sign-in page, %s, leads to the identity provider', async (_, options) => {
  const page = await open('/sign-in', options)
  const requestedUrl = Promise.withResolvers<URL>()
  await page.route(`${provider.issuer}/**`, async (route) => {
    requestedUrl.resolve(new URL(route.request().url()))
    await route.fulfill({ body: 'stands for the provider' })
  })
  const lead = page.getByRole('button', { name })
  await lead.waitFor()
  expect(await barriersOf(page)).toEqual([])
  const fits = 'document.documentElement.scrollWidth <= innerWidth'
  expect(await page.evaluate<boolean>(fits)).toBe(true)
  await lead.click()
  const { pathname, searchParams } = await requestedUrl.promise
  expect([pathname, searchParams.get('client_id')]).toEqual(['/authorize', 'tollgate'])
  await page.context().close()
})

test('a provider that is down is named on the page, which can be tried again', async () => {
  const page = await open('/sign-in')
  // The discovery document of the test before is kept for minutes.
  await page.route('**/api/auth/sign-in/social', (route) =>
    route.fulfill({
      status: 503,
      json: {
        code: 'IDENTITY_PROVIDER_UNAVAILABLE',
        message: 'Signing in by Example Login is not possible at the moment.',
      },
    }),
  )
  await page.getByRole('button', { name }).click()
  await page.getByText('Signing in by Example Login is not possible at the moment.').waitFor()
  expect(await page.getByRole('button', { name }).isEnabled()).toBe(true)
  expect(await barriersOf(page)).toEqual([])
  await page.context().close()
})

test.each([
  ['identity_provider_unavailable', 'did not answer'],
  ['identity_provider_failed', 'was not accepted'],
  ['identity_provider_email_unverified', 'has not confirmed the email address'],
  ['identity_provider_domain', 'Email addresses of your domain cannot sign in'],
  ['identity_provider_required', 'sign-in service only'],
  ['SIGN_UP_CLOSED', 'accounts are created by invitation only'],
  ['state_mismatch', 'Start again'],
])('a sign-in that ends in %s is explained above the ways in', async (code, text) => {
  const page = await open(`/sign-in?error=${code}`)
  await page.getByRole('alert').getByText(text).waitFor()
  await page.getByRole('button', { name }).waitFor()
  expect(await page.getByLabel('Email').count()).toBe(1)
  await page.context().close()
})
