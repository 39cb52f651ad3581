import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page, Request } from 'playwright-core'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import { eventually } from '../../server/testing/eventually'

let dashboard: SignedIn
/** An account, an organization, a plan, a ticket and a request for pages to show. */
let customerId: string
let operatorId: string

beforeAll(async () => {
  dashboard = await startSignedIn()
  const { gateway } = dashboard
  const customer = await gateway.customer({ permissions: ['read', 'write', 'admin'] })
  customerId = customer.userId
  const operator = await gateway.admin('POST', '/users', {
    email: 'chief@roles.example',
    operator_role: 'operator',
  })
  operatorId = String(operator['id'])
  await fetch(`${gateway.url}/api/support/tickets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ subject: 'It is slow', description: 'Since noon.' }),
  })
})
afterAll(() => dashboard[Symbol.asyncDispose]())

async function give(role: string): Promise<void> {
  await dashboard.sql`update users set is_operator = false, operator_role = ${role}
    where email = 'ada@example.com'`
}

const read = ['Requests', 'Quota requests']
const people = ['Users', 'All organizations']
const labels = {
  support: [...read, 'Tickets', ...people, 'Plans', 'Transactions'],
  finance: [
    'Installation overview',
    'Explorer of all accounts',
    ...read,
    ...people,
    'Plans',
    'Transactions',
    'Invoices',
    'Catalog',
  ],
  read_only: [
    'Installation overview',
    'Explorer of all accounts',
    ...read,
    'Tickets',
    ...people,
    'SCIM',
    'Plans',
    'Transactions',
    'Invoices',
    'Providers',
    'Catalog',
    'Platform connections',
    'System collections',
    'Branding',
    'Configuration',
    'Audit log',
    'Audit delivery',
    'System',
  ],
} as const

const first = { support: 'Requests', finance: 'Installation overview' } as const
const roles = ['support', 'finance', 'read_only'] as const

const isOfOperators = (url: string) => new URL(url).pathname.startsWith('/api/admin')

/** Answers of refused requests of operators that a page gets. */
function listenToRefusals(page: Page): string[] {
  const refusals: string[] = []
  page.on('response', (response) => {
    const isRefused = response.status() >= 400 && isOfOperators(response.url())
    if (isRefused) refusals.push(`${response.status()} ${new URL(response.url()).pathname}`)
  })
  return refusals
}

/** Returns the requests of operators that a page waits for. */
function listenToPending(page: Page): ReadonlySet<Request> {
  const pending = new Set<Request>()
  page.on('request', (request) => isOfOperators(request.url()) && pending.add(request))
  page.on('requestfinished', (request) => pending.delete(request))
  page.on('requestfailed', (request) => pending.delete(request))
  return pending
}

const navigationOf = (page: Page) => page.getByRole('navigation', { name: 'Main' })

describe.each(roles)('the role %s', (role) => {
  /** One for all pages of the role, which its navigation leads to: a load takes longer than what is promised of a page. */
  let shown: Page
  let refusals: string[]
  let pending: ReadonlySet<Request>

  beforeAll(async () => {
    await give(role)
    shown = await dashboard.context.newPage()
    refusals = listenToRefusals(shown)
    pending = listenToPending(shown)
    await shown.emulateMedia({ reducedMotion: 'reduce' })
    await shown.goto(`${dashboard.address}/operator`)
  })
  afterAll(async () => {
    await shown.close()
    // One may have come after its page was left.
    expect(refusals).toEqual([])
  })

  test('opens at its first page, with a navigation of the pages that it may open', async () => {
    const start = role === 'read_only' ? first.finance : first[role]
    await shown.getByRole('heading', { name: start, exact: true }).waitFor()
    const links = navigationOf(shown).getByRole('group').getByRole('link')
    expect(await links.allTextContents()).toEqual([...labels[role]])
  })

  test.each([...labels[role]])('opens %s without a refusal or a barrier', async (label) => {
    await navigationOf(shown).getByRole('link', { name: label, exact: true }).click()
    await shown.getByRole('heading', { name: label, exact: true, level: 1 }).waitFor()
    await eventually(
      async () =>
        pending.size === 0 && (await shown.locator('main [aria-busy=true]').count()) === 0,
    )
    expect(await barriersOf(shown)).toEqual([])
    expect(refusals).toEqual([])
  })

  test('opens the tabs of an account without a refusal', async () => {
    for (const tab of ['account', 'limits', 'credits']) {
      await shown.goto(`${dashboard.address}/operator/users/${customerId}?tab=${tab}`)
      await shown.getByRole('tab', { name: 'Account' }).waitFor()
      await shown.waitForLoadState('networkidle')
    }
    expect(refusals).toEqual([])
  })
})

/** The buttons of a page by their names, once it has loaded. */
async function buttonsOf(path: string, anchor: string): Promise<string[]> {
  const page = await dashboard.open(path)
  await page.getByRole('main').getByText(anchor).first().waitFor()
  await page.waitForLoadState('networkidle')
  const names = await page.getByRole('main').getByRole('button').allTextContents()
  await page.close()
  return names.filter((name) => name !== '')
}

test('a page of another role names the reason, and requests nothing', async () => {
  await give('support')
  const page = await dashboard.open('/operator/config')
  const refusals = listenToRefusals(page)
  await page.getByRole('heading', { name: 'Not for your role' }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  expect(refusals).toEqual([])
  await page.close()
})

test('support suspends customers, not operators, and changes neither limits nor balance', async () => {
  await give('support')
  const actions = ['Suspend', 'Copy sign-in link', 'Save', 'Grant credits', 'New key']
  const path = `/operator/users/${customerId}`
  const found = async (buttons: Promise<string[]>) =>
    (await buttons).filter((name) => actions.includes(name))
  expect(await found(buttonsOf(path, 'Operator access'))).toEqual(['Suspend'])
  expect(await found(buttonsOf(`${path}?tab=keys`, 'Created'))).toEqual(['Suspend'])
  expect(await found(buttonsOf(`${path}?tab=credits`, 'Balance'))).toEqual(['Suspend'])
  const operator = buttonsOf(`/operator/users/${operatorId}`, 'Operator access')
  expect(await found(operator)).toEqual([])
  const users = await buttonsOf('/operator/users', 'chief@roles.example')
  expect(users).not.toContain('New user')
})

test('finance grants credits and changes plans, and nothing else of an account', async () => {
  await give('finance')
  const path = `/operator/users/${customerId}`
  expect(await buttonsOf(`${path}?tab=credits`, 'Balance')).toEqual(
    expect.arrayContaining(['Grant credits', 'Adjust balance']),
  )
  const account = await buttonsOf(path, 'Operator access')
  expect(account.filter((name) => ['Save', 'Suspend'].includes(name))).toEqual([])
  expect(await buttonsOf('/operator/plans', 'default')).toContain('New plan')
})

test('read-only finds no button that changes anything, and locked fields', async () => {
  await give('read_only')
  const paths = [
    ['/operator/users', 'chief@roles.example'],
    ['/operator/plans', 'default'],
    ['/operator/providers', 'built in'],
    ['/operator/models', 'Context'],
    ['/operator/connections', 'Platform connections'],
    ['/operator/collections', 'auto-free'],
    ['/operator/branding', 'Identity'],
    ['/operator/config', 'Configuration'],
    ['/operator/scim', 'SCIM'],
    ['/operator/audit-delivery', 'Legal holds'],
    [`/operator/users/${customerId}`, 'Operator access'],
  ] as const
  for (const [path, anchor] of paths) {
    const buttons = await buttonsOf(path, anchor)
    const changing = buttons.filter((name) =>
      /^(New|Add|Save|Discard|Suspend|Grant|Set|Delete|Copy sign-in)/.test(name),
    )
    expect([path, changing]).toEqual([path, []])
  }
  const page = await dashboard.open(`/operator/users/${customerId}`)
  expect(await page.getByRole('textbox', { name: 'Email' }).isDisabled()).toBe(true)
  await page.close()
})
