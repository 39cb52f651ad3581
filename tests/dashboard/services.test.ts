import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { startBrowser } from './browser'
import { startGateway, type Gateway } from '../harness/server'

let gateway: Gateway
let browser: Browser

beforeAll(async () => {
  const environment = { GITHUB_CLIENT_ID: 'client-of-a-test', GITHUB_CLIENT_SECRET: 'made up' }
  gateway = await startGateway({ environment })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
  await gateway[Symbol.asyncDispose]()
})

test.each(['sign-in', 'sign-up'])(
  '/%s leads to the service that is set up, and to no other',
  async (path) => {
    const page = await browser.newPage()
    const requestedUrl = Promise.withResolvers<URL>()
    await page.route('https://github.com/**', async (route) => {
      requestedUrl.resolve(new URL(route.request().url()))
      await route.fulfill({ body: 'stands for GitHub' })
    })
    await page.goto(`${gateway.url.replace('127.0.0.1', 'localhost')}/${path}`)
    const lead = page.getByRole('button', { name: 'Continue with GitHub' })
    await lead.waitFor()
    expect(await page.getByRole('button', { name: /Google/ }).count()).toBe(0)
    await lead.click()
    const { origin, pathname, searchParams } = await requestedUrl.promise
    expect(`${origin}${pathname}`).toBe('https://github.com/login/oauth/authorize')
    expect(searchParams.get('client_id')).toBe('client-of-a-test')
    expect(searchParams.get('redirect_uri')).toEndWith('/api/auth/callback/github')
    expect(searchParams.get('state')).not.toBeNull()
    await page.close()
  },
)
