import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { choose } from './choose'
import type { Page } from 'playwright-core'
import { heard } from './browser'
import { barriersOf } from './accessibility'
import { reloadUntil, startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

describe('alerts', () => {
  test('one is created and triggers, and the trigger is acknowledged', async () => {
    const page = await dashboard.open('/alerts')
    await page.getByRole('button', { name: 'New alert' }).click()
    await page.getByLabel('Name').fill('Failures')
    await choose(page.getByLabel('Alert type').first(), { name: 'Errors' })
    await page.getByText('The share of requests that failed').waitFor()
    await page.getByLabel('More than').fill('0')
    await page.getByLabel('Minimum requests').fill('1')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Errors: more than 0% in the last 24 hours').waitFor()
    await dashboard.call('nobody/nothing')
    await page.getByRole('link', { name: 'Failures' }).click()
    const drawer = page.getByRole('dialog', { name: 'Alert' })
    // A reload before would load the list without it.
    await drawer.waitFor()
    const acknowledge = drawer.getByRole('button', { name: 'Acknowledge' })
    await reloadUntil(page, () => acknowledge.isVisible())
    await acknowledge.click()
    await drawer.getByText('acknowledged', { exact: true }).waitFor()
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })

  test('a test reports the channels that it reached', async () => {
    const page = await dashboard.open('/alerts')
    await page.getByRole('link', { name: 'Failures' }).click()
    await page.getByRole('button', { name: 'Send test' }).click()
    await heard(page, /The mail server did not accept the e-mail.*was sent: dashboard/)
    await page.close()
  })

  test('one is disabled, edited and deleted', async () => {
    const page = await dashboard.open('/alerts')
    await page.getByRole('switch', { name: 'Enable Failures' }).press('Space')
    await page.getByRole('switch', { name: 'Enable Failures', checked: false }).waitFor()
    await page.reload()
    await page.getByRole('switch', { name: 'Enable Failures', checked: false }).waitFor()
    await page.getByRole('link', { name: 'Failures' }).click()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByLabel('Name').fill('Renamed')
    await choose(page.getByLabel('Alert type').first(), { name: 'Unusual activity' })
    expect(await barriersOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Renamed', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete Renamed?' }).getByText('Delete').last().click()
    await page.getByText('No alerts yet').waitFor()
    await page.close()
  })
})

const section = (page: Page) => page.getByRole('region', { name: 'Destinations' })

describe('destinations', () => {
  test('a webhook is created, tested, disabled and deleted; its signing key is shown once', async () => {
    const page = await dashboard.open('/alerts')
    await section(page).getByText('No destinations yet.').waitFor()
    await page.getByRole('button', { name: 'New destination' }).click()
    const form = page.getByRole('dialog', { name: 'New destination' })
    await form.getByLabel('Name').fill('Operations')
    await form.getByLabel('URL').fill('https://10.0.0.1/hook')
    await form.getByRole('button', { name: 'Create' }).click()
    await form.getByText(/not one of the public internet/).waitFor()
    expect(await barriersOf(page)).toEqual([])
    // No server listens on its port: the test fails, and the page shows that.
    await dashboard.gateway.admin('PUT', '/config', { allowed_private_networks: ['127.0.0.2/32'] })
    await form.getByLabel('URL').fill('https://127.0.0.2/hook')
    await form.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('textbox', { name: 'Signing key' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Signing key' }).inputValue()).toMatch(/^whsec_/)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Operations', exact: true }).click()
    const drawer = page.getByRole('dialog', { name: 'Destination', exact: true })
    await drawer.getByText('Nothing was delivered yet.').waitFor()
    await drawer.getByRole('button', { name: 'Send test' }).click()
    await heard(page, /The test failed. The address was not reached/)
    await drawer.getByRole('row', { name: /Test.*failed/i }).waitFor()
    expect(await barriersOf(page)).toEqual([])
    await drawer.getByRole('button', { name: 'Send again' }).click()
    await drawer.getByRole('row', { name: /waiting|failed/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('switch', { name: 'Enable Operations' }).press('Space')
    await page.getByRole('switch', { name: 'Enable Operations', checked: false }).waitFor()
    await page.getByRole('button', { name: 'Operations', exact: true }).click()
    await drawer.getByRole('button', { name: 'Delete' }).click()
    await page
      .getByRole('dialog', { name: 'Delete Operations?' })
      .getByText('Delete')
      .last()
      .click()
    await section(page).getByText('No destinations yet.').waitFor()
    await page.close()
  })
})

test('a destination is edited: fields that stay empty keep its URL and its key', async () => {
  const { account } = dashboard
  const path = '/api/account/notification-destinations'
  await account.send(`POST ${path}`, {
    name: 'Pager',
    kind: 'pagerduty',
    routing_key: 'R0123456789ABCDEFGHIJKLMNOPQRSTU',
  })
  const read = async () => Object((await account.send(`GET ${path}`)).body)['destinations'][0]
  const page = await dashboard.open('/alerts')
  const edit = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).click()
    const drawer = page.getByRole('dialog', { name: 'Destination', exact: true })
    await drawer.getByRole('button', { name: 'Edit' }).click()
    return page.getByRole('dialog', { name: `Edit ${name}` })
  }
  const form = await edit('Pager')
  await form.getByLabel('Name').fill('On call')
  await form.getByRole('checkbox', { name: 'Support' }).press('Space')
  await form.getByRole('checkbox', { name: 'Enabled' }).press('Space')
  expect(await barriersOf(page)).toEqual([])
  await form.getByRole('button', { name: 'Save' }).click()
  await page
    .getByRole('dialog', { name: 'Destination', exact: true })
    .getByText('On call')
    .waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('switch', { name: 'Enable On call', checked: false }).waitFor()
  expect(await read()).toMatchObject({
    name: 'On call',
    enabled: false,
    url: 'https://events.pagerduty.com',
    events: expect.not.arrayContaining(['ticket.replied']),
  })
  const again = await edit('On call')
  await again.getByLabel('New URL').fill('https://events.eu.pagerduty.com/v2/enqueue')
  await again.getByLabel('New integration key').fill('short')
  await again.getByRole('button', { name: 'Save' }).click()
  await again.getByText(/routing_key/).waitFor()
  expect(await again.getByLabel('New URL').inputValue()).toContain('events.eu')
  await page.close()
})

describe('the inbox', () => {
  test('counts unread notifications, links to their subjects, and marks them as read', async () => {
    const made = await dashboard.account.send('POST /api/account/alerts', {
      name: 'Cost',
      type: 'cost_threshold',
      threshold: 5,
      notification_channels: ['dashboard'],
    })
    const id = String(made.body['id'])
    await dashboard.account.send('POST /api/account/notifications/read-all')
    await dashboard.account.send(`POST /api/account/alerts/${id}/test`)
    await dashboard.account.send(`POST /api/account/alerts/${id}/test`)
    const page = await dashboard.open('/')
    await page.getByRole('link', { name: 'Inbox, 2 unread' }).click()
    const notices = page.getByRole('article', { name: /Cost/ })
    await notices.first().getByRole('link', { name: /^Open/ }).click()
    await page.waitForURL(new RegExp(`/alerts\\?open=${id}`))
    await page.getByRole('heading', { name: 'Cost' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Inbox, 1 unread' }).click()
    await page.getByRole('switch', { name: 'Unread only' }).press('Space')
    await page.getByText('1 of 1 notifications').waitFor()
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await page.getByText('No unread notifications').waitFor()
    await page.close()
  })
})

describe('support', () => {
  test('a ticket about a request receives a reply and passes through its statuses', async () => {
    const request = await dashboard.call('sandbox/echo')
    const page = await dashboard.open(`/logs?open=${request}`)
    await page.getByRole('link', { name: 'Contact support about this request' }).click()
    await page.getByLabel('Subject').fill('Too slow')
    await page.getByLabel('Description').fill('It took <i>long</i>.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('heading', { name: 'Too slow' }).waitFor()
    await page.getByText('It took <i>long</i>.').waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1)
    await dashboard.gateway.admin('POST', `/tickets/${id}/comments`, {
      content: 'We look into it.',
    })
    await reloadUntil(page, () => page.getByText('We look into it.').isVisible())
    await page.getByLabel('Reply').fill('Thank you')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('article', { name: 'You wrote' }).getByText('Thank you').waitFor()
    await page.getByRole('button', { name: 'Mark as resolved' }).click()
    await page.getByText('A reply reopens the ticket').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByText('This ticket is closed').waitFor()
    await page.getByRole('button', { name: 'Reopen' }).click()
    await page.getByRole('button', { name: 'Mark as resolved' }).waitFor()
    await page.getByRole('link', { name: 'View request' }).click()
    await page.getByRole('dialog', { name: 'Request' }).getByText(request).waitFor()
    await page.close()
  })

  test('shows validation errors of a ticket at their fields', async () => {
    const page = await dashboard.open('/support?new=true&request=req_unknown')
    await page.getByLabel('Subject').fill('Strange')
    await page.getByLabel('Description').fill('See there.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/^request_id: /).waitFor()
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })

  test('tickets are filtered by status', async () => {
    const page = await dashboard.open('/support?status=closed')
    await page.getByText('No results').waitFor()
    await page.goto(`${dashboard.address}/support?category=technical`)
    await page.getByRole('link', { name: 'Too slow' }).click()
    await page.getByRole('article', { name: 'Support wrote' }).waitFor()
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })
})
