import { afterAll, beforeAll, expect, test } from 'bun:test'
import { barriersOf } from './accessibility'
import { reloadUntil, startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.operate()
  await dashboard.callOften('sandbox/echo', 3)
  await dashboard.call('=nobody/nothing')
})
afterAll(() => dashboard[Symbol.asyncDispose]())

interface Counted {
  requests: string
  failures: string
  accounts: string
}

test('the overview has the figures of the database, and the accounts behind them', async () => {
  const page = await dashboard.open('/operator')
  await page.getByRole('heading', { name: 'Installation overview', level: 1 }).waitFor()
  const [counted] = await dashboard.sql<Counted[]>`
    select count(*) as requests, count(*) filter (where status = 'error') as failures,
      count(distinct user_id) as accounts
    from request_log`
  expect(counted).toMatchObject({ requests: '4', failures: '1', accounts: '1' })
  const tile = (name: string) => page.getByRole('region', { name, exact: true })
  // The page reads the sums, which a request joins a moment after its log.
  await reloadUntil(page, () => tile('Requests').getByText('4', { exact: true }).isVisible())
  await tile('Error rate').getByText('25%', { exact: true }).waitFor()
  await tile('Error rate').getByText('1 failed, 0 cancelled').waitFor()
  await tile('Active accounts').getByText('1', { exact: true }).waitFor()
  const sandbox = page
    .getByRole('region', { name: 'Providers' })
    .getByRole('row', { name: /^sandbox/ })
  const cells = await sandbox.getByRole('cell').allTextContents()
  expect(cells.slice(0, 4)).toEqual(['sandbox', '3', '0', '0%'])
  await page.getByRole('link', { name: 'ada@example.com' }).click()
  await page.waitForURL(/\/operator\/users\/user_/)
  await page.close()
})

test('an open ticket is listed as needing attention, with a link to the tickets', async () => {
  await dashboard.account.send('POST /api/support/tickets', {
    subject: 'A question',
    description: 'How?',
  })
  const page = await dashboard.open('/operator/overview?period=7d')
  await page.getByRole('link', { name: '1 open ticket' }).click()
  await page.getByRole('heading', { name: 'Tickets', level: 1 }).waitFor()
  await page.close()
})

test('the overview has no axe violations', async () => {
  const page = await dashboard.open('/operator/overview')
  await page
    .getByRole('region', { name: 'Providers' })
    .getByRole('row', { name: /^sandbox/ })
    .waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})
