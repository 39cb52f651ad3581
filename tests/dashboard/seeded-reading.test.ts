import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { savedText } from './browser'
import { faultsOf, pressByKey, searchByKey } from './reach'
import { amount, count, exactAmount, startSeeded, type SeededFixture } from './seeded-fixture'
import type { SignedIn } from './signed-in'
import { usd } from '../../dashboard/src/format/money'

/** Journeys that read a seeded installation, by the keyboard. */

let fixture: SeededFixture
let dashboard: SignedIn

beforeAll(async () => {
  fixture = await startSeeded(2000)
  dashboard = fixture.dashboard
}, 120_000)
afterAll(() => fixture[Symbol.asyncDispose]())

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

interface Row {
  id: string
  cost: string
  input: string
  output: string
  cached: string
  code: number
}

/** The request with cached tokens that cost the most, and a failed one, of a person. */
async function requestsOf(userId: string): Promise<{ costly: Row; failed: Row }> {
  const find = async (status: string): Promise<Row> => {
    const [found] = await dashboard.sql<Row[]>`
      select id, cost, input_tokens as input, output_tokens as output, cached_tokens as cached,
        status_code as code
      from request_log where user_id = ${userId} and status = ${status}
      order by coalesce(cached_tokens, 0) > 0 desc, cost desc limit 1`
    if (!found) throw new Error(`there is no request with status ${status}`)
    return found
  }
  return { costly: await find('success'), failed: await find('error') }
}

/** Reads the view of a request that a person found by its id in the palette. */
async function readRequest(page: Page, row: Row) {
  await searchByKey(page, row.id)
  const view = page.getByRole('dialog', { name: 'Request', exact: true })
  await view.getByText('Tried 1 in').waitFor()
  const figure = (name: string) =>
    view.getByRole('row', { name: new RegExp(`^${name} `) }).getByRole('cell')
  return {
    cost: await figure('Cost').first().innerText(),
    input: await figure('Input tokens').first().innerText(),
    output: await figure('Output tokens').first().innerText(),
    status: await figure('Status').first().innerText(),
    attempts: await view.getByRole('table').getByRole('row').count(),
  }
}

/** Adds quantity times price of the rows of amounts by rate, in USD. */
async function sumOfAmounts(rows: readonly Locator[]): Promise<number> {
  const texts = await Promise.all(rows.map((row) => row.getByRole('cell').allInnerTexts()))
  return texts.reduce((sum, [, quantity, price]) => {
    const [tokens = 0, perMillion = 0] = [quantity, price].map((text) =>
      Number(text?.replaceAll(/[$,]/g, '')),
    )
    return sum + (tokens * perMillion) / 1e6
  }, 0)
}

test('journey 2: owner, support and operator find a request by its id, with the same figures and one audit entry each', async () => {
  const { userId } = fixture.accountOf(1)
  const { costly, failed } = await requestsOf(userId)
  const support = fixture.accountOf(19)
  await dashboard.sql`update users set operator_role = 'support' where id = ${support.userId}`
  const pages = [
    await fixture.signInAs(1),
    await fixture.signInAs(19),
    await dashboard.open('/operator'),
  ]
  for (const page of pages) {
    expect(await readRequest(page, costly)).toMatchObject({
      cost: exactAmount(costly.cost),
      input: count(costly.input),
      output: count(costly.output),
      status: 'Success 200',
    })
    const amounts = page.getByRole('region', { name: 'Amounts by rate' })
    const parts = await amounts.locator('tbody tr').all()
    expect(parts.length).toBeGreaterThan(1)
    const sum = await sumOfAmounts(parts)
    expect(Math.ceil(sum * 1e9 - 1e-3)).toBe(Number(costly.cost))
    if (page === pages[0]) expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const shown = await readRequest(page, failed)
    expect(shown).toMatchObject({ cost: '$0.00', status: `Error ${failed.code}` })
    await page
      .getByRole('alert')
      .getByText('The provider failed to answer (status 503).', { exact: true })
      .waitFor()
  }
  const looks = await dashboard.sql<{ count: string }[]>`
    select count(*) from audit_trail where object_id = ${costly.id} group by actor_id`
  expect(looks.map((one) => Number(one.count))).toEqual([1, 1])
  for (const page of pages) await page.close()
})

const nanos = (text: string | undefined) => Math.round(Number(text) * 1e9)

test('journey 9: the statement of a month has a line a day, and its lines add up to the balance', async () => {
  // Pays from credits of their own.
  const { userId } = fixture.accountOf(17)
  const month = fixture.lastDay.slice(0, 7)
  const page = await fixture.signInAs(17)
  await page.goto(`${dashboard.address}/billing?month=${month}`)
  const statement = section(page, 'Statement')
  await statement.getByRole('row', { name: /Usage/ }).first().waitFor()
  const days = await dashboard.sql<{ day: string; requests: string; cost: string }[]>`
    select (started_at at time zone 'UTC')::date::text as day, count(*) as requests, sum(cost) as cost
    from request_log where account_id = ${userId} and cost > 0
      and started_at >= ${`${month}-01`}::date group by 1 order by 1`
  const rows = await statement.getByRole('row', { name: /Usage/ }).all()
  expect(rows).toHaveLength(days.length)
  const shown = await Promise.all(rows.map((row) => row.getByRole('cell').allInnerTexts()))
  expect(shown.map(([, , spent]) => spent)).toEqual(days.map(({ cost }) => amount(-Number(cost))))
  const download = page.waitForEvent('download')
  await pressByKey(statement.getByRole('link', { name: 'Download CSV' }))
  const [names = '', ...lines] = (await savedText(await download)).trimEnd().split('\r\n')
  const table = lines.map((line) => line.split(','))
  const [type, spent, after] = ['type', 'amount', 'balance_after'].map((name) =>
    names.split(',').indexOf(name),
  )
  const used = table.filter((line) => line[type ?? -1] === 'usage')
  expect(used.map((line) => -nanos(line[spent ?? -1]))).toEqual(
    days.map(({ cost }) => Number(cost)),
  )
  const sum = table.reduce((so, line) => so + nanos(line[spent ?? -1]), 0)
  const [first, last] = [table[0]?.[after ?? -1], table.at(-1)?.[after ?? -1]]
  expect(nanos(first) + sum).toBe(nanos(last))
  // On the first day of a month that is the month before, in which the credits were not granted yet.
  const [booked] = await dashboard.sql<{ balance: string }[]>`
    select posted - coalesce((
      select sum(e.amount) from ledger_entry as e join ledger_transaction as t on t.id = e.transaction_id
      where e.account_id = ${userId} and t.kind <> 'usage'
        and e.created_at >= ${`${month}-01`}::date + interval '1 month'), 0) as balance
    from credit_account where id = ${userId}`
  expect(nanos(last)).toBe(Number(booked?.balance))
  await pressByKey(statement.getByRole('button', { name: /Usage/ }).first())
  await statement
    .getByText(/^\w+\/(large|medium|small)/)
    .first()
    .waitFor()
  expect(await faultsOf(page)).toEqual([])
  await page.context().close()
})

test('journey 5: a member sees spend, limit and rest where an organization pays, on overview and quota', async () => {
  const [organizationId = ''] = fixture.seeded.people.organizationIds
  const owner = fixture.accountOf(0)
  const { userId } = fixture.accountOf(1)
  const limit = 2500
  const answer = await fetch(
    `${dashboard.address}/api/organizations/${organizationId}/members/${userId}`,
    {
      method: 'PUT',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ spending_limit: limit }),
    },
  )
  expect(answer.status).toBe(200)
  const [used] = await dashboard.sql<{ cost: string }[]>`
    select coalesce(sum(cost), 0) as cost from request_log
    where user_id = ${userId} and account_id = ${organizationId}
      and started_at >= date_trunc('month', now(), 'UTC')`
  const spent = Number(used?.cost) / 1e9
  const page = await fixture.signInAs(1)
  const tile = section(page, 'Spent for you by Northwind Freight')
  await tile.getByText(usd(spent), { exact: true }).waitFor()
  await tile.getByText(`This month; ${usd(limit - spent)} of ${usd(limit)} left`).waitFor()
  expect(await faultsOf(page)).toEqual([])
  await pressByKey(page.getByRole('link', { name: 'Quota', exact: true }))
  const bar = page.getByRole('group', { name: 'Spend of Northwind Freight for you this month' })
  await bar.getByText(`${usd(spent)} of ${usd(limit)}`).waitFor()
  await bar.getByText(new RegExp(`${RegExp.escape(usd(limit - spent))} left\\.`)).waitFor()
  expect(await faultsOf(page)).toEqual([])
  await page.context().close()
})
