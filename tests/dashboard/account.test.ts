import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { choose } from './choose'
import type { SQL } from 'bun'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import { eventually } from '../../server/testing/eventually'
import { openDatabase } from '../harness/database'
import { Browser, linksFor, password } from '../harness/browser-session'

let dashboard: SignedIn
let sql: SQL & AsyncDisposable

beforeAll(async () => {
  dashboard = await startSignedIn()
  sql = await openDatabase(dashboard.gateway.dataDir)
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await dashboard[Symbol.asyncDispose]()
})

async function connect(name: string): Promise<string> {
  const fields = { name, provider: 'openai', api_key: 'sk-simulated-0123456789' }
  const { status, body } = await dashboard.account.send('POST /api/connections', fields)
  expect(status).toBe(201)
  return String(body['id'])
}

describe('connections', () => {
  test('are edited: limits, and a base URL that the stored key is not sent to', async () => {
    const id = await connect('Own key')
    const page = await dashboard.open('/connections')
    const change = async () => {
      await page.getByRole('button', { name: 'Actions for Own key' }).click()
      await page.getByRole('menuitem', { name: 'Edit' }).click()
    }
    await change()
    const form = page.getByRole('dialog', { name: 'Edit Own key' })
    await form.getByLabel('Requests per minute').fill('60')
    await form.getByLabel('Tokens per minute').fill('90000')
    await form.getByLabel('Images per minute').fill('20')
    expect(await barriersOf(page)).toEqual([])
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('60 requests/min, 90,000 tokens/min, 20 images/min').waitFor()
    await change()
    await form.getByLabel('Base URL', { exact: true }).fill('http://127.0.0.1/v1')
    await form.getByText('The stored key is never sent to another base URL').waitFor()
    await form.getByRole('button', { name: 'Save' }).click()
    // What is wrong stands at its field.
    await form.getByText(/^endpoint_url: /).waitFor()
    await form.getByLabel('Base URL', { exact: true }).fill('https://api.example.com/v1')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: 'inactive' }).waitFor()
    const { body } = await dashboard.account.send(`GET /api/connections/${id}`)
    expect(body).toMatchObject({
      endpoint_url: 'https://api.example.com/v1',
      rate_limits: { rpm: 60, tpm: 90_000, images_per_minute: 20 },
    })
    await dashboard.account.send(`DELETE /api/connections/${id}`)
    await page.close()
  })

  test('a test shows its result', async () => {
    const id = await connect('Wrong key')
    const page = await dashboard.open('/connections')
    await page.getByRole('button', { name: 'Actions for Wrong key' }).click()
    await page.getByRole('menuitem', { name: 'Test' }).click()
    const result = page.getByRole('dialog', { name: 'Test' })
    // Nothing of a test leaves this machine.
    await result.getByText('failed').waitFor()
    await result.getByText(/0 models found/).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('cell', { name: 'error' }).waitFor()
    await dashboard.account.send(`DELETE /api/connections/${id}`)
    await page.close()
  })
})

test('a pool is created, reordered, disabled, tested and deleted', async () => {
  const ids = [await connect('First'), await connect('Second')]
  const page = await dashboard.open('/pools')
  await page.getByRole('button', { name: 'New pool' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Name').fill('Both')
  await choose(form.getByRole('combobox', { name: 'Provider' }), { name: 'openai' })
  await form.getByRole('button', { name: 'Create' }).click()
  await form.getByText('Add at least one connection.').waitFor()
  for (const name of ['First', 'Second']) {
    await choose(form.getByRole('combobox', { name: 'Add a connection' }), { name })
  }
  expect(await barriersOf(page)).toEqual([])
  await form.getByRole('button', { name: 'Move Second up' }).click()
  await choose(form.getByRole('combobox', { name: 'Routing strategy' }), { name: 'Priority' })
  await form.getByRole('button', { name: 'Create' }).click()
  await form.waitFor({ state: 'hidden' })
  await page.getByRole('cell', { name: 'Priority' }).waitFor()
  const read = async () => {
    const { body } = await dashboard.account.send('GET /api/connection-pools')
    return Object(body['pools'])[0]
  }
  expect(await read()).toMatchObject({
    strategy: 'priority',
    connection_ids: ids.toReversed(),
    enabled: true,
  })
  await page.getByRole('switch', { name: 'Enable Both' }).press('Space')
  await page.getByRole('switch', { name: 'Enable Both', checked: false }).waitFor()
  expect(await read()).toMatchObject({ enabled: false })

  const act = async (name: string) => {
    await page.getByRole('button', { name: 'Actions for Both' }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await act('Edit')
  await form.getByRole('button', { name: 'Remove First' }).click()
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'hidden' })
  expect(await read()).toMatchObject({ connection_ids: ids.slice(1) })
  await act('Test')
  await page.getByRole('dialog', { name: 'Test' }).getByText('failed').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Test' }).waitFor({ state: 'hidden' })
  await act('Delete')
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No pools yet').waitFor()
  await page.close()
})

test('a prompt is filled in and opened in the playground', async () => {
  const prompt = { title: 'Greeting', content: 'Say {{word}} to {{name}}.' }
  await dashboard.account.send('POST /api/user/prompts', prompt)
  const page = await dashboard.open('/prompts')
  await page.getByRole('link', { name: 'Greeting' }).click()
  await page.getByLabel('word').fill('hello')
  await page.getByLabel('name', { exact: true }).fill('Ada')
  await page.getByRole('button', { name: 'Use in playground' }).click()
  await page.getByRole('heading', { name: 'Playground' }).waitFor()
  const message = page.getByRole('textbox', { name: 'Message' })
  await eventually(async () => (await message.inputValue()) === 'Say hello to Ada.')
  await eventually(async () => {
    const { body } = await dashboard.account.send('GET /api/user/prompts')
    return Object(body['prompts'])[0].usage_count === 1
  })
  await page.close()
})

describe('sessions', () => {
  test('start from a template with its variables filled in', async () => {
    const page = await dashboard.open('/templates')
    await page.getByRole('button', { name: 'New template' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name').fill('Greeter')
    await form.getByLabel('Model', { exact: true }).fill('sandbox/echo')
    await form.getByLabel('System prompt').fill('Greet {{who}} in {{language}}.')
    await form.getByText('filled in when a session starts').waitFor()
    await form.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('cell', { name: 'who, language' }).waitFor()
    await page.getByRole('button', { name: 'Actions for Greeter' }).click()
    await page.getByRole('menuitem', { name: 'Start session' }).click()
    await form.getByLabel('who').fill('Ada')
    await form.getByLabel('language').fill('Latin')
    await form.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL(/\/playground\?chat=/)
    const systemPrompt = page.getByRole('textbox', { name: 'System prompt' })
    await systemPrompt.waitFor()
    await page.getByText('Greet Ada in Latin.').waitFor()
    await page.close()
  })

  test('are gone on with in the playground, also where they take their time to come', async () => {
    const { account, context, address } = dashboard
    const made = await account.send('POST /api/automation/sessions', { modelId: 'sandbox/lorem' })
    const id = String(made.body['id'])
    const page = await context.newPage()
    const { promise: mayLoad, resolve: letLoad } = Promise.withResolvers<void>()
    await page.route(`**/api/automation/sessions/${id}`, async (route) => {
      await mayLoad
      await route.continue()
    })
    await page.goto(`${address}/playground?chat=${id}`)
    await page.getByLabel('Message').fill('Are you there?')
    await page.getByLabel('Message').press('Enter')
    letLoad()
    await page.getByText(/tokens? in/).waitFor()
    expect(new URL(page.url()).searchParams.get('chat')).toBe(id)
    const { body } = await account.send(`GET /api/automation/sessions/${id}`)
    expect(body).toMatchObject({ messageCount: 2, modelId: 'sandbox/lorem' })
    await page.close()
    await account.send(`DELETE /api/automation/sessions/${id}`)
  })

  test('are shown with their messages, paused, resumed, completed and deleted', async () => {
    const { account } = dashboard
    const made = await account.send('POST /api/automation/sessions', {
      name: 'A talk',
      modelId: 'sandbox/echo',
    })
    const id = String(made.body['id'])
    const content = 'say <b>loud</b>'
    const answer = await account.send(`POST /api/automation/sessions/${id}/messages`, { content })
    expect(answer.status).toBe(201)
    const page = await dashboard.open('/sessions?status=active')
    await page.getByRole('link', { name: 'A talk' }).click()
    await page.waitForURL(new RegExp(`open=${id}`))
    await page.reload()
    const drawer = page.getByRole('dialog', { name: 'Session', exact: true })
    await drawer.getByText('say <b>loud</b>').first().waitFor()
    expect(await drawer.locator('b').count()).toBe(0)
    expect(await barriersOf(page)).toEqual([])
    await drawer.getByRole('button', { name: 'Pause' }).click()
    await drawer.getByRole('button', { name: 'Resume' }).click()
    await drawer.getByRole('button', { name: 'Complete' }).click()
    await drawer.getByText('completed').waitFor()
    expect(await drawer.getByRole('button', { name: 'Pause' }).count()).toBe(0)
    await drawer.getByRole('button', { name: 'Delete' }).click()
    await page
      .getByRole('dialog', { name: 'Delete this session?' })
      .getByText('Delete', { exact: true })
      .click()
    await drawer.waitFor({ state: 'hidden' })
    expect((await account.send(`GET /api/automation/sessions/${id}`)).status).toBe(404)
    await page.close()
  })
})

test('colours are the chosen ones, after a reload too', async () => {
  const page = await dashboard.open('/settings')
  const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
  for (const [label, name] of [
    ['Dark', 'dark'],
    ['Light', 'light'],
  ] as const) {
    await page.getByText(label, { exact: true }).click()
    await page.reload()
    await page.getByRole('radio', { name: label, checked: true }).waitFor({ state: 'attached' })
    expect(await scheme()).toBe(name)
  }
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.getByText('System', { exact: true }).click()
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
  await page.close()
})

test('an account from an operator’s link has no password, and sets one by mail', async () => {
  const { gateway, address } = dashboard
  const email = 'grace@example.com'
  await gateway.admin('POST', '/users', { email, display_name: 'Grace' })
  const [invitation = ''] = await linksFor(sql, email)
  const page = await dashboard.open('/settings/security')
  await page.getByLabel('Current password').waitFor()
  await page.context().clearCookies()
  await page.goto(invitation)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.goto(`${address}/settings/security`)
  await page.getByText('This account has no password').waitFor()
  expect(await page.getByLabel('Current password').count()).toBe(0)
  expect(await barriersOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Email me a link to set a password' }).click()
  await page.getByText(`An email is on its way to ${email}.`).waitFor()
  const [link = ''] = await linksFor(sql, email)
  expect(link).not.toBe(invitation)
  await page.goto(link)
  await page.getByRole('textbox', { name: 'New password' }).fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Your password was changed' }).waitFor()
  const browser = new Browser({ url: address })
  const { status } = await browser.send('POST /api/auth/sign-in/email', { email, password })
  expect(status).toBe(200)
  await page.close()
})
