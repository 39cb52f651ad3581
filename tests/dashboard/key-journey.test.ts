import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { newKey, createJourneyFixture, type JourneyFixture, type Visitor } from './journey-fixture'
import { reloadUntil } from './signed-in'
import { sendRequest } from '../harness/http'
import { eventually } from '../../server/testing/eventually'
import { dayWaitMs, untilDayLasts } from '../../server/testing/calendar'

let fixture: JourneyFixture
/** One that costs enough to be seen. */
let model: string

beforeAll(async () => {
  await untilDayLasts()
  fixture = await createJourneyFixture()
  model = await fixture.rig.model('ok', { pricing: { input: 1000, output: 4000 } })
}, 60_000 + dayWaitMs)
afterAll(() => fixture[Symbol.asyncDispose]())

const chat = (key: string) =>
  sendRequest(fixture.rig.gateway, {
    key,
    body: { model, messages: [{ role: 'user', content: 'Hi' }] },
  })

/** A status of a call that a change has to bring about on the node within seconds. */
const awaitStatus = (key: string, status: number) =>
  eventually(async () => (await chat(key)).status === status)

interface ShownKey {
  name: string
  disabled: boolean
  monthly_spend_limit: number | null
  usage: { spend_this_month: number; spend_today: number; requests_this_month: number }
}

/** The key as the API answers it to the same session. */
async function readKey({ context }: Visitor, name: string): Promise<ShownKey> {
  const answer = await context.request.get(`${fixture.address}/api/account/keys`)
  const { keys }: { keys: ShownKey[] } = await answer.json()
  const found = keys.find((one) => one.name === name)
  if (!found) throw new Error(`there is no key "${name}"`)
  return found
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

async function act(page: Page, name: string, action: string) {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

async function limitSpending(page: Page, name: string, usd: string) {
  await act(page, name, 'Edit')
  const dialog = page.getByRole('dialog', { name: `Edit ${name}` })
  await dialog.getByLabel('USD per month').fill(usd)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'hidden' })
}

const cents = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })

test('a limit of a key is edited and enforced; the key is disabled and enabled again', async () => {
  const kay = await fixture.newcomer('Kay')
  const { page } = kay
  const [{ id: user_id }] = await fixture.sql`select id from users where email = ${kay.email}`
  await fixture.rig.gateway.admin('POST', '/credits/grant', {
    user_id,
    amount: 50,
    reason: 'Welcome',
  })
  const key = await newKey(page, 'Worker')
  expect((await chat(key)).status).toBe(200)
  expect((await chat(key)).status).toBe(200)

  // The figures of the list are those of the API.
  await eventually(async () => (await readKey(kay, 'Worker')).usage.requests_this_month === 2)
  const { usage } = await readKey(kay, 'Worker')
  const spent = cents.format(usage.spend_this_month)
  expect(usage.spend_this_month).toBeGreaterThan(0.01)
  await reloadUntil(page, () =>
    row(page, 'Worker').getByText(spent, { exact: true }).first().isVisible(),
  )
  await row(page, 'Worker')
    .getByText(`${cents.format(usage.spend_today)} today`)
    .waitFor()

  await limitSpending(page, 'Worker', '0.01')
  await row(page, 'Worker').getByText(`${spent} of $0.01`).waitFor()
  expect((await readKey(kay, 'Worker')).monthly_spend_limit).toBe(0.01)
  await awaitStatus(key, 402)
  const share = Math.round((usage.spend_this_month / 0.01) * 100)
  const bar = row(page, 'Worker').getByRole('progressbar')
  expect(await bar.getAttribute('aria-label')).toContain(`${share.toLocaleString('en-US')}%`)

  await limitSpending(page, 'Worker', '')
  await awaitStatus(key, 200)

  await act(page, 'Worker', 'Disable')
  const dialog = page.getByRole('dialog', { name: 'Disable Worker?' })
  await dialog.getByLabel('For 24 hours').check()
  await dialog.getByRole('button', { name: 'Disable' }).click()
  await row(page, 'Worker').getByText('disabled', { exact: true }).waitFor()
  expect((await readKey(kay, 'Worker')).disabled).toBe(true)
  const refused = await chat(key)
  expect([refused.status, refused.error.code]).toEqual([401, 'invalid_api_key'])

  await act(page, 'Worker', 'Enable')
  await row(page, 'Worker').getByText('active', { exact: true }).waitFor()
  expect((await readKey(kay, 'Worker')).disabled).toBe(false)
  expect((await chat(key)).status).toBe(200)
  await kay.context.close()
})

/** Edits one list of a key in its form. */
async function editList(page: Page, list: string, edit: (field: Locator) => Promise<void>) {
  await act(page, 'Office', 'Edit')
  const dialog = page.getByRole('dialog', { name: 'Edit Office' })
  await edit(dialog.getByLabel(list).first())
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'hidden' })
}

test('a key is restricted in its form, and calls everything without its lists', async () => {
  const lee = await fixture.newcomer('Lee')
  const { page } = lee
  const key = await newKey(page, 'Office')
  for (const [list, entry, shown] of [
    ['Allowed addresses', '203.0.113.0/24', 'from 203.0.113.0/24'],
    ['Denied models', model, `not ${model}`],
    ['Denied providers', 'fake', 'not fake'],
    ['Allowed endpoints', 'Embeddings', 'embeddings'],
  ] as const) {
    await editList(page, list, async (field) => {
      await field.fill(entry)
      if (list === 'Allowed endpoints') await page.getByRole('option', { name: entry }).click()
      else await field.press('Enter')
    })
    await row(page, 'Office').getByText(shown).waitFor()
    await awaitStatus(key, 403)
    await editList(page, list, (field) => field.press('Backspace'))
    await row(page, 'Office').getByText('account limits').waitFor()
    await awaitStatus(key, 402)
  }
  expect(await readKey(lee, 'Office')).toMatchObject({
    allowed_addresses: null,
    denied_models: null,
    denied_providers: null,
    allowed_endpoints: null,
  })
  await lee.context.close()
})

test('a key is rotated with an overlap, which its owner ends', async () => {
  const mia = await fixture.newcomer('Mia')
  const { page } = mia
  const key = await newKey(page, 'Office')
  await awaitStatus(key, 402)
  await act(page, 'Office', 'Rotate')
  await page.getByRole('button', { name: 'Rotate' }).click()
  const second = await page.getByRole('textbox', { name: 'API key' }).inputValue()
  await page.getByRole('button', { name: 'Done' }).click()
  await row(page, 'Office')
    .getByText(`${key.slice(0, 12)}… until`)
    .waitFor()
  await awaitStatus(second, 402)
  await awaitStatus(key, 402)
  await act(page, 'Office', 'End old secrets')
  await page.getByRole('button', { name: 'End old secrets' }).click()
  await row(page, 'Office').getByText(' until ').waitFor({ state: 'detached' })
  await awaitStatus(key, 401)
  await awaitStatus(second, 402)
  await mia.context.close()
})
