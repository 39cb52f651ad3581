import { afterAll, beforeAll, expect, test } from 'bun:test'
import { choose } from './choose'
import { barriersOf } from './accessibility'
import { heard } from './browser'
import { startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.operate()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const readConfig = () => dashboard.gateway.admin('GET', '/config')
const publicKey = `${'A'.repeat(43)}=`

test('sets a price for all models without one, and the key of catalogue documents', async () => {
  const page = await dashboard.open('/operator/config')
  const save = () => page.getByRole('button', { name: 'Save' }).click()
  const unpriced = page.getByRole('combobox', { name: 'Models without a price' })
  await choose(unpriced, { name: 'One price for all' })
  await page.getByRole('textbox', { name: 'Input price', exact: true }).fill('10')
  await page.getByRole('textbox', { name: 'Output price', exact: true }).fill('50')
  await page.getByLabel('Signing key of catalogue documents').fill(publicKey)
  expect(await barriersOf(page)).toEqual([])
  await save()
  await heard(page, 'Saved.')
  expect(await readConfig()).toMatchObject({
    unpriced_models: { input: 10, output: 50 },
    catalog_public_key: publicKey,
  })
  await page.reload()
  await page.getByRole('textbox', { name: 'Input price', exact: true }).fill('20')
  await save()
  await heard(page, 'Saved.')
  expect(await readConfig()).toMatchObject({ unpriced_models: { input: 20, output: 50 } })
  await page.reload()
  await page.getByLabel('Signing key of catalogue documents').fill('')
  await choose(unpriced, { name: 'Free' })
  await save()
  await heard(page, 'Saved.')
  expect(await readConfig()).toMatchObject({ unpriced_models: 'free', catalog_public_key: null })
  await page.close()
})
