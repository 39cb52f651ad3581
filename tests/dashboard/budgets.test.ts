import { afterAll, beforeAll, expect, test } from 'bun:test'
import { barriersOf } from './accessibility'
import { choose } from './choose'
import { reloadUntil, startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const listed = async () => {
  const { body } = await dashboard.account.send('GET /api/account/budgets')
  return Object(body)['budgets']
}

test('a budget of a key is created, changed and deleted', async () => {
  const page = await dashboard.open('/budgets')
  await page.getByRole('button', { name: 'New budget' }).click()
  const form = page.getByRole('dialog', { name: 'New budget' })
  await form.getByLabel('Name').fill('Weekly')
  await choose(form.getByRole('combobox', { name: 'Applies to' }), { name: /^API key Mine/ })
  await form.getByLabel('Amount').fill('12.5')
  await choose(form.getByRole('combobox', { name: 'Per' }), { name: 'Week' })
  await choose(form.getByRole('combobox', { name: 'Weeks begin on' }), { name: 'Sunday' })
  await form.getByRole('combobox', { name: 'Time zone' }).fill('Asia/Tok')
  await page.getByRole('option', { name: 'Asia/Tokyo' }).click()
  await form.getByRole('button', { name: 'Create budget' }).click()
  await page.getByRole('row', { name: /^Weekly.*API key Mine.*\$0\.00 of \$12\.50/ }).waitFor()
  expect(await listed()).toMatchObject([
    {
      unit: 'usd',
      amount: 12.5,
      window: 'week',
      first_weekday: 'sunday',
      time_zone: 'Asia/Tokyo',
      enforcement: 'hard',
      notify_percents: [80, 95],
    },
  ])
  await page.getByRole('row', { name: /Rejects requests.*Notifies at 80%, 95%/ }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Actions for Weekly' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await page.getByRole('dialog', { name: 'Edit Weekly' }).getByLabel('Amount').fill('20')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /\$0\.00 of \$20\.00/ }).waitFor()
  await page.getByRole('button', { name: 'Actions for Weekly' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await page.getByLabel('Override', { exact: true }).fill('50')
  await page.getByLabel('Override ends').fill('2099-12-24T12:00')
  await page.getByRole('button', { name: 'Save' }).click()
  await page
    .getByRole('row', { name: /\$0\.00 of \$50\.00.*\$50\.00 instead of \$20\.00/ })
    .waitFor()
  expect(await listed()).toMatchObject([{ amount: 20, amount_in_force: 50 }])
  await page.getByRole('button', { name: 'Actions for Weekly' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('No budgets yet').waitFor()
  expect(await listed()).toEqual([])
  await page.close()
})

test('a budget in tokens of some models and tags is created, and lists them', async () => {
  const page = await dashboard.open('/budgets')
  await page.getByRole('button', { name: 'New budget' }).click()
  const form = page.getByRole('dialog', { name: 'New budget' })
  await form.getByLabel('Name').fill('Batches')
  for (const [label, names] of [
    ['Models', ['sandbox/*', 'openai/gpt-5']],
    ['Tags', ['batch']],
  ] as const) {
    for (const name of names) {
      await form.getByLabel(label).first().fill(name)
      await form.getByLabel(label).first().press('Enter')
    }
  }
  await form.getByLabel('Amount').fill('5000')
  await choose(form.getByRole('combobox', { name: 'Unit' }), { name: 'Tokens' })
  await form.getByRole('button', { name: 'Create budget' }).press('Enter')
  const row = page.getByRole('row', { name: /^Batches/ })
  await row.getByText('0 of 5,000 tokens', { exact: true }).waitFor()
  await row.getByText('Models sandbox/*, openai/gpt-5; Tags batch').waitFor()
  expect(await listed()).toMatchObject([
    {
      unit: 'tokens',
      amount: 5000,
      models: ['sandbox/*', 'openai/gpt-5'],
      providers: null,
      tags: ['batch'],
    },
  ])
  expect(await barriersOf(page)).toEqual([])
  const [{ id }] = await listed()
  await dashboard.account.send(`DELETE /api/account/budgets/${id}`)
  await page.close()
})

test('a time zone that does not exist is named at its field, and the form stays', async () => {
  const page = await dashboard.open('/budgets')
  await page.getByRole('button', { name: 'New budget' }).click()
  await page.getByLabel('Name').fill('Daily')
  await page.getByLabel('Amount').fill('1')
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Mars/Olympus')
  await page.getByRole('button', { name: 'Create budget' }).click()
  await page.getByText(/must be a time zone of the IANA database/).waitFor()
  expect(await page.getByLabel('Name').inputValue()).toBe('Daily')
  await page.close()
})

test('a budget that only notifies has marks at its percents, and shows its last notification', async () => {
  const page = await dashboard.open('/budgets')
  await page.getByRole('button', { name: 'New budget' }).click()
  const form = page.getByRole('dialog', { name: 'New budget' })
  const percents = form.getByLabel('Notify at percent')
  await form.getByLabel('Name').fill('Echoes')
  await form.getByLabel('Amount').fill('1')
  await choose(form.getByRole('combobox', { name: 'Unit' }), { name: 'Requests' })
  await percents.fill('80, 150')
  await form.getByRole('button', { name: 'Create budget' }).press('Enter')
  await form.getByText(/from 1 to 100: only a budget that rejects nothing/).waitFor()
  expect(await percents.getAttribute('aria-invalid')).toBe('true')
  await choose(form.getByRole('combobox', { name: 'When it is used up' }), { name: 'Only notify' })
  expect(await percents.inputValue()).toBe('80, 150')
  await form.getByRole('button', { name: 'Create budget' }).press('Enter')
  const row = page.getByRole('row', { name: /^Echoes/ })
  await row.getByText('0 of 1', { exact: true }).waitFor()
  expect(await listed()).toMatchObject([{ enforcement: 'soft', notify_percents: [80, 150] }])
  const marks = row.locator('[title$="%"]')
  expect(await marks.evaluateAll((all) => all.map((mark) => mark.getAttribute('title')))).toEqual([
    '80%',
    '100%',
    '150%',
  ])
  await dashboard.callOften('sandbox/echo', 2)
  await reloadUntil(page, () => row.getByText(/notified at 150%/).isVisible())
  await row.getByText('2 of 1', { exact: true }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.getByRole('link', { name: /^Inbox, \d unread/ }).click()
  await page
    .getByRole('article', { name: /Budget at 150%: Echoes/ })
    .getByRole('link', { name: /^Open/ })
    .click()
  await page.getByRole('heading', { name: 'Budgets', level: 1 }).waitFor()
  await page.close()
})

test('the percents of a new budget follow its enforcement, until others are entered', async () => {
  const page = await dashboard.open('/budgets')
  await page.getByRole('button', { name: 'New budget' }).click()
  const form = page.getByRole('dialog', { name: 'New budget' })
  const percents = form.getByLabel('Notify at percent')
  expect(await percents.inputValue()).toBe('80, 95')
  await choose(form.getByRole('combobox', { name: 'When it is used up' }), { name: 'Only notify' })
  expect(await percents.inputValue()).toBe('80, 100')
  await page.close()
})

test('a manager creates a budget of an organization, which its members see and cannot change', async () => {
  const made = await dashboard.account.send('POST /api/organizations', { name: 'Engines' })
  const id = String(made.body['id'])
  const page = await dashboard.open(`/organizations/${id}?tab=budgets`)
  await page.getByRole('button', { name: 'New budget' }).click()
  const form = page.getByRole('dialog', { name: 'New budget' })
  await form.getByLabel('Name').fill('Everyone')
  await form.getByLabel('Amount').fill('500')
  await form.getByRole('button', { name: 'Create budget' }).press('Enter')
  await page.getByRole('row', { name: /^Everyone.*All members.*\$0\.00 of \$500\.00/ }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  const { body } = await dashboard.account.send(`GET /api/organizations/${id}/budgets`)
  expect(body['budgets']).toMatchObject([{ name: 'Everyone', member_id: null, amount: 500 }])
  await page.goto(`${dashboard.address}/budgets`)
  await page.getByRole('heading', { name: 'Budgets of your organizations' }).waitFor()
  await page.getByRole('row', { name: /^Everyone.*All members of Engines/ }).waitFor()
  expect(await page.getByRole('button', { name: 'Actions for Everyone' }).count()).toBe(0)
  await page.goto(`${dashboard.address}/organizations/${id}?tab=budgets`)
  await page.getByRole('button', { name: 'Actions for Everyone' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('No budgets yet').waitFor()
  await page.close()
})
