import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { choose } from './choose'
import { heard } from './browser'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import type { Json } from '../harness/http'
import { startFakeProvider, type FakeProvider } from '../harness/upstreams/fake-provider'

let dashboard: SignedIn
let upstream: FakeProvider

beforeAll(async () => {
  upstream = await startFakeProvider()
  dashboard = await startSignedIn()
})
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const admin = (method: string, path: string, body?: Json) =>
  dashboard.gateway.admin(method, path, body)

const paths = [
  'providers',
  'models',
  'connections',
  'collections',
  'branding',
  'config',
  'audit-trail',
  'system',
]

test('hides the system page from an account that is not an operator', async () => {
  const page = await dashboard.open('/')
  for (const path of paths) {
    await page.goto(`${dashboard.address}/operator/${path}`)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  }
  await page.close()
})

describe('an operator', () => {
  beforeAll(() => dashboard.operate())

  test('shows the state of the system and audits the ledger', async () => {
    const page = await dashboard.open('/operator/system')
    const { version } = await admin('GET', '/system')
    await page.getByRole('region', { name: 'Version' }).getByText(String(version)).waitFor()
    await page.getByRole('region', { name: 'Database' }).getByText('PostgreSQL').waitFor()
    await page.getByText('this node', { exact: true }).waitFor()
    await page.getByText('No recent failures on this node.').waitFor()
    await page.getByRole('button', { name: 'Run audit' }).click()
    await page.getByText('The ledger is consistent').waitFor()
    await page.getByRole('cell', { name: 'the balance is not the sum of the entries' }).waitFor()
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })

  test('creates, edits, disables, enables and deletes a provider', async () => {
    const page = await dashboard.open('/operator/providers')
    await page.getByRole('button', { name: 'New provider' }).click()
    await page.getByRole('textbox', { name: 'Key', exact: true }).fill('openai')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine')
    await page.getByLabel('Base URL').fill(upstream.url)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('key: "openai" is a built-in provider.').waitFor()
    await page.getByRole('textbox', { name: 'Key', exact: true }).fill('mine')
    await page.getByLabel('Compatibility options').fill('{ "drop": [')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('This is not valid JSON.').waitFor()
    await page.getByLabel('Compatibility options').fill('{ "drop": ["user"] }')
    expect(await barriersOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('cell', { name: upstream.url }).waitFor()
    const { providers } = await admin('GET', '/providers?search=mine')
    expect(providers).toMatchObject([{ key: 'mine', options: { drop: ['user'] } }])

    await page.getByRole('button', { name: 'Actions for Mine' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ours')
    await page.getByLabel('Compatibility options').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Actions for Ours' }).click()
    await page.getByRole('menuitem', { name: 'Disable' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
    await page.getByText('disabled', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Actions for Ours' }).click()
    await page.getByRole('menuitem', { name: 'Enable' }).click()
    await page.getByText('enabled', { exact: true }).waitFor()

    const model = { id: 'mine/one', name: 'One', category: 'chat', is_free: true }
    await admin('POST', '/models', model)
    await page.getByRole('button', { name: 'Actions for Ours' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete Ours?' })
    await question.getByRole('button', { name: 'Delete' }).click()
    await question.getByText('Delete its models and connections first.').waitFor()
    await admin('DELETE', '/models/mine/one')
    await question.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Ours', { exact: true }).waitFor({ state: 'detached' })
    await page.close()
  })

  test('filters models by name, provider and status, and keeps the filter in the address', async () => {
    const page = await dashboard.open('/operator/models?provider=sandbox')
    await page.getByRole('link', { name: 'Sandbox Echo' }).waitFor()
    const rows = page.getByRole('row')
    expect(await rows.filter({ hasText: 'sandbox' }).count()).toBe((await rows.count()) - 1)
    await page.getByLabel('Search models').fill('lorem')
    await page.waitForURL(/search=lorem/)
    await page.getByRole('link', { name: 'Sandbox Echo' }).waitFor({ state: 'detached' })
    await choose(page.getByRole('combobox', { name: 'Status' }), { name: 'Disabled' })
    await page.getByText('No models match these filters').waitFor()
    await page.reload()
    await page.getByText('No models match these filters').waitFor()
    await page.close()
  })

  test('adds a model with a current and a scheduled price, disables and deletes it', async () => {
    const page = await dashboard.open('/operator/models?search=fresh')
    await page.getByRole('button', { name: 'New model' }).click()
    await page.getByRole('textbox', { name: 'ID', exact: true }).fill('openai/fresh')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Fresh')
    await page.getByLabel('Context, in tokens').fill('8192')
    expect(await barriersOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Create' }).click()
    // It opens; without a price it is not served yet.
    await page.getByRole('region', { name: 'Availability' }).getByText('Disabled').waitFor()
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByText('set a price above zero').waitFor()

    await page.getByRole('button', { name: 'Set price' }).click()
    await page.getByRole('textbox', { name: 'Input, 1M tokens', exact: true }).fill('1.5')
    await page.getByRole('textbox', { name: 'Output, 1M tokens', exact: true }).fill('6')
    await page.getByRole('button', { name: 'Save price' }).click()
    await page.getByText('current', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Set price' }).click()
    await page.getByRole('textbox', { name: 'Input, 1M tokens', exact: true }).fill('2')
    await page.getByLabel('From', { exact: true }).fill('2999-01-01T00:00')
    await page.getByRole('button', { name: 'Save price' }).click()
    await page.getByRole('button', { name: 'Edit scheduled price' }).waitFor()
    expect(await admin('GET', '/models/openai/fresh/prices')).toMatchObject({
      prices: [{ pricing: { input: 2, output: 6 } }, { pricing: { input: 1.5, output: 6 } }],
    })

    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByRole('button', { name: 'Disable' }).waitFor()
    await page.getByRole('checkbox', { name: 'Reasoning' }).check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await heard(page, 'openai/fresh was saved.')
    expect(await admin('GET', '/models/openai/fresh')).toMatchObject({
      enabled: true,
      context_length: 8192,
      pricing: { input: 1.5 },
      capabilities: { reasoning: true },
    })
    expect(await barriersOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Disable' }).click()
    await page
      .getByRole('dialog', { name: /Disable/ })
      .getByRole('button', { name: 'Disable' })
      .click()
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    await page.getByRole('button', { name: 'Delete or restore' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('No models match these filters').waitFor()
    await page.close()
  })

  test('adds a platform connection, tests it, replaces its key and deletes it', async () => {
    await admin('POST', '/providers', {
      key: 'fake',
      name: 'Fake',
      adapter: 'openai',
      base_url: upstream.url,
    })
    const page = await dashboard.open('/operator/connections')
    await page.getByRole('button', { name: 'Add connection' }).first().click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Main')
    await page.getByRole('combobox', { name: 'Provider' }).fill('nobody')
    await page.getByRole('textbox', { name: 'API key' }).fill('sk-canary-0123456789')
    await page.getByLabel('Requests per minute').fill('600')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText(/^provider: /).waitFor()
    await page.getByRole('combobox', { name: 'Provider' }).fill('fake')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('cell', { name: '600 requests per minute' }).waitFor()
    await page.reload()
    await page.getByRole('cell', { name: '600 requests per minute' }).waitFor()
    expect(await page.content()).not.toContain('sk-canary-0')
    await page.getByRole('button', { name: 'Actions for Main' }).click()
    await page.getByRole('menuitem', { name: 'Test' }).click()
    await page.getByRole('cell', { name: 'never' }).waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Actions for Main' }).click()
    await page.getByRole('menuitem', { name: 'Replace key' }).click()
    await page.getByRole('textbox', { name: 'New API key' }).fill('sk-other-0123456789')
    await page.getByRole('button', { name: 'Replace', exact: true }).click()
    await page.getByRole('cell', { name: /^sk-o/ }).waitFor()
    await page.getByRole('button', { name: 'Actions for Main' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await page.getByLabel('Priority').fill('7')
    await page.getByLabel('Requests per minute').fill('')
    expect(await barriersOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: '7', exact: true }).waitFor()
    const { connections } = await admin('GET', '/connections?search=Main')
    expect(connections).toMatchObject([{ priority: 7, rate_limits: { rpm: null } }])
    await page.getByRole('button', { name: 'Actions for Main' }).click()
    await page.getByRole('menuitem', { name: 'Disable' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
    await page.getByText('inactive').waitFor()
    await page.getByRole('button', { name: 'Actions for Main' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Main', { exact: true }).waitFor({ state: 'detached' })
    await page.close()
  })

  test('creates, edits and deletes a system collection', async () => {
    const page = await dashboard.open('/operator/collections')
    await page.getByRole('button', { name: 'New collection' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('best')
    await dialog.getByRole('combobox', { name: 'Add a model' }).fill('sandbox/echo')
    await dialog.getByRole('button', { name: 'Add model' }).click()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'best' }).click()
    await page.waitForURL(/collection=coll_/)
    await dialog.getByLabel('Title').fill('The best')
    expect(await barriersOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'The best' }).click()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    const question = page.getByRole('dialog', { name: 'Delete collection/best?' })
    await question.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('link', { name: 'The best' }).waitFor({ state: 'detached' })
    await page.close()
  })

  test('previews the branding while typing, and saves it', async () => {
    const page = await dashboard.open('/operator/branding')
    const look = page.getByRole('region', { name: 'Preview' })
    await look.getByText('Tollgate').waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Acme AI')
    await look.getByText('Acme AI').waitFor()
    await page.getByLabel('Logo').fill('ftp://example.com/logo.png')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^logo_url: /).waitFor()
    await page.getByLabel('Logo').fill('')
    await page.getByLabel('Primary color').fill('#0b7285')
    await page.getByLabel('Tagline').fill('All models')
    await page.getByRole('button', { name: 'Save' }).click()
    await heard(page, 'Saved. Other nodes follow within seconds.')
    expect(await admin('GET', '/branding')).toMatchObject({
      name: 'Acme AI',
      tagline: 'All models',
      primary_color: '#0b7285',
    })
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })

  test('edits the configuration, with a confirmation before data is lost', async () => {
    const page = await dashboard.open('/operator/config')
    await page.getByRole('textbox', { name: 'Requests to /api', exact: true }).fill('301')
    await page.getByLabel('Minimum balance').fill('0.25')
    await page
      .getByRole('combobox', { name: /^Allowed checkout return origins/ })
      .fill('not an origin')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('alert')
      .getByText(/allowed_return_origins/)
      .waitFor()
    await page.getByRole('combobox', { name: /^Allowed checkout return origins/ }).click()
    await page.keyboard.press('Backspace')
    await page.getByRole('button', { name: 'Save' }).click()
    await heard(page, 'Saved.')
    expect(await admin('GET', '/config')).toMatchObject({
      minimum_balance: 0.25,
      rates: { api_requests_per_minute: 301, public_requests_per_minute: 60 },
    })
    await page.getByLabel('Retention of usage').fill('7')
    await page.getByRole('button', { name: 'Save' }).click()
    const question = page.getByRole('dialog', { name: 'Save these changes?' })
    await question.getByText('are permanently deleted within the hour').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect(await admin('GET', '/config')).toMatchObject({ retention_days: 30 })
    await page.getByRole('button', { name: 'Save' }).click()
    await question.getByRole('button', { name: 'Save changes' }).click()
    await question.waitFor({ state: 'detached' })
    expect(await admin('GET', '/config')).toMatchObject({ retention_days: 7 })
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })
})
