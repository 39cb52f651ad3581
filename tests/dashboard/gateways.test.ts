import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { choose } from './choose'
import { makeGateway, makeProvider, startAgent } from './self-hosted'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import { eventually } from '../../server/testing/eventually'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn({ environment: { MINIMUM_BALANCE_USD: '0' } })
  await makeProvider(dashboard)
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const go = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click()

/** Fills the form in, and resolves with what the panel with the token shows. */
async function makeOnPage(page: Page, name: string) {
  await page.getByRole('button', { name: 'New gateway' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('button', { name: 'Create' }).click()
  const panel = page.getByRole('dialog', { name: `Gateway ${name}` })
  const token = await panel.getByRole('textbox', { name: 'Token' }).inputValue()
  const command = (await panel.getByLabel('Command', { exact: true }).textContent()) ?? ''
  return { panel, token, command }
}

async function idOf(name: string): Promise<string> {
  const [{ id }] = await dashboard.sql`select id from gateway where name = ${name}`
  return String(id)
}

/** Nothing is wider than the screen. */
const fits = (page: Page) =>
  eventually(() => page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'))

test('a gateway is created, connects, serves a model, and shows it on its page', async () => {
  const page = await dashboard.open('/')
  await go(page, 'Gateways')
  await page.getByRole('heading', { name: 'No gateways yet' }).waitFor()
  await page.getByText(`tollgate connect --url ${dashboard.address}`).waitFor()
  expect(await barriersOf(page)).toEqual([])

  const { panel, token, command } = await makeOnPage(page, 'Cellar')
  expect(token).toMatch(/^gt-tg-/)
  expect(command).toBe(
    `export TOLLGATE_GATEWAY_TOKEN=${token}\ntollgate connect --url ${dashboard.address}`,
  )
  await panel.getByText('It is not shown again').waitFor()
  await panel.getByText('Waiting for the gateway to connect').waitFor()
  // Neither a key nor a click beside it loses the token.
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 400)
  expect(await barriersOf(page)).toEqual([])
  const url = `${dashboard.address.replace('http', 'ws')}/gateway`
  const agent = await startAgent({ connect_url: url, token })
  await panel.getByText('Connected', { exact: true }).waitFor()
  await panel.getByText('Version 1.0.0 serves models of fake and 2 tools.').waitFor()
  expect(await barriersOf(page)).toEqual([])
  await panel.getByRole('button', { name: 'Done' }).click()
  const row = page.getByRole('row', { name: /^Cellar.*Ready for requests.*fake.*1\.0\.0/ })
  await row.getByText('online').waitFor()
  expect(await page.content()).not.toContain(token)

  await row.getByRole('link', { name: 'Cellar' }).click()
  await section(page, 'Tools').getByText('Searches the wiki.').waitFor()
  const models = section(page, 'Models')
  await models.getByText('fake, 2 served now').waitFor()
  await models.getByRole('row', { name: /^fake\/mine\s*no\s*free/ }).waitFor()
  const requests = section(page, 'Your requests in the last 24 hours')
  await requests.getByText('No requests yet.').waitFor()
  expect(await barriersOf(page)).toEqual([])
  const id = await dashboard.call('fake/mine')
  await requests.getByRole('row', { name: /success.*fake\/mine/ }).waitFor()
  await requests.getByText('1 request, 0 failed.').waitFor()

  agent.answer = (request) => agent.fail(request, 'connection_failed')
  await dashboard.call('fake/mine')
  await requests.getByText('2 requests, 1 failed.').waitFor()
  await requests.getByText('connection_failed × 1').waitFor()
  agent.kill()
  await page.getByText('Not connected.').waitFor()
  await page.getByText('Gateway offline').waitFor()
  await dashboard.call('fake/mine')
  await requests.getByText('1 more for its providers could not be served').waitFor()
  await requests.getByRole('row', { name: /error 503.*fake\/mine/ }).waitFor()
  expect(await barriersOf(page)).toEqual([])

  await requests.locator('tbody a').last().click()
  await page.getByRole('dialog', { name: 'Request' }).getByText(id, { exact: true }).waitFor()
  await page.close()
})

test('requests appear on the page of the gateway that served them, and in the logs with its name', async () => {
  const cellar = await idOf('Cellar')
  const made = await makeGateway(dashboard, { name: 'Garage' })
  using _agent = await startAgent(made)
  // The program of the other one is gone.
  const id = await dashboard.call('fake/mine')
  const page = await dashboard.open(`/gateways/${made.id}`)
  const requests = section(page, 'Your requests in the last 24 hours')
  await requests.getByText('1 request, 0 failed.').waitFor()
  await page.goto(`${dashboard.address}/gateways/${cellar}`)
  await requests.getByText('2 requests, 1 failed.').waitFor()

  const { promise: mayCome, resolve: letCome } = Promise.withResolvers<void>()
  await page.route('**/api/gateways?*', async (route) => {
    await mayCome
    await route.continue()
  })
  await page.goto(`${dashboard.address}/logs?gateway=${made.id}`)
  const filter = page.getByRole('combobox', { name: 'Gateway' })
  await filter.waitFor()
  // No id is shown while its name is loading.
  expect(await filter.inputValue()).toBe('')
  letCome()
  await eventually(async () => (await filter.inputValue()) !== '')
  expect(await filter.inputValue()).toBe('Garage')
  await page.getByText('1 of 1 requests').waitFor()
  await page.locator('tbody a').click()
  await page.getByRole('dialog', { name: 'Request' }).getByText(id, { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await choose(filter, { name: 'Cellar' })
  await page.getByText('2 of 2 requests').waitFor()
  expect(page.url()).toContain(cellar)
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})

test('a gateway is deleted after a confirmation that names the consequences', async () => {
  const made = await makeGateway(dashboard, { name: 'Attic' })
  const agent = await startAgent(made)
  const page = await dashboard.open(`/gateways/${made.id}`)
  await page.getByRole('button', { name: 'Delete gateway' }).click()
  const question = page.getByRole('dialog', { name: 'Delete Attic?' })
  await question.getByText('Its token is revoked').waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Delete gateway' }).click()
  await question.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('heading', { name: 'Gateways', exact: true }).waitFor()
  expect((await agent.closed).code).toBe(4401)
  await page.getByRole('link', { name: 'Attic' }).waitFor({ state: 'detached' })
  await page.goto(`${dashboard.address}/gateways/${made.id}`)
  await page.getByText('Gateway not found').waitFor()
  await page.close()
})

test('an owner creates one for the organization; a viewer sees it but cannot create or delete', async () => {
  const { body } = await dashboard.account.send('POST /api/organizations', { name: 'Engines' })
  const organization = String(body['id'])
  const page = await dashboard.open('/gateways')
  await page.getByRole('button', { name: 'New gateway' }).click()
  await page.getByLabel('Name').fill('Shared')
  expect(await page.getByRole('checkbox', { name: 'Public' }).count()).toBe(0)
  await choose(page.getByRole('combobox', { name: 'Owner' }), { name: 'Engines' })
  await page.getByRole('checkbox', { name: 'Public' }).check()
  expect(await barriersOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  const row = page.getByRole('row', { name: /^Shared\s*Engines.*public/i })
  await row.getByRole('button', { name: 'Actions for Shared' }).waitFor()
  const id = await idOf('Shared')
  const [{ is_public }] = await dashboard.sql`select is_public from gateway where id = ${id}`
  expect(is_public).toBe(true)

  await dashboard.sql`update membership set role = 'viewer' where organization_id = ${organization}`
  await page.reload()
  await row.waitFor()
  expect(await row.getByRole('button').count()).toBe(0)
  await page.getByRole('button', { name: 'New gateway' }).click()
  await page.getByRole('dialog').getByLabel('Name').waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.getByRole('combobox', { name: 'Owner' }).count()).toBe(0)
  await page.goto(`${dashboard.address}/gateways/${id}`)
  await page.getByText('Never connected.').waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.getByRole('button', { name: 'Delete gateway' }).count()).toBe(0)
  const { status } = await dashboard.account.send(`DELETE /api/gateways/${id}`)
  expect(status).toBe(403)
  await page.close()
})

/** Goes on by the keyboard until something of that name has the focus. Throws where nothing ever has. */
async function tabTo(page: Page, name: string): Promise<void> {
  const focused = `(() => {
    const one = document.activeElement
    const label = one?.labels?.[0]?.textContent ?? ''
    return one?.getAttribute('aria-label') ?? (label || one?.textContent) ?? ''
  })()`
  for (let count = 0; count < 80; count += 1) {
    if (String(await page.evaluate(focused)).startsWith(name)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`nothing called ${name} was reached`)
}

test('everything works with the keyboard alone', async () => {
  const page = await dashboard.open('/gateways')
  await page.getByRole('button', { name: 'New gateway' }).waitFor()
  await tabTo(page, 'New gateway')
  await page.keyboard.press('Enter')
  const form = page.getByRole('dialog', { name: 'New gateway' })
  await form.waitFor()
  await tabTo(page, 'Name')
  await page.keyboard.type('By hand')
  await page.keyboard.press('Enter')
  const panel = page.getByRole('dialog', { name: 'Gateway By hand' })
  await panel.getByText('Waiting for the gateway to connect').waitFor()
  await tabTo(page, 'Copy token')
  await tabTo(page, 'Copy command')
  await tabTo(page, 'Done')
  await page.keyboard.press('Enter')
  await panel.waitFor({ state: 'hidden' })
  await tabTo(page, 'Actions for By hand')
  await page.keyboard.press('Enter')
  const item = page.getByRole('menuitem', { name: 'Delete' })
  await item.waitFor()
  // The menu has the focus a moment after it is there.
  await page.getByRole('menu').and(page.locator(':focus, :focus-within')).waitFor()
  await page.keyboard.press('ArrowDown')
  await item.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  const question = page.getByRole('dialog', { name: 'Delete By hand?' })
  await question.waitFor()
  await tabTo(page, 'Cancel')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /^By hand/ }).waitFor({ state: 'detached' })
  await page.close()
})

test('the pages fit a phone', async () => {
  const long = 'A machine with a name that is as long as names of machines in large companies are'
  const { id } = await makeGateway(dashboard, { name: long })
  const page = await dashboard.open('/gateways')
  await page.setViewportSize({ width: 390, height: 800 })
  await page.getByRole('link', { name: long }).waitFor()
  await fits(page)
  const { panel } = await makeOnPage(page, 'Pocket')
  await fits(page)
  await eventually(async () => {
    const box = await panel.boundingBox()
    return box !== null && box.x + box.width <= 390
  })
  expect(await barriersOf(page)).toEqual([])
  await page.goto(`${dashboard.address}/gateways/${id}`)
  await page.getByRole('heading', { name: long }).waitFor()
  await page.waitForLoadState('networkidle')
  await fits(page)
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})
