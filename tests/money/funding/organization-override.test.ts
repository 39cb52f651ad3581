import { expect, test } from 'bun:test'
import { organizationBudgets } from './organization-budget-fixture'
import { eventually } from '../../../server/testing/eventually'

const { on, newBudget, paying, readOne } = organizationBudgets()

test('an override of a budget of an organization admits more to its members, and is in its audit log', async () => {
  const { organization, member } = await paying()
  const { owner, path } = organization
  const budget = await newBudget(organization)
  const status = async () => (await on().chat(member)).status
  expect(await status()).toBe(200)
  expect(await status()).toBe(429)
  const override = { amount: 2, until: '2099-01-01T00:00:00.000Z' }
  const budgetPath = `${path}/budgets/${String(budget['id'])}`
  const { body } = await on().api(owner, `PATCH ${budgetPath}`, { override })
  const shown = { ...override, from: expect.any(String), created_by: owner.userId }
  expect(body).toMatchObject({ amount: 1, amount_in_force: 2, override: shown })
  await eventually(async () => (await status()) === 200)
  expect(await status()).toBe(429)
  expect((await readOne(organization, budget))['override']).toMatchObject(shown)
  const { body: trail } = await on().api(owner, `GET ${path}/audit-trail?action=budget.changed`)
  expect(trail['changes']).toMatchObject([
    {
      action: 'budget.changed',
      before: { override_amount: null },
      after: { override_amount: 2, override_until: override.until },
    },
  ])
})
