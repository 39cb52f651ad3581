import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { copiedText, heard } from './browser'
import { barriersOf } from './accessibility'
import { awaitLog, startSignedIn, type SignedIn } from './signed-in'
import { sendRequest, type Json } from '../harness/http'
import type { Customer } from '../harness/server'
import { eventually } from '../../server/testing/eventually'

let dashboard: SignedIn
let customer: Customer
/** A request of the account itself, and a refused one of a customer. */
let served: string
let failed: string

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.gateway.admin('PUT', '/config', { log_bodies: true })
  await dashboard.account.send('PUT /api/account/settings', { log_bodies: true })
  served = await dashboard.call('sandbox/echo', 'find me')
  customer = await dashboard.gateway.customer()
  failed = await refusedOf(customer)
})
afterAll(() => dashboard[Symbol.asyncDispose]())

async function refusedOf({ key }: Customer): Promise<string> {
  const body = { model: 'no/such-model', messages: [{ role: 'user', content: 'a secret' }] }
  const { headers } = await sendRequest(dashboard.gateway, { key, body })
  const id = headers.get('x-request-id') ?? ''
  await awaitLog(dashboard.sql, id)
  return id
}

/** Opens the palette as its shortcut does, and enters a text. */
async function search(page: Page, text: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Go to a page').fill(text)
}

const view = (page: Page) => page.getByRole('dialog', { name: 'Request', exact: true })
const money = (amount: unknown) =>
  new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: 'USD',
    maximumFractionDigits: 9,
  }).format(Number(amount))

test('find a request by id: from any page, with the figures of the API', async () => {
  const page = await dashboard.open('/billing')
  await search(page, served)
  await page.waitForURL(new RegExp(`/logs\\?open=${served}`))
  const drawer = view(page)
  await drawer.getByText('Tried 1 in').waitFor()
  const { body: log } = await dashboard.account.send(
    `GET /api/account/request-logs/${served}/details`,
  )
  const figure = (name: string) =>
    drawer.getByRole('row', { name: new RegExp(`^${name} `) }).getByRole('cell')
  expect(await figure('Input tokens').innerText()).toBe(String(log['input_tokens']))
  expect(await figure('Output tokens').innerText()).toBe(String(log['output_tokens']))
  expect(await figure('Cost').innerText()).toBe(money(log['cost']))
  expect(await figure('Status').innerText()).toBe('Success 200')
  expect(await figure('API key').innerText()).toStartWith('Mine, ')
  const timeline = drawer.getByRole('region', { name: 'Timeline' })
  const { attempts } = Object(log['resolution_attempts'])
  await timeline.getByText(`${attempts[0].latency_ms} ms`, { exact: true }).first().waitFor()
  expect(await timeline.locator('.waterfall-bar').count()).toBe(1 + attempts.length)
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})

test('a request is found by a part of its id, and by the text of its error', async () => {
  const refused = await dashboard.call('no/such-model')
  const page = await dashboard.open('/')
  await search(page, served.slice(0, 20))
  await page.getByRole('option', { name: new RegExp(served) }).click()
  await page.waitForURL(new RegExp(`open=${served}`))
  await view(page).getByText('Tried 1 in').waitFor()
  await page.keyboard.press('Escape')
  await view(page).waitFor({ state: 'hidden' })
  await search(page, 'no/such')
  await page.getByRole('option', { name: new RegExp(refused) }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(`open=${refused}`))
  await view(page).getByText('No attempts').waitFor()
  await page.close()
})

test('the palette leads to pages, from the keyboard', async () => {
  const page = await dashboard.open('/')
  await search(page, 'mapp')
  await page.getByRole('option', { name: 'Mappings' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Model mappings' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Go to a page').press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('option', { name: 'Billing' }).click()
  await page.getByRole('heading', { name: 'Billing' }).waitFor()
  await page.close()
})

test('a request is copied as curl, and opened in the playground with its prompt', async () => {
  const page = await dashboard.open(`/logs?open=${served}`)
  await view(page).getByRole('button', { name: 'Copy as curl' }).click()
  await heard(page, 'Copied')
  const command = await copiedText(page)
  expect(command).toContain(`curl ${dashboard.address}/v1/chat/completions`)
  expect(command).toContain('"content": "find me"')
  await view(page).getByRole('link', { name: 'Open in playground' }).click()
  await page.getByRole('heading', { name: 'Playground' }).waitFor()
  const message = page.getByRole('textbox', { name: 'Message' })
  await eventually(async () => (await message.inputValue()) === 'find me')
  await page.close()
})

test('a refused call of the playground leads to its request', async () => {
  const page = await dashboard.open('/playground?model=no/such-model')
  const box = page.getByRole('textbox', { name: 'Message' })
  await box.fill('Hello?')
  await box.press('Enter')
  await page.getByRole('alert').waitFor()
  const link = page.getByRole('link', { name: 'View request' })
  const [id = ''] = /req_\w+/.exec((await link.getAttribute('href')) ?? '') ?? []
  await awaitLog(dashboard.sql, id)
  await link.click()
  await view(page).getByText('model_not_found').first().waitFor()
  await page.close()
})

test('operator finds why a customer’s request failed', async () => {
  await dashboard.operate()
  const { email } = await dashboard.gateway.admin('GET', `/users/${customer.userId}`)
  const page = await dashboard.open(`/operator/users/${customer.userId}`)
  await page.getByRole('link', { name: 'View requests' }).click()
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  await page.getByText('1 of 1 requests').waitFor()
  const row = page.getByRole('row').nth(1)
  await row.getByText(String(email)).waitFor()
  await row.getByRole('link').first().click()
  await page.waitForURL(new RegExp(`open=${failed}`))
  const drawer = view(page)
  const log = await dashboard.gateway.admin('GET', `/request-logs/${failed}`)
  await drawer.getByText(String(Object(log['error']).message)).waitFor()
  await drawer.getByText('error 404').waitFor()
  expect(await drawer.innerText()).not.toContain('a secret')
  expect(await barriersOf(page)).toEqual([])
  await eventually(async () => {
    const { changes } = await dashboard.gateway.admin('GET', `/audit-trail?object_id=${failed}`)
    return Object(changes).some(({ actor_email: actor }: Json) => actor === 'ada@example.com')
  })
  await page.close()
})

test('operators find a customer’s request from anywhere', async () => {
  await dashboard.operate()
  const page = await dashboard.open('/')
  await search(page, failed)
  await page.waitForURL(new RegExp(`/operator/requests\\?open=${failed}`))
  await view(page).getByText('No attempts').waitFor()
  await page.close()
})
