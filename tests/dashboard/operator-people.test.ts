import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { choose } from './choose'
import { heard } from './browser'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import type { Json } from '../harness/http'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const admin = (method: string, path: string, body?: Json) =>
  dashboard.gateway.admin(method, path, body)

const idOf = (made: Json) => String(made['id'])

/** A customer who can be looked for. */
const newUser = async (name: string, fields: Json = {}) =>
  idOf(
    await admin('POST', '/users', {
      email: `${name.toLowerCase()}@example.com`,
      display_name: name,
      ...fields,
    }),
  )

const paths = [
  '/operator',
  '/operator/overview',
  '/operator/users',
  '/operator/users/user_00000000000000000000000000',
  '/operator/transactions',
  '/operator/invoices',
  '/operator/plans',
  '/operator/scim',
  '/operator/organizations',
  '/operator/organizations/org_00000000000000000000000000',
  '/operator/tickets',
  '/operator/tickets/tick_00000000000000000000000000',
  '/operator/quota-requests',
  '/operator/requests',
]

test('hides the operator pages from an account that is not an operator', async () => {
  const page = await dashboard.open('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(await page.getByRole('group', { name: 'People' }).count()).toBe(0)
  const requests: string[] = []
  page.on('request', (request) => requests.push(new URL(request.url()).pathname))
  for (const path of paths) {
    await page.goto(`${dashboard.address}${path}`)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  }
  expect(requests.filter((path) => path.startsWith('/api/admin'))).toEqual([])
  await page.close()
})

describe('an operator', () => {
  beforeAll(() => dashboard.operate())

  test('opens the users and filters them by name, status and plan', async () => {
    await newUser('Babbage')
    const stopped = await newUser('Stopped')
    await admin('POST', `/users/${stopped}/suspend`, { reason: 'test' })
    const page = await dashboard.open('/operator/users')
    await page.getByRole('heading', { name: 'Users', exact: true }).waitFor()
    await page.getByRole('group', { name: 'People' }).getByRole('link', { name: 'Users' }).waitFor()
    await page.getByLabel('Search users').fill('babb')
    await page.waitForURL(/search=babb/)
    await page.getByRole('link', { name: 'Stopped' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Babbage' }).waitFor()
    await page.goto(`${dashboard.address}/operator/users?status=suspended`)
    await page.getByRole('link', { name: 'Stopped' }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    await page.goto(`${dashboard.address}/operator/users?search=nobody-at-all`)
    await page.getByText('No users match these filters').waitFor()
    await page.close()
  })

  test('creates a user, with validation errors at their fields', async () => {
    const page = await dashboard.open('/operator/users')
    await page.getByRole('button', { name: 'New user' }).click()
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('email: an account with this address already exists').waitFor()
    await page.getByLabel('Email').fill('lovelace@example.com')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'lovelace' }).waitFor()
    await page.waitForURL(/\/operator\/users\/user_/)
    await page.getByLabel('Name').fill('Ada Lovelace')
    await page.getByLabel('Require payment before').press('Space')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor()
    await page.reload()
    await page.getByLabel('Require payment before').waitFor()
    expect(await page.getByLabel('Require payment before').isChecked()).toBe(true)
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })

  test('suspends a user with a reason, and reinstates it', async () => {
    const id = await newUser('Turing')
    const page = await dashboard.open(`/operator/users/${id}`)
    await page.getByRole('button', { name: 'Suspend' }).click()
    const dialog = page.getByRole('dialog', { name: 'Suspend Turing?' })
    await dialog.getByLabel('Reason').fill('Did not pay.')
    await dialog.getByRole('button', { name: 'Suspend' }).click()
    await page.getByRole('alert', { name: 'Suspended' }).getByText('Did not pay.').waitFor()
    expect(await admin('GET', `/users/${id}`)).toMatchObject({
      status: 'suspended',
      suspended_reason: 'Did not pay.',
    })
    await page.getByRole('button', { name: 'Reinstate' }).click()
    await page.getByRole('button', { name: 'Suspend' }).waitFor()
    expect(await admin('GET', `/users/${id}`)).toMatchObject({ status: 'active' })
    await page.close()
  })

  test('gives a user each role after a confirmation, and shows it', async () => {
    const id = await newUser('Deputy')
    const page = await dashboard.open(`/operator/users/${id}`)
    const role = page.getByRole('combobox', { name: 'Role' })
    await choose(role, { name: 'Operator', exact: true })
    const dialog = page.getByRole('dialog', { name: 'Give Deputy the role Operator?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await admin('GET', `/users/${id}`)).toMatchObject({ operator_role: null })
    for (const [name, value] of [
      ['Operator', 'operator'],
      ['Support', 'support'],
      ['Finance', 'finance'],
      ['Read-only', 'read_only'],
    ] as const) {
      await choose(role, { name, exact: true })
      await page.getByRole('button', { name: 'Give role' }).click()
      await heard(page, `Deputy has the role ${name}.`)
      expect(await admin('GET', `/users/${id}`)).toMatchObject({ operator_role: value })
    }
    expect(await barriersOf(page)).toEqual([])
    await page.goto(`${dashboard.address}/operator/users?search=deputy`)
    await page.getByText('read-only', { exact: true }).waitFor()
    await page.close()
  })

  test('overrides the limits of a plan for one account', async () => {
    const id = await newUser('Limited', { limits: { monthly_requests: null } })
    const page = await dashboard.open(`/operator/users/${id}?tab=limits`)
    await choose(page.getByRole('combobox', { name: 'Requests per minute' }), { name: 'Custom' })
    await page.getByLabel('Requests per minute of this account').fill('7')
    await choose(page.getByRole('combobox', { name: 'Requests this month' }), {
      name: 'Plan limit',
    })
    await choose(page.getByRole('combobox', { name: 'Spend this month' }), { name: 'No limit' })
    await page.getByRole('button', { name: 'Save limits' }).click()
    await heard(page, 'Applies from the next request')
    const { limits } = await admin('GET', `/users/${id}`)
    expect(limits).toEqual({ requests_per_minute: 7, monthly_spend: null })
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })

  test('creates a key for a user, which is shown once, and revokes it', async () => {
    const id = await newUser('Keyed')
    const page = await dashboard.open(`/operator/users/${id}?tab=keys`)
    await page.getByText('Keyed has no keys').waitFor()
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('Theirs')
    await page.getByRole('button', { name: 'Create key' }).click()
    const secret = await page.getByRole('textbox', { name: 'API key' }).inputValue()
    expect(secret).toStartWith('sk-tg-')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('cell', { name: 'Theirs sk-tg-' }).waitFor()
    expect(await page.content()).not.toContain(secret)
    await page.getByRole('button', { name: 'Actions for Theirs' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    const dialog = page.getByRole('dialog', { name: 'Revoke Theirs?' })
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Keyed has no keys').waitFor()
    await page.close()
  })

  test('grants credit, takes some away, and finds both among all transactions', async () => {
    const id = await newUser('Rich')
    const page = await dashboard.open(`/operator/users/${id}?tab=credits`)
    await page.getByRole('button', { name: 'Grant credits' }).click()
    await page.getByLabel('Amount').fill('25')
    await page.getByLabel('Reason').fill('Welcome')
    await page.getByRole('button', { name: 'Grant', exact: true }).click()
    await heard(page, '$25.00 booked. New balance: $25.00.')
    await page.getByRole('button', { name: 'Adjust balance' }).click()
    await page.getByLabel('Amount').fill('-100')
    await page.getByLabel('Reason').fill('Wrong')
    await page.getByRole('button', { name: 'Adjust', exact: true }).click()
    await page.getByText('amount: exceeds the available balance').waitFor()
    await page.getByLabel('Amount').fill('-5')
    await page.getByRole('button', { name: 'Adjust', exact: true }).click()
    await page.getByRole('region', { name: 'Balance' }).getByText('$20.00').waitFor()
    await page.getByRole('cell', { name: 'Welcome' }).waitFor()
    expect(await barriersOf(page)).toEqual([])
    await page.getByRole('link', { name: 'Filter transactions' }).click()
    await page.getByRole('heading', { name: 'Transactions' }).waitFor()
    await choose(page.getByRole('combobox', { name: 'Type' }), { name: 'Adjustment' })
    await page.getByRole('cell', { name: 'Welcome' }).waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'Wrong' }).waitFor()
    await page.getByRole('link', { name: 'rich@example.com' }).click()
    await page.getByRole('heading', { name: 'Rich' }).waitFor()
    await page.close()
  })

  test('edits an organization, grants it credits, suspends and deletes it', async () => {
    const { body } = await dashboard.account.send('POST /api/organizations', {
      name: 'Analytical Engines',
      slug: 'engines',
    })
    const id = idOf(body)
    const page = await dashboard.open('/operator/organizations?search=engines')
    await page.getByRole('link', { name: 'Analytical Engines' }).click()
    await page.getByLabel('Member limit').fill('5')
    await page.getByRole('button', { name: 'Save terms' }).click()
    await heard(page, 'Saved.')
    await page.getByLabel('Requests per minute').fill('33')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await heard(page, 'Saved.', 2)
    expect(await admin('GET', `/organizations/${id}`)).toMatchObject({
      member_limit: 5,
      rate_limit_requests_per_minute: 33,
    })
    expect(await barriersOf(page)).toEqual([])
    await page.getByRole('tab', { name: 'Credits' }).click()
    await page.getByRole('button', { name: 'Grant credits' }).click()
    await page.getByLabel('Amount').fill('3')
    await page.getByLabel('Reason').fill('Pool')
    await page.getByRole('button', { name: 'Grant', exact: true }).click()
    await page.getByRole('region', { name: 'Balance' }).getByText('$3.00').waitFor()
    await page.getByRole('button', { name: 'Suspend' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
    await page.getByRole('button', { name: 'Reinstate' }).click()
    await page.getByRole('button', { name: 'Suspend' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete Analytical Engines?' })
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByText('The organization still has credit').waitFor()
    await admin('POST', '/credits/adjust', { organization_id: id, amount: -3, reason: 'Closed' })
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'All organizations' }).waitFor()
    await page.goto(`${dashboard.address}/operator/organizations?search=engines`)
    await page.getByText('No organizations match these filters').waitFor()
    await page.close()
  })

  test('shows an error for an account that does not exist', async () => {
    const page = await dashboard.open('/operator/users/user_00000000000000000000000000')
    await page.getByText('Account not found').waitFor()
    await page.close()
  })

  test('loses the operator pages when giving up the role', async () => {
    const page = await dashboard.open('/operator/users?search=ada@example.com')
    await page.getByRole('link', { name: 'Ada', exact: true }).click()
    await choose(page.getByRole('combobox', { name: 'Role' }), { name: 'None' })
    await page.getByText('This is your own account').waitFor()
    await page.getByRole('button', { name: 'Revoke access' }).click()
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.getByRole('group', { name: 'People' }).waitFor({ state: 'detached' })
    await page.close()
  })
})
