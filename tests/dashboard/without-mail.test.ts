import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, BrowserContext } from 'playwright-core'
import { startBrowser } from './browser'
import { barriersOf } from './accessibility'
import { operatorLink } from '../api/sign-in/operator-link'
import { codeOf } from '../../server/testing/auth/authenticator-app'
import { enableFactor } from '../harness/authenticator-app'
import { Browser as Client, password } from '../harness/browser-session'
import { raiseApiRate } from '../money/funding/fixture'
import { startGateway, type Gateway } from '../harness/server'

let gateway: Gateway
let browser: Browser
let address: string

beforeAll(async () => {
  gateway = await startGateway()
  await raiseApiRate(gateway)
  browser = await startBrowser()
  address = gateway.url.replace('127.0.0.1', 'localhost')
})
afterAll(async () => {
  await browser.close()
  await gateway[Symbol.asyncDispose]()
})

const here = (link: string) => `${address}${link.slice(link.indexOf('/api/'))}`

/** A page in a browser context of its own. */
async function open(path: string, context?: BrowserContext) {
  const own = context ?? (await browser.newContext({ reducedMotion: 'reduce' }))
  const page = await own.newPage()
  await page.goto(path.startsWith('http') ? path : `${address}${path}`)
  return page
}

test('N8: without a mail server a newcomer signs up, and in by a link that an operator copies', async () => {
  const newcomer = await open('/sign-up')
  await newcomer.getByLabel('Name').fill('Grace')
  await newcomer.getByLabel('Email').fill('grace@example.com')
  await newcomer.getByRole('textbox', { name: 'Password' }).fill(password)
  await newcomer.getByRole('button', { name: 'Create account' }).click()
  await newcomer.getByRole('heading', { name: 'Ask for a sign-in link' }).waitFor()
  expect(await barriersOf(newcomer)).toEqual([])
  await newcomer.getByRole('link', { name: 'Already have an account?' }).click()
  await newcomer.getByText('This service sends no email').waitFor()
  expect(await newcomer.getByRole('button', { name: 'Email me a sign-in link' }).count()).toBe(0)
  expect(await newcomer.getByText('every start of the server').count()).toBe(0)

  const operator = await open(here(await operatorLink(gateway)))
  await operator.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
  await operator.goto(`${address}/operator/users`)
  await operator.getByRole('link', { name: 'Grace' }).click()
  await operator.getByRole('button', { name: 'Copy sign-in link' }).click()
  const dialog = operator.getByRole('dialog', { name: 'Sign-in link for Grace' })
  const link = await dialog.getByLabel('Sign-in link').inputValue()
  expect(await barriersOf(operator)).toEqual([])

  await newcomer.goto(here(link))
  await newcomer.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
  await newcomer.goto(`${address}/settings/security`)
  await newcomer.getByRole('textbox', { name: 'New password' }).fill('a password of the owner')
  await newcomer.getByRole('button', { name: 'Set password' }).click()
  await newcomer.getByLabel('Current password').waitFor()
})

test('finding S25: a link leads to the second factor, and from there to its page', async () => {
  const email = 'ada@example.com'
  const { id } = await gateway.admin('POST', '/users', { email })
  const client = new Client(gateway)
  await client.send(`GET ${await operatorLink(gateway, email)}`)
  await client.send('POST /api/auth/set-password', { newPassword: password })
  const { secret } = await enableFactor(client)
  const { link } = await gateway.admin('POST', `/users/${String(id)}/sign-in-link`)
  const page = await open(here(String(link)).replace('callbackURL=%2F', 'callbackURL=%2Fkeys'))
  await page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.getByLabel('Code').fill(codeOf(secret))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(`${address}/keys`)
})
