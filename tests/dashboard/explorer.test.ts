import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { barriersOf } from './accessibility'
import { savedText } from './browser'
import { choose } from './choose'
import { reloadUntil, startSignedIn, type SignedIn } from './signed-in'

const calls = 5
let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.operate()
  await dashboard.call('sandbox/lorem')
  await dashboard.callOften('sandbox/echo', calls - 1)
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) })

/** Opens a page once all calls are in its figures. */
async function openCounted(path: string): Promise<Page> {
  const page = await dashboard.open(path)
  await reloadUntil(page, () => rowOf(page, `Total.* ${calls} `).isVisible())
  return page
}

describe('the explorer', () => {
  test('shows usage by model, and the requests of one model by key', async () => {
    const page = await openCounted('/explorer')
    await rowOf(page, `sandbox/echo ${calls - 1} `).waitFor()
    await page.getByRole('button', { name: 'sandbox/echo' }).click()
    await page.waitForURL(/by=key/)
    await rowOf(page, `Mine ${calls - 1} `).waitFor()
    await page.getByRole('button', { name: 'Remove the filter by model' }).click()
    await rowOf(page, `Mine ${calls} `).waitFor()
    await page.close()
  })

  test('splits groups by another grouping, and keeps both in the address', async () => {
    const page = await openCounted('/explorer')
    await choose(page.getByRole('combobox', { name: 'Then by' }), { name: 'API key' })
    await page.waitForURL(/split=key/)
    await rowOf(page, `sandbox/echo Mine ${calls - 1} `).waitFor()
    await page.reload()
    await rowOf(page, `sandbox/lorem Mine 1 `).waitFor()
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })

  test('exports a row for each interval and group', async () => {
    const page = await openCounted('/explorer?every=month')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const lines = (await savedText(await download)).trimEnd().split('\r\n')
    expect(lines[0]).toBe(
      'start,model,requests,failed_requests,input_tokens,output_tokens,cost,usage_cost',
    )
    const echoes = lines.filter((line) => line.includes(',sandbox/echo,'))
    const requests = echoes.map((line) => Number(line.split(',')[2]))
    expect(requests.reduce((sum, one) => sum + one, 0)).toBe(calls - 1)
    await page.close()
  })

  test('shows the days that a preset or a date selects', async () => {
    const page = await openCounted('/explorer')
    await page.getByRole('button', { name: 'Last month' }).click()
    await page.waitForURL(/from=/)
    await page.getByText('No usage in this period').waitFor()
    await page.getByRole('button', { name: 'Last 7 days' }).click()
    await rowOf(page, `Total ${calls} `).waitFor()
    await page.close()
  })

  test('compares with the days before, and keeps that in a saved view', async () => {
    const page = await openCounted('/explorer')
    await page.getByRole('switch', { name: 'Compare with the days before' }).click()
    await page.waitForURL(/compare=previous/)
    await page.getByRole('columnheader', { name: 'Spend before' }).waitFor()
    await page.getByRole('columnheader', { name: 'Change' }).waitFor()
    expect(await barriersOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Save view' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save view' })
    await dialog.getByLabel('Name').fill('Compared')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Delete view' }).waitFor()
    await page.goto(`${dashboard.address}/explorer`)
    await choose(page.getByRole('combobox', { name: 'Saved view' }), { name: 'Compared' })
    await page.waitForURL(/compare=previous/)
    await page.getByRole('button', { name: 'Delete view' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Save view' }).waitFor()
    await page.close()
  })

  test('of all accounts is for operators, by account', async () => {
    const page = await openCounted('/operator/explorer?by=account')
    await rowOf(page, `ada@example.com ${calls} `).waitFor()
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })
})
