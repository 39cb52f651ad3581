import { describe, expect, test } from 'bun:test'
import { namesOf, organizationBudgets, refusal } from './organization-budget-fixture'
import { price, waitForValue } from './fixture'
import type { Answer, Json } from '../../harness/http'
import type { Organization } from '../../harness/organization'
import type { Customer } from '../../harness/server'

const { on, newBudget, paying, readOne } = organizationBudgets()

const statusOf = async (by: Customer, fields?: Json) => (await on().chat(by, fields)).status

const budgetOf = ({ error }: Answer): Json => Object(error.details?.['budget'])

const readUsed = async (organization: Organization, budget: Json) =>
  (await readOne(organization, budget))['used']

describe('a budget of an organization', () => {
  test('counts paid requests of all members, and refuses the next one by name', async () => {
    const { organization, member } = await paying()
    const other = await on().funded(organization)
    const budget = await newBudget(organization, { name: 'Everyone' })
    expect(budget).toMatchObject({
      organization_id: organization.id,
      member_id: null,
      department: null,
      used: 0,
      remaining: 1,
    })
    expect(await statusOf(member)).toBe(200)
    const refused = await on().chat(other)
    expect(refusal(refused)).toEqual([429, 'rate_limit_exceeded'])
    expect(refused.error.message).toMatch(
      /^The budget "Everyone" allows 1 requests a day\. None is left until /,
    )
    const { id, window_end } = budget
    const named = { id, name: 'Everyone', unit: 'requests', amount: 1, remaining: 0 }
    expect(budgetOf(refused)).toEqual({ ...named, window: 'day', window_end })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    await waitForValue(() => readUsed(organization, budget), 1)
  })

  test('counts no request that a member pays', async () => {
    const { organization, member } = await paying()
    const budget = await newBudget(organization)
    const outsider = await organization.member()
    await on().grant({ user_id: outsider.userId })
    expect(await statusOf(outsider)).toBe(200)
    expect(await statusOf(outsider)).toBe(200)
    expect(await statusOf(member)).toBe(200)
    expect(await statusOf(member)).toBe(429)
    expect(await statusOf(outsider)).toBe(200)
    await waitForValue(() => readUsed(organization, budget), 1)
  })

  test('of money holds the price, and names the rest', async () => {
    const { organization, member } = await paying()
    const budget = await newBudget(organization, { unit: 'usd', amount: 0.01, name: 'Money' })
    expect([await statusOf(member), await statusOf(member)]).toEqual([200, 200])
    const refused = await on().chat(member)
    expect(refusal(refused)).toEqual([402, 'insufficient_credits'])
    expect(refused.error.message).toMatch(
      /^The budget "Money" allows 0\.01 USD a day\. 0\.00399 USD remain until .*; this request requires 0\.00/,
    )
    expect(budgetOf(refused)).toMatchObject({ name: 'Money', remaining: 0.00399 })
    await waitForValue(() => readUsed(organization, budget), 2 * price)
  })

  test('counts the catalogue price of a connection that it pays itself', async () => {
    const organization = await on().roomy()
    await organization.connection()
    const member = await organization.member()
    const budget = await newBudget(organization, { unit: 'usd', amount: 0.01 })
    const ofModel = await newBudget(organization, {
      name: 'Batches',
      unit: 'usd',
      amount: 1,
      tags: ['batch'],
    })
    const metadata = { tags: 'batch,other' }
    expect([await statusOf(member, { metadata }), await statusOf(member)]).toEqual([200, 200])
    expect(refusal(await on().chat(member))).toEqual([402, 'insufficient_credits'])
    await waitForValue(() => readUsed(organization, budget), 2 * price)
    await waitForValue(() => readUsed(organization, ofModel), price)
  })

  test('in tokens, of a model or a tag counts only those', async () => {
    const { organization, member } = await paying()
    const ofModel = await newBudget(organization, { models: ['fake/other'], amount: 0 })
    const tagged = await newBudget(organization, { name: 'Batches', tags: ['batch'] })
    const tokens = await newBudget(organization, {
      name: 'Tokens',
      unit: 'tokens',
      amount: 1_000_000,
      providers: ['fake'],
    })
    const metadata = { tags: 'batch' }
    expect([await statusOf(member), await statusOf(member, { metadata })]).toEqual([200, 200])
    const refused = await on().chat(member, { metadata })
    expect([refused.status, budgetOf(refused)['name']]).toEqual([429, 'Batches'])
    expect(await statusOf(member)).toBe(200)
    await waitForValue(() => readUsed(organization, tokens), 24)
    expect(await readUsed(organization, tagged)).toBe(1)
    expect(await readUsed(organization, ofModel)).toBe(0)
    const at = `PATCH ${organization.path}/budgets/${String(tokens['id'])}`
    const changed = await on().api(organization.owner, at, { amount: 24 })
    expect(changed.body).toMatchObject({ amount: 24, remaining: 0 })
    await waitForValue(() => statusOf(member), 429)
    expect(budgetOf(await on().chat(member))).toMatchObject({ name: 'Tokens', unit: 'tokens' })
  })

  test('refuses nothing while it is soft, and nothing more once it is deleted', async () => {
    const { organization, member } = await paying()
    const { owner, path } = organization
    const budget = await newBudget(organization, { enforcement: 'soft' })
    expect([await statusOf(member), await statusOf(member)]).toEqual([200, 200])
    await waitForValue(() => readUsed(organization, budget), 2)
    const at = `${path}/budgets/${String(budget['id'])}`
    expect((await on().api(owner, `PATCH ${at}`, { enforcement: 'hard' })).status).toBe(200)
    await waitForValue(() => statusOf(member), 429)
    expect((await on().api(owner, `DELETE ${at}`)).status).toBe(200)
    await waitForValue(() => statusOf(member), 200)
  })
})

describe('a budget of a member', () => {
  test('counts that member alone, and ends with the membership', async () => {
    const { organization, member } = await paying()
    const { owner, path } = organization
    const other = await on().funded(organization)
    const budget = await newBudget(organization, { member_id: member.userId })
    expect(await statusOf(other)).toBe(200)
    expect(await statusOf(member)).toBe(200)
    expect(await statusOf(member)).toBe(429)
    expect(await statusOf(other)).toBe(200)
    await waitForValue(() => readUsed(organization, budget), 1)
    const gone = await on().api(owner, `DELETE ${path}/members/${member.userId}`)
    expect(gone.status).toBe(200)
    expect(namesOf(await on().api(owner, `GET ${path}/budgets`))).toEqual([])
  })

  test('of money and one of all members both hold', async () => {
    const { organization, member } = await paying()
    const other = await on().funded(organization)
    await newBudget(organization, { name: 'All', unit: 'usd', amount: 0.02 })
    const fields = { name: 'Own', member_id: member.userId, unit: 'usd', amount: 0.01 }
    await newBudget(organization, fields)
    const spendAll = async (by: Customer) => {
      for (let served = 0; ; served++) {
        const answer = await on().chat(by)
        if (answer.status !== 200) return [served, answer.status, budgetOf(answer)['name']]
      }
    }
    expect(await spendAll(member)).toEqual([2, 402, 'Own'])
    // Six requests leave less than one holds.
    expect(await spendAll(other)).toEqual([4, 402, 'All'])
  })
})

test('a budget of a department counts its members, from its creation', async () => {
  const { organization, member } = await paying()
  const { owner, path } = organization
  const other = await on().funded(organization)
  await on().api(owner, `PUT ${path}/members/${member.userId}`, { department: 'R&D, Berlin' })
  const budget = await newBudget(organization, { department: 'R&D, Berlin', amount: 2 })
  expect(await statusOf(other)).toBe(200)
  const sent = [await statusOf(member), await statusOf(member), await statusOf(member)]
  expect(sent).toEqual([200, 200, 429])
  await waitForValue(() => readUsed(organization, budget), 2)
  await on().api(owner, `PUT ${path}/members/${other.userId}`, { department: 'R&D, Berlin' })
  await waitForValue(() => statusOf(other), 429)
})

const noticesOf = async (by: Customer) => {
  const { body } = await on().api(by, 'GET /account/notifications')
  const { notifications } = body
  return Array.isArray(notifications)
    ? notifications
        .filter(({ kind }: Json) => kind === 'budget')
        .map(({ title, link }: Json) => [title, link])
        .toSorted(([one], [other]) => String(one).localeCompare(String(other)))
    : []
}

describe('notifications of budgets', () => {
  test('reach the managers once in a window, and the member that a budget is of', async () => {
    const { organization, member } = await paying()
    const { owner } = organization
    const [admin, other] = [await organization.member('admin'), await on().funded(organization)]
    const fields = { amount: 2, notify_percents: [50, 100] }
    await newBudget(organization, { ...fields, name: 'All', enforcement: 'soft' })
    await newBudget(organization, { ...fields, name: 'Own', member_id: member.userId })
    expect(await statusOf(member)).toBe(200)
    const link = `/organizations/${organization.id}`
    const half = [
      ['Budget at 50%: All', link],
      ['Budget at 50%: Own', link],
    ]
    for (const by of [owner, admin]) await waitForValue(() => noticesOf(by), half)
    expect(await noticesOf(member)).toEqual([['Budget at 50%: Own', '/budgets']])
    expect(await statusOf(other)).toBe(200)
    const whole = [['Budget at 100%: All', link], ...half]
    await waitForValue(() => noticesOf(owner), whole)
    expect(await statusOf(other)).toBe(200)
    expect(await noticesOf(other)).toEqual([])
    const { body } = await on().api(owner, 'GET /account/notifications')
    expect(JSON.stringify(body)).toMatch(
      /The budget \\"Own\\" of the organization \\"Company \d+\\" for its member \\".*\\" has reached 50%\. It has used 1 of 2 requests/,
    )
  })
})
