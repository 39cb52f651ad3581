import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { savedText } from './browser'
import { faultsOf, pressByKey } from './reach'
import { amount, count, dayOf, startSeeded, type SeededFixture } from './seeded-fixture'
import type { SignedIn } from './signed-in'
import { hourMs } from '../seed/plan'
import type { Seeded } from '../seed/seed'

/** Journeys in an installation with a month of traffic: each figure of a page is that of the database. */

const requests = Number(process.env['SEED_REQUESTS'] ?? 9000)
let fixture: SeededFixture
let dashboard: SignedIn
let seeded: Seeded

beforeAll(async () => {
  fixture = await startSeeded(requests)
  ;({ dashboard, seeded } = fixture)
}, 1_200_000)
afterAll(() => fixture[Symbol.asyncDispose]())

/** Returns the lines of the CSV that a page exports, without the first. */
async function exportedLines(page: Page): Promise<string[][]> {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const [, ...lines] = (await savedText(await download)).trimEnd().split('\r\n')
  return lines.map((line) => line.split(','))
}

/** Returns the rows of a page's table, each as its texts. */
async function tableRows(page: Page): Promise<string[][]> {
  const rows = await page.getByRole('table').locator('tbody tr').all()
  return Promise.all(rows.map((row) => row.getByRole('cell').allTextContents()))
}

interface Group {
  name: string
  requests: string
  cost: string
}

const none = { requests: '0', cost: '0' }

const sumOf = (values: readonly string[]) =>
  String(values.reduce((sum, one) => sum + BigInt(one), 0n))

const totalOf = (groups: readonly Group[]) => ({
  requests: sumOf(groups.map((group) => group.requests)),
  cost: sumOf(groups.map(({ cost }) => cost)),
})

/** Waits until the total of a page's table has these figures. */
async function awaitTotal(page: Page, { requests: made, cost }: Omit<Group, 'name'>) {
  const foot = page.getByRole('row', { name: /^Total/ })
  await foot.getByText(count(made), { exact: true }).first().waitFor()
  await foot.getByText(amount(cost), { exact: true }).first().waitFor()
}

/** Reads what an organization paid: by department and model, and in total. */
async function readDepartments(organizationId: string) {
  const groups: Group[] = await dashboard.sql`
    select trim(coalesce(m.department, '') || ' ' || l.model) as name, count(*) as requests,
      sum(l.cost) as cost
    from request_log l
    join membership m on m.user_id = l.user_id and m.organization_id = ${organizationId}
    where l.account_id = ${organizationId} group by 1`
  return { byName: new Map(groups.map((group) => [group.name, group])), total: totalOf(groups) }
}

test('journey 3: an owner reads departments by model over the days of a link, as the database has them', async () => {
  const [organizationId = ''] = seeded.people.organizationIds
  const { firstDay: from, lastDay: to } = fixture
  const page = await fixture.signInAs(0)
  const address = `/explorer?organization=${organizationId}&by=department&split=model&from=${from}&to=${to}`
  await page.goto(`${dashboard.address}${address}`)
  const { byName, total } = await readDepartments(organizationId)
  await awaitTotal(page, total)
  const named = (await tableRows(page)).filter(([, model]) => model?.includes('/'))
  expect(named.length).toBeGreaterThan(10)
  for (const row of named) {
    const [department = '', model = '', shown] = row
    // Members without a department have one row for each model, too.
    const { requests: made, cost } =
      byName.get(`${department} ${model}`) ?? byName.get(model) ?? none
    expect([shown, row.at(-1)]).toEqual([count(made), amount(cost)])
  }
  const lines = await exportedLines(page)
  const sum = (column: number) => lines.reduce((so, line) => so + Number(line.at(column)), 0)
  expect(sum(3)).toBe(Number(total.requests))
  expect(sum(-2)).toBeCloseTo(Number(total.cost) / 1e9, 6)
  expect(await faultsOf(page)).toEqual([])
  await page.context().close()
})

test('journey 4: a spike leads from its day to a member and a model, and the parts add up', async () => {
  const [organizationId = ''] = seeded.people.organizationIds
  const { spike } = seeded.incidents
  const day = dayOf(spike.fromMs)
  const page = await fixture.signInAs(0)
  const address = `/explorer?organization=${organizationId}&by=member`
  await page.goto(`${dashboard.address}${address}&every=day`)
  const days = new Map<string, number>()
  for (const line of await exportedLines(page)) {
    const [start = ''] = line
    days.set(start.slice(0, 10), (days.get(start.slice(0, 10)) ?? 0) + Number(line.at(-2)))
  }
  const [[mostExpensive] = []] = [...days].toSorted(([, cost], [, otherCost]) => otherCost - cost)
  expect(mostExpensive).toBe(day)

  await page.goto(`${dashboard.address}${address}&from=${day}&to=${day}`)
  const member = page.getByRole('button', { name: spike.person.name })
  await member.waitFor()
  const [firstRow] = await tableRows(page)
  expect(firstRow?.[0]).toContain(spike.person.name)
  await pressByKey(member)
  await page.waitForURL(/member=user_/)
  const account = seeded.people.accounts.get(spike.person)
  const models: Group[] = await dashboard.sql`
    select model as name, count(*) as requests, sum(cost) as cost from request_log
    where account_id = ${organizationId} and user_id = ${account?.userId ?? ''}
      and started_at >= ${day}::date and started_at < ${day}::date + 1
    group by 1 order by sum(cost) desc`
  expect(models[0]?.name).toBe(spike.model.id)
  for (const { name, requests: made, cost } of models) {
    const row = page.getByRole('row', { name: new RegExp(`^${name} `) })
    await row.getByText(count(made), { exact: true }).first().waitFor()
    await row.getByText(amount(cost), { exact: true }).waitFor()
  }
  await awaitTotal(page, totalOf(models))
  expect(await faultsOf(page)).toEqual([])
  await page.context().close()
})

test('journey 10: the operator sees the outage of a provider in its hour, and the margin of the month', async () => {
  const { outage } = seeded.incidents
  const day = dayOf(outage.fromMs)
  const page = await dashboard.open(
    `/operator/explorer?by=provider&every=hour&provider=${outage.provider}&from=${day}&to=${day}`,
  )
  await page.getByRole('row', { name: new RegExp(`^${outage.provider} `) }).waitFor()
  const hours = new Map(
    (await exportedLines(page)).map((line) => [Date.parse(line[0] ?? ''), line]),
  )
  const [counted] = await dashboard.sql<{ requests: string; failed: string }[]>`
    select count(*) as requests, count(*) filter (where status = 'error') as failed from request_log
    where provider = ${outage.provider} and started_at >= ${new Date(outage.fromMs)}
      and started_at < ${new Date(outage.fromMs + hourMs)}`
  const [, , shownRequests, shownFailed] = hours.get(outage.fromMs) ?? []
  expect([shownRequests, shownFailed]).toEqual([counted?.requests, counted?.failed])
  expect(Number(shownFailed) / Number(shownRequests)).toBeGreaterThan(0.3)

  const { firstDay: from, lastDay: to } = fixture
  await page.goto(`${dashboard.address}/operator/explorer?by=provider&from=${from}&to=${to}`)
  const [money] = await dashboard.sql<{ price: string; paid: string }[]>`
    select sum(cost) as price, sum(provider_cost) as paid from request_log`
  const foot = page.getByRole('row', { name: /^Total/ })
  const figures = [money?.price, money?.paid, Number(money?.price) - Number(money?.paid)]
  for (const nanos of figures) {
    await foot
      .getByText(amount(nanos ?? 0), { exact: true })
      .first()
      .waitFor()
  }
  expect(await faultsOf(page)).toEqual([])
  await page.close()
})
