import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { heard } from './browser'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import { password } from '../harness/browser-session'
import { eventually } from '../../server/testing/eventually'

let dashboard: SignedIn
let page: Page

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.operate()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const field = () => page.getByRole('textbox', { name: 'Name' })
const typed = 'A name that is not saved'

/** Opens the settings and types a name. The browser asks only about pages that were clicked. */
beforeEach(async () => {
  page = await dashboard.open('/settings')
  await field().click()
  await field().fill(typed)
})

const link = (name: string) => page.getByRole('link', { name, exact: true })
const question = () => page.getByRole('dialog', { name: 'Discard unsaved changes?' })

test('finding B14: unsaved settings require a confirmation before another page, the history or sign-out', async () => {
  await link('Quota').click()
  await question().waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.keyboard.press('Escape')
  await question().waitFor({ state: 'detached' })
  expect(await field().inputValue()).toBe(typed)

  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await question().getByRole('button', { name: 'Stay' }).click()
  expect(await field().inputValue()).toBe(typed)

  await link('Quota').click()
  await question().getByRole('button', { name: 'Discard changes' }).click()
  await page.getByRole('heading', { name: 'Quota', level: 1 }).waitFor()
  // Nothing is unsaved any more.
  await link('Alerts').click()
  await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
  await page.close()
})

test('finding B14: unsaved settings require a confirmation before the document is left, saved ones do not', async () => {
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.accept()
  })
  await page.reload()
  expect(asked).toEqual(['beforeunload'])
  await field().click()
  await field().fill('Ada L.')
  await page.getByRole('button', { name: 'Save name' }).click()
  await heard(page, 'Saved.')
  await page.reload()
  await field().waitFor()
  expect(asked).toEqual(['beforeunload'])
  await page.close()
})

test('finding B14: a drawer with unsaved changes requires a confirmation before it closes', async () => {
  await page.close()
  page = await dashboard.open('/operator/models?model=sandbox/echo')
  const drawer = page.getByRole('dialog', { name: 'Echo' })
  await drawer.getByRole('textbox', { name: 'Name', exact: true }).fill(typed)
  await drawer.getByRole('button', { name: 'Close' }).click()
  await question().getByRole('button', { name: 'Stay' }).click()
  expect(await drawer.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe(typed)
  await drawer.getByRole('button', { name: 'Close' }).click()
  await question().getByRole('button', { name: 'Discard changes' }).click()
  await drawer.waitFor({ state: 'detached' })
  await page.close()
})

test('finding B14: a session that ends keeps the page and the typed text, in the operator’s area too', async () => {
  await page.close()
  page = await dashboard.open('/operator/branding')
  await field().fill('Engines')
  await dashboard.sql`delete from auth_session`
  await dashboard.sql`delete from auth_rate_limit`
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.keyboard.press('Escape')
  expect(await dialog.getByRole('textbox', { name: 'Email' }).inputValue()).toBe('ada@example.com')
  await dialog.getByRole('textbox', { name: 'Password' }).fill('not the password')
  await page.keyboard.press('Enter')
  await dialog.getByText('Invalid email or password').waitFor()
  await dialog.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(await field().inputValue()).toBe('Engines')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await heard(page, 'Other nodes follow within seconds.')

  // The name stands in every page from then on.
  await page.reload()
  await page.getByRole('banner').getByText('Engines').waitFor()
  await eventually(async () => (await page.title()) === 'Branding · Engines')
  await page.close()
})

test('finding B14: without a network a page fails in its place, with a retry that loads it', async () => {
  await page.close()
  const context = await dashboard.stranger()
  await context.addCookies(await dashboard.context.cookies())
  page = await context.newPage()
  await page.goto(`${dashboard.address}/quota`)
  await page.getByRole('heading', { name: 'Quota', level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
  await context.setOffline(true)
  await page.getByText('You are offline').waitFor()
  await link('Mappings').click()
  await page.getByText('This page could not be loaded.').waitFor()
  expect(await link('Mappings').isVisible()).toBe(true)
  await link('Quota').click()
  await page.getByRole('heading', { name: 'Quota', level: 1 }).waitFor()
  await link('Mappings').click()
  await page.getByText('This page could not be loaded.').waitFor()
  await context.setOffline(false)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Model mappings', level: 1 }).waitFor()
  await page.getByText('You are offline').waitFor({ state: 'detached' })
  await context.close()
})
