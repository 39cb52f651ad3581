import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { barriersOf } from './accessibility'
import { savedText } from './browser'
import { choose } from './choose'
import { awaitLog, reloadUntil, startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn
let key: string

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.operate()
  const body = { name: 'Tagged', tags: ['production'] }
  const created = await dashboard.account.send('POST /api/account/keys', body)
  key = String(created.body['key'])
  for (const tags of ['batch', 'batch', 'batch, team:search', '']) await call(tags)
  await dashboard.call('sandbox/echo')
})
afterAll(() => dashboard[Symbol.asyncDispose]())

/** Asks a model with tags. Resolves once the logs have it. */
async function call(tags: string): Promise<void> {
  const response = await fetch(`${dashboard.address}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-tollgate-tags': tags,
    },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  await response.text()
  await awaitLog(dashboard.sql, response.headers.get('x-request-id') ?? '')
}

const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) })

test('the tags of a key are edited in its form', async () => {
  const page = await dashboard.open('/keys')
  await rowOf(page, 'Tagged').getByText('production').waitFor()
  await page.getByRole('button', { name: 'Actions for Mine' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit Mine' })
  const field = dialog.getByLabel('Tags').first()
  await field.fill('team:chat')
  await field.press('Enter')
  await field.fill('a')
  await field.press('Enter')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await rowOf(page, 'Mine').getByText('a, team:chat').waitFor()
  await page.getByRole('button', { name: 'Actions for Mine' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await field.press('Backspace')
  await field.press('Backspace')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await rowOf(page, 'Mine').getByText('team:chat').waitFor({ state: 'detached' })
  await page.close()
})

test('logs are filtered by a tag, which each of them shows and the export has', async () => {
  const page = await dashboard.open('/logs')
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByRole('combobox', { name: 'Tag' }).fill('team:search')
  await page.waitForURL(/tag=team/)
  const links = page.locator('tbody').getByRole('link')
  await reloadUntil(page, async () => (await links.count()) === 1)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const [header = '', line = ''] = (await savedText(await download)).split('\r\n')
  expect(header).toEndWith(',tags')
  expect(line).toEndWith(',"batch, production, team:search"')
  await links.click()
  const caller = page.getByRole('region', { name: 'Caller' })
  await caller.getByText('batch, production, team:search').waitFor()
  await page.close()
})

test('the explorer groups usage by tags, and filters it by those of a group', async () => {
  const page = await dashboard.open('/explorer')
  await reloadUntil(page, () => rowOf(page, 'Total.* 5 ').isVisible())
  await choose(page.getByRole('combobox', { name: 'Group by' }), { name: 'Tags' })
  await page.waitForURL(/by=tag/)
  await rowOf(page, 'batch, production 2 ').waitFor()
  await rowOf(page, 'batch, production, team:search 1 ').waitFor()
  await rowOf(page, 'production 1 ').waitFor()
  await rowOf(page, 'No tag 1 ').waitFor()
  await rowOf(page, 'Total 5 ').waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.getByRole('button', { name: 'batch, production', exact: true }).click()
  await rowOf(page, 'sandbox/echo 3 ').waitFor()
  await page.getByRole('button', { name: 'Remove the filter by tags' }).click()
  await rowOf(page, 'sandbox/echo 5 ').waitFor()
  await page.close()
})

test('the explorer of all accounts groups their usage by tags', async () => {
  const page = await dashboard.open('/operator/explorer?by=tag')
  await reloadUntil(page, () => rowOf(page, 'batch, production 2 ').isVisible())
  await rowOf(page, 'Total 5 ').waitFor()
  await page.close()
})
