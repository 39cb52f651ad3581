import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { choose } from './choose'
import { barriersOf } from './accessibility'
import { savedText } from './browser'
import { startSignedIn, type SignedIn } from './signed-in'
import { eventually } from '../../server/testing/eventually'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

describe('logs', () => {
  const shown = 50
  const all = 53
  let served: string
  let failed: string

  beforeAll(async () => {
    await dashboard.gateway.admin('PUT', '/config', { log_bodies: true })
    await dashboard.account.send('PUT /api/account/settings', { log_bodies: true })
    await dashboard.callOften('sandbox/echo', all - 2)
    failed = await dashboard.call('=nobody/nothing')
    served = await dashboard.call('sandbox/echo', 'say <b>loud</b>')
  })

  test('are listed page by page, with totals', async () => {
    const page = await dashboard.open('/logs')
    await page.getByText(`${shown} of ${all} requests`).waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText(`${all} of ${all} requests`).waitFor()
    expect(await page.getByRole('row').count()).toBe(all + 1)
    const sums = page.getByRole('region', { name: 'Totals' })
    await sums.getByText(String(all), { exact: true }).waitFor()
    await sums.getByText('1 failed').waitFor()
    await page.close()
  })

  test('keep their filters after a reload, and can clear them', async () => {
    const page = await dashboard.open('/logs')
    await choose(page.getByLabel('Status').first(), { name: 'Error' })
    await page.getByText('1 of 1 requests').waitFor()
    await page.reload()
    await page.getByText('1 of 1 requests').waitFor()
    await page.getByLabel('Model').first().fill('sandbox/echo')
    await page.getByText('No results').waitFor()
    await page.getByRole('link', { name: 'Show all requests' }).click()
    await page.getByText(`${shown} of ${all} requests`).waitFor()
    const model = page.getByLabel('Model').first()
    await eventually(async () => (await model.inputValue()) === '')
    await page.close()
  })

  test('are filtered by time, key and latency from the address', async () => {
    const page = await dashboard.open(
      '/logs?range=between&from=2001-01-01T00:00&to=2001-01-02T00:00',
    )
    await page.getByText('No results').waitFor()
    await page.goto(`${dashboard.address}/logs?key=key_unknown`)
    await page.getByText('No results').waitFor()
    await page.goto(`${dashboard.address}/logs?min=1000000`)
    await page.getByText('No results').waitFor()
    await page.goto(`${dashboard.address}/logs?range=hour&max=1000000`)
    await page.getByText(`${shown} of ${all} requests`).waitFor()
    await page.close()
  })

  test('keep the focus while a number is typed', async () => {
    const page = await dashboard.open('/logs')
    await page.getByRole('button', { name: 'More filters' }).click()
    await page.getByLabel('Min. duration').focus()
    await page.keyboard.type('10')
    await page.waitForURL(/min=10$/)
    await page.keyboard.type('00000')
    await page.waitForURL(/min=1000000$/)
    await page.getByText('No results').waitFor()
    await page.close()
  })

  test('open one by its address, with its attempts, and render bodies as text', async () => {
    const page = await dashboard.open('/logs')
    await page.getByRole('row').nth(1).getByRole('link').click()
    await page.waitForURL(new RegExp(`open=${served}`))
    await page.reload()
    const drawer = page.getByRole('dialog', { name: 'Request' })
    await drawer.getByText('Tried 1 in').waitFor()
    await drawer.getByRole('heading', { name: 'Response body' }).waitFor()
    await drawer.getByText('say <b>loud</b>').first().waitFor()
    expect(await drawer.locator('b').count()).toBe(0)
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    expect(new URL(page.url()).search).toBe('')
    await page.close()
  })

  test('show the reason of a rejected request, and the skipped connections', async () => {
    const page = await dashboard.open(`/logs?status=error&open=${failed}`)
    const drawer = page.getByRole('dialog', { name: 'Request' })
    await drawer.getByText('No attempts').waitFor()
    await drawer.getByText(/_error$/).waitFor()
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })

  test('are exported as a file without formulas', async () => {
    const page = await dashboard.open('/logs')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const file = await savedText(await download)
    const lines = file.trimEnd().split('\r\n')
    expect(lines).toHaveLength(all + 1)
    expect(lines[0]).toStartWith('id,created_at,status,')
    expect(lines[1]).toStartWith(`${served},`)
    expect(lines[2]).toContain(",'=nobody/nothing,")
    await page.close()
  })
})
