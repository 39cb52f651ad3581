import { afterAll, beforeAll, expect, test } from 'bun:test'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test('an owner creates a directory of an organization, maps a group, and replaces the token', async () => {
  const { body } = await dashboard.account.send('POST /api/organizations', { name: 'Provisioned' })
  const page = await dashboard.open(`/organizations/${String(body['id'])}?tab=limits`)
  const section = page.getByRole('region', { name: 'SCIM', exact: true })
  await section.getByText('There is no directory yet.').waitFor()
  await section.getByRole('button', { name: 'New directory' }).click()
  const form = page.getByRole('dialog', { name: 'New directory' })
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('Okta')
  await form.getByRole('button', { name: 'Add group' }).click()
  await form.getByRole('textbox', { name: 'Group' }).fill('Engineers')
  expect(await barriersOf(page)).toEqual([])
  await form.getByRole('button', { name: 'Create' }).click()
  const shown = page.getByRole('dialog', { name: 'Directory Okta' })
  const token = await shown.getByRole('textbox', { name: 'Token' }).inputValue()
  expect(token).toMatch(/^sc-tg-/)
  await shown.getByText('/scim/v2').waitFor()
  await shown.getByRole('button', { name: 'Done' }).click()
  await section.getByText('Engineers: member').waitFor()
  await section.getByText('None yet: an operator lists them').waitFor()
  await section.getByRole('button', { name: 'Actions for Okta' }).click()
  await page.getByRole('menuitem', { name: 'Replace token' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace token' }).click()
  const next = await shown.getByRole('textbox', { name: 'Token' }).inputValue()
  expect(next).not.toBe(token)
  await page.close()
})

test('an operator lists the domains of a directory', async () => {
  await dashboard.operate()
  const page = await dashboard.open('/operator/scim')
  await page.getByRole('button', { name: 'Actions for Okta' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const domains = page.getByRole('dialog').getByLabel('Domains').first()
  await domains.fill('example.com')
  await domains.press('Enter')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('cell', { name: 'example.com' }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})
