import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { choose } from './choose'
import {
  callLikeCurl,
  findLink,
  findMail,
  newKey,
  createJourneyFixture,
  type JourneyFixture,
  type Visitor,
} from './journey-fixture'
import { heard } from './browser'
import { reloadUntil } from './signed-in'
import { deliver } from '../api/payments/stripe-events'
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

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

/** Resolves on the other page: a reload before would load the one that is left. */
async function go(page: Page, name: string) {
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor()
}

async function idOf({ email }: Visitor): Promise<string> {
  const [{ id }] = await fixture.sql`select id from users where email = ${email}`
  return String(id)
}

async function grant(traveller: Visitor, amount: number) {
  const user_id = await idOf(traveller)
  await fixture.rig.gateway.admin('POST', '/credits/grant', { user_id, amount, reason: 'Welcome' })
}

/** Buys on the page of billing, pays where that leads, and comes back as the processor says. */
async function topUp({ page, context }: Visitor, amount: string) {
  const { double, rig } = fixture
  await context.route('https://checkout.simulated.example/**', (route) =>
    route.fulfill({ body: 'Pay here' }),
  )
  await page.getByLabel('Amount in USD').fill(amount)
  await page.getByRole('button', { name: 'Go to checkout' }).click()
  await page.waitForURL(/checkout\.simulated\.example/)
  const session = page.url().split('/').at(-1) ?? ''
  const sessionCall = double.calls.findLast(({ path }) => path === '/v1/checkout/sessions')
  const { completed } = double.pay(session)
  expect((await deliver(rig.gateway.url, completed)).status).toBe(200)
  await page.goto(sessionCall?.form.get('success_url') ?? '')
}

test('(a) signs up, confirms the email, creates a key, makes a request and sees its log', async () => {
  const ada = await fixture.newcomer('Ada')
  const { page } = ada
  await section(page, 'Balance').getByText('$0.00').waitFor()
  await grant(ada, 50)
  const key = await newKey(page, 'Laptop')
  const request = await callLikeCurl(fixture.address, key, model)

  await go(page, 'Logs')
  await reloadUntil(page, () => page.getByRole('cell', { name: /^fake\/ok/ }).isVisible())
  await page.locator('tbody a').first().click()
  const log = page.getByRole('dialog', { name: 'Request' })
  await log.getByText(request, { exact: true }).waitFor()
  await log.getByText('your credits').waitFor()
  await page.keyboard.press('Escape')

  await go(page, 'Overview')
  const used = section(page, 'Top models').getByText(model)
  await reloadUntil(page, () => used.isVisible())
  await section(page, 'Requests').getByText('1', { exact: true }).waitFor()
  await section(page, 'Spent today')
    .getByText(/\$\d*\.\d*[1-9]/)
    .first()
    .waitFor()
  await ada.context.close()
})

test('(b) a triggered alert sends an email and a notification', async () => {
  const bea = await fixture.newcomer('Bea')
  const { page } = bea
  await grant(bea, 50)
  await go(page, 'Alerts')
  await page.getByRole('button', { name: 'New alert' }).click()
  await page.getByLabel('Name').fill('Any spending')
  await page.getByLabel('More than').fill('0')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('link', { name: 'Any spending' }).waitFor()
  const key = await newKey(page, 'Server')
  await callLikeCurl(fixture.address, key, model)

  const mail = await findMail(fixture.mails, bea.email, 'Alert: Any spending')
  expect(mail).toContain('Any spending')
  await page.goto(fixture.address)
  await page.getByRole('link', { name: 'Inbox, 1 unread' }).click()
  await page.getByRole('link', { name: 'Open: Alert: Any spending' }).click()
  const drawer = page.getByRole('dialog', { name: 'Alert' })
  await drawer.getByRole('button', { name: 'Acknowledge' }).click()
  await drawer.getByText('acknowledged', { exact: true }).waitFor()
  await page.reload()
  await drawer.getByText('acknowledged', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Inbox', exact: true }).first().waitFor()
  await bea.context.close()
})

test('(c) a request uses an added connection, and its log shows it', async () => {
  const cleo = await fixture.newcomer('Cleo')
  const { page } = cleo
  const secret = 'sk-cleo-0123456789abcdef'
  await go(page, 'Connections')
  await page.getByRole('button', { name: 'Add connection' }).click()
  await page.getByLabel('Name').fill('My own')
  await page.getByLabel('Provider').fill('fake')
  await page.getByRole('textbox', { name: 'API key' }).fill(secret)
  await page.getByLabel('Base URL').fill(fixture.upstream.url)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('cell', { name: /^My own/ }).waitFor()
  const key = await newKey(page, 'Notebook')
  // The account has no credit: the provider is paid by the customer's own key.
  const request = await callLikeCurl(fixture.address, key, model)
  const last = fixture.upstream.requests.at(-1)
  expect(last?.headers.get('authorization')).toBe(`Bearer ${secret}`)

  await go(page, 'Logs')
  await reloadUntil(page, () => page.getByRole('cell', { name: /^fake\/ok/ }).isVisible())
  await page.goto(`${fixture.address}/logs?open=${request}`)
  const log = page.getByRole('dialog', { name: 'Request' })
  await log.getByText('your own key, billed by the provider').waitFor()
  await log.getByRole('row', { name: 'Connection My own' }).waitFor()
  expect(await page.content()).not.toContain(secret)
  await cleo.context.close()
})

test('(d) an invited member joins, and the organization pays for their usage', async () => {
  const dora = await fixture.newcomer('Dora')
  await go(dora.page, 'Organizations')
  await dora.page.getByRole('button', { name: 'New organization' }).click()
  await dora.page.getByRole('textbox', { name: 'Name', exact: true }).fill('Dora and sons')
  await dora.page.getByRole('button', { name: 'Create' }).click()
  await dora.page.getByRole('link', { name: 'Dora and sons' }).waitFor()
  await go(dora.page, 'Billing')
  await choose(dora.page.getByRole('combobox', { name: 'Billing account' }), {
    name: 'Dora and sons',
  })
  await dora.page.waitForURL(/organization=/)
  await topUp(dora, '40')
  await section(dora.page, 'Balance').getByText('$40.00').first().waitFor()
  await go(dora.page, 'Organizations')
  await dora.page.getByRole('link', { name: 'Dora and sons' }).click()
  await dora.page.getByRole('tab', { name: 'Invitations' }).click()
  await dora.page.getByRole('button', { name: 'Invite members' }).click()
  await dora.page.getByLabel('Email addresses').fill('emil@example.com')
  await dora.page.getByRole('button', { name: 'Invite', exact: true }).click()
  await dora.page.getByRole('cell', { name: /^emil@example.com/ }).waitFor()

  const link = await findLink(
    fixture.mails,
    'emil@example.com',
    'You are invited to an organization',
  )
  const emil = await fixture.arrive('Emil', link)
  await fixture.signUp(emil, 'Emil')
  await go(emil.page, 'Organizations')
  await emil.page.getByRole('button', { name: 'Accept' }).click()
  await emil.page.getByRole('link', { name: 'Dora and sons' }).waitFor()
  await go(emil.page, 'Settings')
  await choose(emil.page.getByRole('combobox', { name: 'Bill requests to' }), {
    name: 'Dora and sons',
  })
  await emil.page.getByRole('button', { name: 'Save', exact: true }).click()
  await heard(emil.page, 'Saved.')
  const key = await newKey(emil.page, 'Work')
  await callLikeCurl(fixture.address, key, model)
  await emil.context.close()

  await dora.page.getByRole('tab', { name: 'Usage' }).click()
  await dora.page.getByRole('tab', { name: 'Usage', selected: true }).waitFor()
  const row = dora.page.getByRole('row', { name: /^Emil/ })
  const paid = row.filter({ hasText: /emil@example\.com1.*\$\d*\.\d*[1-9]/ })
  await reloadUntil(dora.page, () => paid.isVisible())
  const pool = dora.page.getByText('Pool balance').locator('..')
  await reloadUntil(dora.page, async () => /\$39\.\d\d/.test((await pool.textContent()) ?? ''))
  await dora.context.close()
})

test('(e) credits bought at the processor are visible after the return', async () => {
  const fay = await fixture.newcomer('Fay')
  const { page } = fay
  await go(page, 'Billing')
  await section(page, 'Balance').getByText('$0.00').first().waitFor()
  await topUp(fay, '12.34')
  await page.getByText('$12.34 were added to the balance.').waitFor()
  await section(page, 'Balance').getByText('$12.34').first().waitFor()
  for (const name of ['Statement', 'Payments']) {
    await section(page, name).getByRole('cell', { name: '$12.34' }).first().waitFor()
  }
  const key = await newKey(page, 'Paid')
  await callLikeCurl(fixture.address, key, model)
  await go(page, 'Billing')
  await reloadUntil(page, () =>
    section(page, 'Balance')
      .getByText(/^\$12\.(?!34)\d/)
      .first()
      .isVisible(),
  )
  await fay.context.close()
})

test('(f) a quota increase that an operator grants is notified, shown and enforced', async () => {
  const gus = await fixture.newcomer('Gus')
  const { page } = gus
  await go(page, 'Quota')
  await page.getByRole('button', { name: 'Request increase of requests per minute' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('New limit').fill('6000')
  await form.getByLabel('Reason').fill('We have many readers.')
  await form.getByRole('button', { name: 'Send' }).click()
  await section(page, 'Increase requests').getByText('pending').waitFor()

  const { gateway } = fixture.rig
  const { quota_requests: quotaRequests } = await gateway.admin(
    'GET',
    '/quota-requests?status=pending',
  )
  const [{ id }] = Array.isArray(quotaRequests) ? quotaRequests : [{ id: '' }]
  await gateway.admin('POST', `/quota-requests/${id}/approve`, { limit: 5000, note: 'Enjoy.' })

  const granted = 'Your request for more requests per minute was approved'
  expect(await findMail(fixture.mails, gus.email, granted)).toMatch(/5,?000 now[^]*Enjoy\./)
  await page.reload()
  await section(page, 'Increase requests').getByText('approved').waitFor()
  await section(page, 'Increase requests').getByText('Enjoy.').waitFor()
  await section(page, 'Limits').getByText(/5,000/).waitFor()
  await page.getByRole('link', { name: 'Inbox, 1 unread' }).waitFor()
  const key = await newKey(page, 'Busy')
  const answer = await fetch(`${fixture.address}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(answer.headers.get('x-ratelimit-limit')).toBe('5000')
  await gus.context.close()
})
