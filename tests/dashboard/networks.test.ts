import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import { PrivateAuthority, type Issued } from '../harness/private-authority'

const stack = new AsyncDisposableStack()
let dashboard: SignedIn
let authority: PrivateAuthority
let one: Issued
let other: Issued

beforeAll(async () => {
  authority = stack.use(new PrivateAuthority('Private'))
  // Both end after 30 days.
  one = authority.issue('one', 'DNS:one.example')
  other = authority.issue('other', 'DNS:other.example')
  dashboard = stack.use(await startSignedIn())
})
afterAll(() => stack.disposeAsync())

/** Opens the edit dialog of a connection, and its network. */
async function editNetwork(page: Page, name: string): Promise<Locator> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const form = page.getByRole('dialog', { name: `Edit ${name}` })
  await form.getByRole('button', { name: 'Network' }).click()
  return form
}

const save = (form: Locator) => form.getByRole('button', { name: 'Save' }).click()
const saved = (form: Locator) => form.waitFor({ state: 'detached' })

const nearestWrapper = 'xpath=ancestor::*[contains(@class, "InputWrapper-root")][1]'

/** Waits for the error of a field. */
const faultOf = (field: Locator): Promise<string> =>
  field.locator(nearestWrapper).locator('[class*=InputWrapper-error]').innerText()

test('timeouts of a connection are set in its form, which shows the bound of the installation', async () => {
  const { status } = await dashboard.account.send('POST /api/connections', {
    name: 'Timed',
    provider: 'openai',
    api_key: 'sk-simulated-0123456789',
  })
  expect(status).toBe(201)
  const page = await dashboard.open('/connections')
  const form = await editNetwork(page, 'Timed')
  const pause = form.getByLabel('Pause in a stream')
  await pause.fill('90000')
  await save(form)
  expect(await faultOf(pause)).toContain('the timeout of this installation')
  await pause.fill('60')
  expect(await barriersOf(page)).toEqual([])
  await save(form)
  await saved(form)
  const [{ options }] = await dashboard.sql`select options from connection where name = 'Timed'`
  expect(options).toEqual({ timeouts: { idle_seconds: 60 } })
  await dashboard.sql`delete from connection where name = 'Timed'`
  await page.close()
})

describe('the network of a connection', () => {
  test('is set in its form, which shows errors at their fields', async () => {
    const page = await dashboard.open('/connections')
    await page.getByRole('button', { name: 'Add connection' }).click()
    const form = page.getByRole('dialog', { name: 'Add connection' })
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('Own')
    await form.getByRole('textbox', { name: 'Provider' }).fill('openai')
    await form.getByRole('textbox', { name: 'API key' }).fill('sk-simulated-0123456789')
    expect(await form.getByLabel('Certificate authorities').count()).toBe(0)
    await form.getByRole('button', { name: 'Network' }).click()
    await form.getByLabel('Certificate authorities').fill('none')
    const add = form.getByRole('button', { name: 'Add', exact: true })
    await add.click()
    const authorities = form.getByLabel('Certificate authorities')
    expect(await faultOf(authorities)).toContain('must be certificates in PEM')
    await authorities.fill(authority.certificate)
    await form.getByLabel('Client certificate', { exact: true }).fill(one.certificate)
    await form.getByLabel('Key of the client certificate').fill(other.key)
    await add.click()
    const key = form.getByLabel('Key of the client certificate')
    expect(await faultOf(key)).toContain('is not the key of the client certificate')
    await key.fill(one.key)
    await form.getByRole('button', { name: 'Add header' }).click()
    await form.getByLabel('Name of header 1').fill('Cookie')
    await form.getByLabel('Value of header 1').fill('canary-of-a-form')
    await add.click()
    expect(await faultOf(form.getByLabel('Name of header 1'))).toContain('cannot be set')
    await form.getByLabel('Name of header 1').fill('X-Team')
    expect(await barriersOf(page)).toEqual([])
    await add.click()
    await saved(form)
    await page.getByText('client certificate expires in 29 days').waitFor()
    expect(await page.content()).not.toContain('canary-of-a-form')
    await page.getByRole('link', { name: 'Own', exact: true }).click()
    await page.getByText('CN=one, until').waitFor()
    await page.getByText('expires in 29 days').first().waitFor()
    await page.getByRole('row', { name: /Request headers.*x-team/ }).waitFor()
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })

  test('is changed in part: an empty field keeps the stored value', async () => {
    const page = await dashboard.open('/connections')
    const form = await editNetwork(page, 'Own')
    await form.getByText('A key is stored; it is never shown').waitFor()
    expect(await form.getByLabel('Client certificate', { exact: true }).inputValue()).toBe('')
    expect(await form.getByLabel('Value of header 1').inputValue()).toBe('')
    await form.getByRole('button', { name: 'Add header' }).click()
    await form.getByLabel('Name of header 2').fill('x-stage')
    await form.getByLabel('Value of header 2').fill('test')
    await form.getByLabel('Remove the certificate authorities').check()
    expect(await barriersOf(page)).toEqual([])
    await save(form)
    await saved(form)
    const [{ id }] = await dashboard.sql`select id from connection where name = 'Own'`
    const network = async () => {
      const { body } = await dashboard.account.send(`GET /api/connections/${id}`)
      return body['network']
    }
    expect(await network()).toMatchObject({
      certificate_authorities: [],
      client_certificate: { subject: 'CN=one' },
      headers: ['x-team', 'x-stage'],
    })
    const again = await editNetwork(page, 'Own')
    await again.getByRole('button', { name: 'Remove header 1' }).click()
    await again.getByLabel('Client certificate', { exact: true }).fill(other.certificate)
    await again.getByLabel('Key of the client certificate').fill(other.key)
    await save(again)
    await saved(again)
    expect(await network()).toMatchObject({
      client_certificate: { subject: 'CN=other' },
      headers: ['x-stage'],
    })
    const last = await editNetwork(page, 'Own')
    await last.getByLabel('Remove the client certificate and its key').check()
    await last.getByRole('button', { name: 'Remove header 1' }).click()
    await save(last)
    await saved(last)
    expect(await network()).toBeNull()
    await page.close()
  })

  test('has a proxy for operators', async () => {
    await dashboard.operate()
    const page = await dashboard.open('/operator/connections')
    await page.getByRole('button', { name: 'Add connection' }).first().click()
    const form = page.getByRole('dialog', { name: 'Add connection' })
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('Main')
    await form.getByRole('combobox', { name: 'Provider' }).fill('openai')
    await form.getByRole('textbox', { name: 'API key' }).fill('sk-canary-0123456789')
    await form.getByRole('button', { name: 'Network' }).click()
    await form.getByLabel('Proxy', { exact: true }).fill('http://proxy.example:3128/path')
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    const proxy = form.getByLabel('Proxy', { exact: true })
    expect(await faultOf(proxy)).toContain('scheme, host and port alone')
    await proxy.fill('socks5://proxy.example:1080')
    await form.getByLabel('User of the proxy').fill('tollgate')
    await form.getByRole('textbox', { name: 'Password of the proxy' }).fill('canary-of-a-proxy')
    expect(await barriersOf(page)).toEqual([])
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    await saved(form)
    const edit = await editNetwork(page, 'Main')
    expect(await edit.getByLabel('Proxy', { exact: true }).inputValue()).toBe(
      'socks5://proxy.example:1080',
    )
    expect(await page.content()).not.toContain('canary-of-a-proxy')
    await edit.getByLabel('Proxy', { exact: true }).fill('')
    await save(edit)
    await saved(edit)
    const { connections } = await dashboard.gateway.admin('GET', '/connections?search=Main')
    expect(connections).toMatchObject([{ network: null }])
    await page.close()
  })
})
