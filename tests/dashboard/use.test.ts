import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { choose } from './choose'
import { barriersNow } from './accessibility'
import { heard, startBrowser } from './browser'
import { openDatabase } from '../harness/database'
import { raiseApiRate } from '../money/funding/fixture'
import { eventually } from '../../server/testing/eventually'
import { startGateway, type Gateway } from '../harness/server'
import { linksFor, password } from '../harness/browser-session'
import { mailEnvironment } from '../harness/mail-environment'

let gateway: Gateway
let browser: Browser
let sql: SQL & AsyncDisposable
let address: string
let ada: BrowserContext
let grace: BrowserContext

async function signedUp(name: string, email: string): Promise<BrowserContext> {
  await sql`delete from auth_rate_limit`
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(`${address}/sign-up`)
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Email').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Check your email').waitFor()
  const [link = ''] = await linksFor(sql, email)
  await page.goto(link)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.close()
  return context
}

beforeAll(async () => {
  gateway = await startGateway({ environment: mailEnvironment })
  await raiseApiRate(gateway)
  sql = await openDatabase(gateway.dataDir)
  browser = await startBrowser()
  address = gateway.url.replace('127.0.0.1', 'localhost')
  ada = await signedUp('Ada', 'ada@example.com')
  grace = await signedUp('Grace', 'grace@example.com')
})
afterAll(async () => {
  await browser.close()
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

async function open(path: string, context = ada): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${address}${path}`)
  return page
}

async function say(page: Page, text: string) {
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.keyboard.press('Enter')
}

describe('the playground', () => {
  test('sends a message that was typed before the models loaded', async () => {
    const page = await ada.newPage()
    const { promise: mayLoad, resolve: letLoad } = Promise.withResolvers<void>()
    await page.route('**/api/models?*billing_mode=free*', async (route) => {
      await mayLoad
      await route.continue()
    })
    await page.goto(`${address}/playground`)
    await page.getByLabel('Message').fill('Are you there?')
    await page.getByLabel('Message').press('Enter')
    await page.getByText('The message is then sent automatically').waitFor()
    letLoad()
    await page.getByRole('log').getByText('Are you there?').first().waitFor()
    await page.getByText(/tokens? in/).waitFor()
    expect(await page.getByLabel('Message').inputValue()).toBe('')
    await page.close()
  })

  test('renders a response as Markdown, with its cost and without remote content', async () => {
    const page = await open('/playground?model=sandbox%2Fecho')
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    const image = '![picture](https://evil.example/x.png)'
    const link = '[here](https://example.com) [there](javascript:alert(1))'
    await say(page, `**bold** ${image} ${link} <b id="raw">tag</b>`)
    await page.locator('strong', { hasText: 'bold' }).waitFor()
    await page.getByText(/tokens? in, .* out · \$0\.00/).waitFor()
    expect(await page.locator('#raw').count()).toBe(0)
    expect(await page.locator('[role=log] img').count()).toBe(0)
    expect(await page.locator('[role=log] a[href^=javascript]').count()).toBe(0)
    expect(requests.filter((url) => !url.startsWith(address))).toEqual([])
    expect(await barriersNow(page)).toEqual([])
    await page.close()
  })

  test('renders tables, tasks and code that can be copied', async () => {
    const page = await open('/playground?model=sandbox%2Fecho')
    const table = '| Model | Price |\n|---|---:|\n| echo | 0 |'
    const lines = [table, '', '- [x] done', '', '```ts', 'const one = 1', '```']
    await say(page, lines.join('\n'))
    const log = page.getByRole('log')
    await log.getByRole('columnheader', { name: 'Price' }).waitFor()
    await log.getByRole('cell', { name: 'echo' }).waitFor()
    await log.getByRole('img', { name: 'done' }).waitFor()
    await log.getByRole('button', { name: 'Copy' }).click()
    await heard(page, 'Copied')
    expect(await barriersNow(page)).toEqual([])
    await page.close()
  })

  test('has the focus in the message and the options in view', async () => {
    const page = await open('/playground?model=sandbox%2Fecho')
    const message = page.getByRole('textbox', { name: 'Message' })
    const isFocused = async () => (await page.locator('textarea:focus').count()) === 1
    await eventually(isFocused)
    const sizes = [
      [1280, 720],
      [1440, 900],
    ] as const
    for (const [width, height] of sizes) {
      await page.setViewportSize({ width, height })
      for (const field of ['System prompt', 'Temperature', 'Max. output tokens', 'Message']) {
        const box = page.getByRole('textbox', { name: field })
        // The page follows the size of its window a moment later.
        await eventually(async () => {
          const { y, height: own } = (await box.boundingBox()) ?? { y: height, height }
          return y + own <= height
        })
      }
    }
    await page.getByRole('textbox', { name: 'System prompt' }).fill('You repeat.')
    await message.fill('Hello')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/tokens? in/).waitFor()
    await eventually(isFocused)

    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('button', { name: 'Options' }).click()
    const drawer = page.getByRole('dialog', { name: 'Options' })
    const prompt = drawer.getByRole('textbox', { name: 'System prompt' })
    await eventually(async () => (await prompt.inputValue()) === 'You repeat.')
    expect(await barriersNow(page)).toEqual([])
    await page.close()
  })

  test('continues a conversation after a reload, and deletes it', async () => {
    const page = await open('/playground?model=sandbox%2Fecho')
    await say(page, 'First words')
    await page.getByText(/tokens? in/).waitFor()
    await page.waitForURL(/chat=sess_/)
    await page.reload()
    await page.getByRole('log').getByText('First words').nth(1).waitFor()
    await say(page, 'More words')
    await page.getByRole('log').getByText('More words').nth(1).waitFor()
    await page.getByText(/tokens? in/).waitFor()
    await page.getByRole('button', { name: 'Conversations' }).click()
    await page.getByText('4 messages').waitFor()
    await page.getByRole('button', { name: 'Delete First words' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('4 messages').waitFor({ state: 'detached' })
    await page.waitForURL((url) => !url.searchParams.has('chat'))
    await page.close()
  })

  test('sends to two models at once', async () => {
    const page = await open('/playground?model=sandbox%2Fecho&other=sandbox%2Florem')
    await say(page, 'To both')
    await page
      .getByText(/tokens? in/)
      .nth(1)
      .waitFor()
    const logs = page.getByRole('log')
    expect(await logs.nth(0).getByText('To both').count()).toBe(2)
    expect(await logs.nth(1).getByText('To both').count()).toBe(1)
    await page.close()
  })

  test('stops a response and sends the next message', async () => {
    const page = await open('/playground?model=sandbox%2Fecho')
    // An answer that never begins.
    await page.route('**/messages', () => undefined)
    await say(page, 'Take your time')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped.').waitFor()
    await page.unroute('**/messages')
    await say(page, 'Now')
    await page.getByRole('log').getByText('Now').nth(1).waitFor()
    await page.getByText(/tokens? in/).waitFor()
    await page.close()
  })

  test('shows the reason for a missing response', async () => {
    const page = await open('/playground?model=nobody%2Fnothing')
    await say(page, 'Hello?')
    await page.getByRole('log').getByRole('alert').getByText('nobody/nothing').first().waitFor()
    await page.close()
  })

  test('starts from a saved prompt with its variables filled in', async () => {
    await ada.request.post(`${address}/api/user/prompts`, {
      headers: { origin: address },
      data: { title: 'Greeting', content: 'Greet {{name}} warmly' },
    })
    const page = await open('/playground?model=sandbox%2Fecho')
    await page.getByRole('button', { name: 'Saved prompt' }).click()
    await choose(page.getByRole('combobox', { name: 'Prompt' }), { name: 'Greeting' })
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('Ada')
    await page.getByRole('button', { name: 'Use as message' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const message = page.getByRole('textbox', { name: 'Message' })
    await eventually(async () => (await message.inputValue()) === 'Greet Ada warmly')
    await page.close()
  })
})

test('an organization is created, an invited member joins, is suspended, reinstated and removed', async () => {
  const page = await open('/organizations')
  await page.getByRole('button', { name: 'New organization' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Engines')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('link', { name: 'Engines' }).click()
  await page.getByText('Pool balance').waitFor()
  await page.getByRole('tab', { name: 'Invitations' }).click()
  await page.getByRole('button', { name: 'Invite members' }).click()
  await page.getByLabel('Email addresses').fill('grace@example.com\nnonsense')
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  await page.getByRole('alert').getByText('nonsense:').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('cell', { name: 'grace@example.com', exact: true }).waitFor()
  expect(await barriersNow(page)).toEqual([])

  const hers = await open('/organizations', grace)
  await hers.getByRole('button', { name: 'Accept' }).click()
  await hers.getByRole('link', { name: 'Engines' }).waitFor()
  await hers.close()

  await page.getByRole('tab', { name: 'Members' }).click()
  await page.getByRole('tab', { name: 'Members', selected: true }).waitFor()
  await page.reload()
  const act = async (name: string) => {
    await page.getByRole('button', { name: 'Actions for Grace' }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await act('Suspend')
  await page.getByText('suspended').waitFor()
  await act('Reinstate')
  await page.getByText('suspended').waitFor({ state: 'detached' })
  await act('Edit')
  await page.getByLabel('Department').fill('Research')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('cell', { name: 'Research' }).waitFor()
  expect(await barriersNow(page)).toEqual([])
  await act('Remove')
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('button', { name: 'Actions for Grace' }).waitFor({ state: 'detached' })

  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByRole('textbox', { name: 'Monthly spending limit', exact: true }).fill('25')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('$25.00').waitFor()
  expect(await barriersNow(page)).toEqual([])
  await page.getByRole('tab', { name: 'Usage' }).click()
  await page.getByText('No usage in this period').waitFor()
  await page.close()
})

test('settings are saved: name, handle, stored bodies', async () => {
  const page = await open('/settings', grace)
  await page.getByRole('textbox', { name: 'Name' }).fill('Grace H.')
  await page.getByRole('button', { name: 'Save name' }).click()
  await heard(page, 'Saved.')
  await page.getByRole('textbox', { name: 'Your handle' }).fill('admin')
  await page.getByRole('button', { name: 'Save handle' }).click()
  // What is wrong stands at its field.
  await page.getByText(/^handle: /).waitFor()
  await page.getByRole('textbox', { name: 'Your handle' }).fill('grace')
  await page.getByRole('button', { name: 'Save handle' }).click()
  await page.getByText('grace/provider/model').waitFor()
  await page.getByRole('switch', { name: 'Store request and response bodies' }).press('Space')
  await page.getByRole('switch', { checked: true }).waitFor()
  await page.reload()
  await page.getByText('grace/provider/model').waitFor()
  const name = page.getByRole('textbox', { name: 'Name' })
  await eventually(async () => (await name.inputValue()) === 'Grace H.')
  await page.getByRole('switch', { checked: true }).waitFor()
  await page.close()
})
