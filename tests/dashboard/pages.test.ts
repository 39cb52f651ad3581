import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { barriersOf } from './accessibility'
import { complaintsOf, startBrowser } from './browser'
import { pages } from './every-page'
import { openDatabase } from '../harness/database'
import { raiseApiRate } from '../money/funding/fixture'
import { startGateway, type Gateway } from '../harness/server'
import { linksFor, password } from '../harness/browser-session'
import { mailEnvironment } from '../harness/mail-environment'
import { eventually } from '../../server/testing/eventually'

const email = 'ada@example.com'

let gateway: Gateway
let browser: Browser
let sql: SQL & AsyncDisposable
/** Where the browser finds the gateway: cookies of a link belong to the name in it. */
let address: string
let signedIn: BrowserContext

beforeAll(async () => {
  gateway = await startGateway({ environment: mailEnvironment })
  await raiseApiRate(gateway)
  sql = await openDatabase(gateway.dataDir)
  browser = await startBrowser()
  address = gateway.url.replace('127.0.0.1', 'localhost')
  signedIn = await browser.newContext()
  const page = await signedIn.newPage()
  await page.goto(`${address}/sign-up`)
  await page.getByLabel('Name').fill('Ada')
  await page.getByLabel('Email').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Check your email').waitFor()
  const [link = ''] = await linksFor(sql, email)
  await page.goto(link)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.close()
  // What others see is in operator-people.test.ts.
  await sql`update users set is_operator = true where email = ${email}`
})
afterAll(async () => {
  await browser.close()
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

/** A page of who is signed in, and what it complains of. */
async function open(
  path: string,
  context = signedIn,
): Promise<{ page: Page; complaints: string[] }> {
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  await page.goto(`${address}${path}`)
  return { page, complaints }
}

const phone = { width: 390, height: 800 }

/** One page for all that is promised of it: loading it takes longer than looking at it. */
describe('every page', () => {
  test.each(pages)(
    '%s (%s) loads without console errors, has no accessibility barrier, in dark and light colours, and fits a phone',
    async (path, heading) => {
      const { page, complaints } = await open(path)
      await page.getByRole('heading', { name: heading, exact: true }).waitFor()
      expect(await barriersOf(page)).toEqual([])
      await page.setViewportSize(phone)
      await eventually(() =>
        page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'),
      )
      expect(complaints).toEqual([])
      await page.close()
    },
  )
})

test.each(['/', '/operator/users'])(
  'the pages above are all that the navigation of %s leads to',
  async (path) => {
    const { page } = await open(path)
    const links = page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('group')
      .getByRole('link')
    await links.first().waitFor()
    const targets = await links.evaluateAll((found) =>
      found.map((link) => link.getAttribute('href')),
    )
    expect(targets.length).toBeGreaterThan(10)
    const tested = new Set(pages.map(([tested]) => tested))
    expect(targets.filter((target) => target === null || !tested.has(target))).toEqual([])
    await page.close()
  },
)

describe('a signed-out user', () => {
  test('is redirected to sign-in, and then to the requested page', async () => {
    await sql`delete from auth_rate_limit`
    const context = await browser.newContext()
    const { page } = await open('/mappings', context)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByLabel('Email').fill(email)
    await page.getByRole('textbox', { name: 'Password' }).fill('not the password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').getByText('Invalid email or password').waitFor()
    await page.getByRole('textbox', { name: 'Password' }).fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Model mappings' }).waitFor()
    await context.close()
  })

  test('sees that a sign-in link has expired', async () => {
    const context = await browser.newContext()
    const { page } = await open('/?error=INVALID_TOKEN', context)
    await page.getByRole('alert').getByText('This link has expired').waitFor()
    expect(new URL(page.url()).searchParams.get('to')).toBe(null)
    await context.close()
  })

  test('is never redirected to another site', async () => {
    await sql`delete from auth_rate_limit`
    const context = await browser.newContext()
    const { page } = await open('/sign-in?to=https%3A%2F%2Fevil.example%2F', context)
    await page.getByLabel('Email').fill(email)
    await page.getByRole('textbox', { name: 'Password' }).fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(new URL(page.url()).origin).toBe(address)
    await context.close()
  })
})

test('billing reports that no payment processor is configured', async () => {
  const { page } = await open('/billing')
  await page.getByText('Payments are not set up').waitFor()
  expect(await page.getByRole('button', { name: 'Go to checkout' }).count()).toBe(0)
  await page.close()
})

test('a connection is added, never shows its key again, and is deleted', async () => {
  const { page } = await open('/connections')
  await page.getByRole('button', { name: 'Add connection' }).click()
  await page.getByLabel('Name').fill('Mine')
  await page.getByLabel('Provider').fill('nobody')
  await page.getByRole('textbox', { name: 'API key' }).fill('sk-canary-0123456789')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  // What is wrong stands at its field.
  await page.getByText(/^provider: /).waitFor()
  await page.getByLabel('Provider').fill('openai')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('cell', { name: 'openai' }).waitFor()
  await page.reload()
  await page.getByRole('cell', { name: 'openai' }).waitFor()
  expect(await page.content()).not.toContain('sk-canary')
  await page.getByRole('button', { name: 'Actions for Mine' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No connections yet').waitFor()
  await page.close()
})

test('a mapping previews the model of a request', async () => {
  const { page } = await open('/mappings')
  await page.getByRole('button', { name: 'New mapping' }).click()
  await page.getByLabel('Requested model').fill('gpt-*')
  await page.getByLabel('Target model').fill('sandbox/echo')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByLabel('Test a model name').fill('gpt-4o')
  await page.getByText('by sandbox').waitFor()
  await page.close()
})
