import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { helloWithTools, makeGateway, makeProvider, startAgent } from './self-hosted'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import type { Agent } from '../harness/tunnel-agent'
import { eventually } from '../../server/testing/eventually'

/** What models of connections cost, as their owners see and set it. */

let dashboard: SignedIn
let agent: Agent
let organization: string
let gateway: string
let connection: string

const many = Array.from({ length: 12 }, (_none, at) => ({
  provider: 'fake',
  name: `model-${String(at).padStart(2, '0')}`,
}))

beforeAll(async () => {
  dashboard = await startSignedIn({ environment: { MINIMUM_BALANCE_USD: '0' } })
  const { account } = dashboard
  await makeProvider(dashboard)
  await dashboard.gateway.admin('POST', '/models', {
    id: 'fake/listed',
    name: 'Listed',
    category: 'chat',
    pricing: { input: 2, output: 4 },
  })
  const { body } = await account.send('POST /api/organizations', { name: 'Engines' })
  organization = String(body['id'])
  const fields = { name: 'Shared', scope: 'organization', organization_id: organization }
  const made = await makeGateway(dashboard, fields)
  gateway = made.id
  const models = [...many, { provider: 'fake', name: 'listed' }, { provider: 'fake', name: 'mine' }]
  agent = await startAgent(made, { ...helloWithTools, models })
  const [row] = await dashboard.sql`select id from connection where gateway_id = ${gateway}`
  connection = String(row.id)
})
afterAll(async () => {
  agent.kill()
  await dashboard[Symbol.asyncDispose]()
})

/** What the service says that a model costs. */
async function priceOf(id: string): Promise<unknown> {
  const path = `GET /api/connections/${connection}/models?limit=100`
  const { models } = (await dashboard.account.send(path)).body
  const all: { id: string; pricing: unknown }[] = Array.isArray(models) ? models : []
  return all.find((model) => model.id === id)?.pricing
}

const rowOf = (page: Page, name: RegExp) => page.getByRole('row', { name })
const ask = (page: Page, id: string) =>
  page.getByRole('button', { name: `Set price of ${id}` }).click()
const save = (page: Page) => page.getByRole('button', { name: 'Save price' }).click()

test('the models of a connection are listed by name, with their prices, ten at a time', async () => {
  const page = await dashboard.open(`/gateways/${gateway}`)
  await rowOf(page, /^fake\/listed\s*yes\s*\$2\.00 in, \$4\.00 out/).waitFor()
  await page.getByText('10 of 14 models').waitFor()
  expect(await page.getByRole('button', { name: 'Set price of fake/listed' }).count()).toBe(0)
  expect(await rowOf(page, /^fake\/model-11/).count()).toBe(0)
  await page.getByRole('button', { name: 'Show more' }).click()
  await rowOf(page, /^fake\/model-11\s*no\s*free/).waitFor()
  await page.getByText('14 of 14 models').waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})

test('an owner sets a price, sees the operator’s maximum, and makes it free again', async () => {
  await dashboard.gateway.admin('PUT', '/config', { owner_price_limits: { input: 5, output: 5 } })
  const page = await dashboard.open(`/gateways/${gateway}`)
  await ask(page, 'fake/mine')
  const dialog = page.getByRole('dialog', { name: 'Price of fake/mine' })
  await dialog.getByText('Members pay nothing').waitFor()
  await dialog.getByRole('checkbox', { name: 'Free' }).uncheck()
  await dialog.getByLabel('Input, 1M tokens').fill('0.5')
  await dialog.getByLabel('Output, 1M tokens').fill('6')
  await save(page)
  await dialog.getByText("must be at most 5, the operator's maximum").waitFor()
  expect(await dialog.getByLabel('Output, 1M tokens').getAttribute('aria-invalid')).toBe('true')
  expect(await barriersOf(page)).toEqual([])
  expect(await priceOf('fake/mine')).toBeNull()
  await dialog.getByLabel('Output, 1M tokens').fill('1.5')
  await save(page)
  await rowOf(page, /^fake\/mine\s*no\s*\$0\.50 in, \$1\.50 out/).waitFor()
  expect(await priceOf('fake/mine')).toMatchObject({ input: 0.5, output: 1.5 })

  await dashboard.gateway.admin('PUT', '/config', { owner_price_limits: { input: 5, output: 1 } })
  await page.reload()
  await rowOf(
    page,
    /^fake\/mine\s*no\s*\$0\.50 in, \$1\.00 out\s*limited by the operator/,
  ).waitFor()
  await ask(page, 'fake/mine')
  await dialog.getByText('A higher price was set').waitFor()
  await dialog.getByRole('checkbox', { name: 'Free' }).check()
  await save(page)
  await rowOf(page, /^fake\/mine\s*no\s*free/).waitFor()
  expect(await priceOf('fake/mine')).toBeNull()
  await page.close()
})

test('settings made over the API besides stay', async () => {
  await dashboard.gateway.admin('PUT', '/config', { owner_price_limits: { input: 9, output: 9 } })
  await dashboard.account.send(`PUT /api/connections/${connection}/models/pricing`, {
    model: 'fake/mine',
    pricing: { input: 1, output: 2, cached_input: 0.25, image_output: 7 },
  })
  const page = await dashboard.open('/connections')
  await page.getByRole('link', { name: 'Shared' }).click()
  await rowOf(page, /^fake\/mine\s*no\s*\$1\.00 in, \$2\.00 out\s*cached input \$0\.25/).waitFor()
  await page.getByRole('link', { name: 'its gateway' }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await ask(page, 'fake/mine')
  const dialog = page.getByRole('dialog', { name: 'Price of fake/mine' })
  await dialog.getByText('Other parts of the price stay: cached input $0.25').waitFor()
  await dialog.getByLabel('Input, 1M tokens').fill('3')
  await save(page)
  await rowOf(page, /^fake\/mine\s*no\s*\$3\.00 in, \$2\.00 out/).waitFor()
  expect(await priceOf('fake/mine')).toMatchObject({
    input: 3,
    output: 2,
    cached_input: 0.25,
    image_output: 7,
  })
  await page.close()
})

test('on a phone nothing is wider than the screen; a member sees prices and cannot set them', async () => {
  await dashboard.sql`update membership set role = 'member' where organization_id = ${organization}`
  const page = await dashboard.open(`/connections/${connection}`)
  await page.setViewportSize({ width: 390, height: 800 })
  await page.getByText('fake/mine').waitFor()
  await page.getByText('$3.00 in, $2.00 out').waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.getByRole('button', { name: /^Set price/ }).count()).toBe(0)
  await eventually(() =>
    page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'),
  )
  expect(await barriersOf(page)).toEqual([])
  const { status } = await dashboard.account.send(
    `PUT /api/connections/${connection}/models/pricing`,
    {
      model: 'fake/mine',
      pricing: null,
    },
  )
  expect(status).toBe(403)
  await page.close()
})
