import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { callLikeCurl } from './journey-fixture'
import { faultsOf, pressByKey, tabTo, typeByKey } from './reach'
import { amount, exactAmount, startSeeded, type SeededFixture } from './seeded-fixture'
import { awaitLog, reloadUntil, type SignedIn } from './signed-in'
import { sendRequest } from '../harness/http'
import { startFakeProvider, type FakeProvider } from '../harness/upstreams/fake-provider'
import { eventually } from '../../server/testing/eventually'
import { dayWaitMs, untilDayLasts } from '../../server/testing/calendar'

/** Journeys that change a seeded installation, by the keyboard; their requests reach a provider. */

const model = 'fake/ok'
let upstream: FakeProvider
let fixture: SeededFixture
let dashboard: SignedIn

beforeAll(async () => {
  await untilDayLasts()
  upstream = await startFakeProvider()
  fixture = await startSeeded(500)
  dashboard = fixture.dashboard
  const { admin } = dashboard.gateway
  const provider = { key: 'fake', name: 'Fake', adapter: 'openai', base_url: upstream.url }
  await admin('POST', '/providers', provider)
  await admin('POST', '/connections', { name: 'fake', provider: 'fake', api_key: 'sk-0123456' })
  await admin('POST', '/models', {
    id: model,
    name: 'Ok',
    category: 'chat',
    context_length: 8192,
    max_output_tokens: 4096,
    pricing: { input: 1000, output: 4000 },
  })
}, 120_000 + dayWaitMs)
afterAll(async () => {
  await fixture[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

/** Creates a key by the keyboard, and returns it. */
async function createKey(page: Page, name: string): Promise<string> {
  await page.goto(`${dashboard.address}/keys`)
  await pressByKey(page.getByRole('button', { name: 'New key' }))
  const form = page.getByRole('dialog')
  await form.getByLabel('Name').waitFor()
  // The form has the focus in its first field.
  await page.keyboard.type(name)
  await page.keyboard.press('Enter')
  const field = page.getByRole('textbox', { name: 'API key' })
  const key = await field.inputValue()
  await pressByKey(page.getByRole('button', { name: 'Done' }))
  await page.getByRole('cell', { name }).first().waitFor()
  return key
}

test('journeys 1 and 12: a key, a call, its cost by rate, and a ticket whose request the operator opens with one key', async () => {
  const page = await fixture.signInAs(16)
  const key = await createKey(page, 'Laptop')
  const request = await callLikeCurl(dashboard.address, key, model)
  await awaitLog(dashboard.sql, request)
  const [log] = await dashboard.sql<{ cost: string }[]>`
    select cost from request_log where id = ${request}`
  await page.goto(`${dashboard.address}/logs?open=${request}`)
  const view = page.getByRole('dialog', { name: 'Request', exact: true })
  await view.getByRole('row', { name: /^API key Laptop/ }).waitFor()
  const amounts = view.getByRole('region', { name: 'Amounts by rate' })
  const total = amounts.getByRole('row', { name: /^Total/ })
  await total.getByText(exactAmount(log?.cost ?? 0), { exact: true }).waitFor()
  expect(await faultsOf(page)).toEqual([])

  await pressByKey(view.getByRole('link', { name: 'Contact support about this request' }))
  const form = page.getByRole('dialog', { name: /ticket/i })
  await form.getByLabel('Subject').waitFor()
  await page.keyboard.type('Is this its price?')
  await typeByKey(form.getByLabel('Description'), 'It seems high.')
  expect(await form.getByLabel('Request ID').inputValue()).toBe(request)
  await pressByKey(form.getByRole('button', { name: 'Send' }))
  await page.waitForURL(/support\/tic/)
  expect(await faultsOf(page)).toEqual([])
  const ticket = page.url().split('/').at(-1) ?? ''
  await page.context().close()

  const operator = await dashboard.open(`/operator/tickets/${ticket}`)
  await pressByKey(operator.getByRole('link', { name: `about ${request}` }))
  const opened = operator.getByRole('dialog', { name: 'Request', exact: true })
  await opened
    .getByRole('row', { name: /^Cost / })
    .getByText(exactAmount(log?.cost ?? 0), { exact: true })
    .waitFor()
  await operator.close()
})

test('journey 6: a budget that is used up names itself in the refusal, and shows used, left and its reset', async () => {
  const { userId, key } = fixture.accountOf(18)
  const page = await fixture.signInAs(18)
  await page.goto(`${dashboard.address}/budgets`)
  await pressByKey(page.getByRole('button', { name: 'New budget' }))
  const form = page.getByRole('dialog', { name: 'New budget' })
  await form.getByLabel('Name').waitFor()
  await page.keyboard.type('Pilot')
  await typeByKey(form.getByLabel('Models'), `${model}\n`)
  await typeByKey(form.getByLabel('Amount'), '1.20')
  await pressByKey(form.getByRole('button', { name: 'Create budget' }))
  await page.getByRole('row', { name: /^Pilot.*\$0\.00 of \$1\.20/ }).waitFor()

  const body = { model, max_tokens: 10, messages: [{ role: 'user', content: 'Hello!' }] }
  const send = () => sendRequest(dashboard.gateway, { key, body })
  let refused = await send()
  await eventually(async () => {
    refused = await send()
    return refused.status === 402
  })
  const { budgets } = Object(await readBudgets(key))
  expect(refused.text).toContain(budgets[0].window_end)
  expect(refused.text).toContain('Pilot')
  const used = async () => {
    const [sum] = await dashboard.sql<{ cost: string }[]>`
      select coalesce(sum(cost), 0) as cost from request_log
      where user_id = ${userId} and model = ${model} and status = 'success'`
    return Number(sum?.cost)
  }
  await eventually(async () => (await used()) > 0)
  const row = page.getByRole('row', { name: /^Pilot/ })
  await reloadUntil(page, async () =>
    (await row.innerText()).includes(`${amount(await used())} of $1.20`),
  )
  await row.getByText(`${amount(Math.max(0, 1_200_000_000 - (await used())))} left`).waitFor()
  await tabTo(page.getByRole('button', { name: 'Actions for Pilot' }))
  expect(await faultsOf(page)).toEqual([])
  await page.context().close()
})

/** Reads the budgets as the API lists them. */
async function readBudgets(key: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${dashboard.address}/api/account/budgets`, { headers })
  return answer.json()
}
