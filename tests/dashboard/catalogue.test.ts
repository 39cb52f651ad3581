import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { choose } from './choose'
import { barriersNow } from './accessibility'
import { complaintsOf, copiedText, heard, startBrowser } from './browser'
import { openDatabase } from '../harness/database'
import { raiseApiRate } from '../money/funding/fixture'
import { startGateway, type Gateway } from '../harness/server'
import { linksFor, password } from '../harness/browser-session'

const email = 'grace@example.com'

let gateway: Gateway
let browser: Browser
let sql: SQL & AsyncDisposable
/** Where the browser finds the gateway: cookies of a link belong to the name in it. */
let address: string
let signedIn: BrowserContext

beforeAll(async () => {
  gateway = await startGateway()
  await raiseApiRate(gateway)
  sql = await openDatabase(gateway.dataDir)
  browser = await startBrowser()
  address = gateway.url.replace('127.0.0.1', 'localhost')
  signedIn = await browser.newContext({ reducedMotion: 'reduce' })
  const account = { email, password, name: 'Grace' }
  const headers = { origin: address }
  await signedIn.request.post(`${address}/api/auth/sign-up/email`, { data: account, headers })
  const [link = ''] = await linksFor(sql, email)
  const page = await signedIn.newPage()
  await page.goto(link)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.close()
})
afterAll(async () => {
  await browser.close()
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

async function open(path: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await signedIn.newPage()
  const complaints = complaintsOf(page)
  await page.goto(`${address}${path}`)
  return { page, complaints }
}

/** What keeps people out of what is shown now. */
async function barriers(page: Page): Promise<unknown[]> {
  await page.waitForLoadState('networkidle')
  return barriersNow(page)
}

/** The status that a call with a key gets. */
const statusWith = async (key: string) =>
  (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status

test('a key is shown once, works, is rotated and deleted', async () => {
  const { page } = await open('/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name').fill('Deploy')
  await page.getByLabel('Requests per minute').fill('7')
  expect(await barriers(page)).toEqual([])
  await page.getByRole('button', { name: 'Create key' }).click()
  const first = await page.getByRole('textbox', { name: 'API key' }).inputValue()
  expect(await statusWith(first)).toBe(200)
  await page.getByRole('button', { name: 'Copy' }).click()
  await heard(page, 'Copied')
  expect(await copiedText(page)).toBe(first)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.reload()
  await page.getByText('7 requests per minute').waitFor()
  expect(await page.content()).not.toContain(first)

  await page.getByRole('button', { name: 'Actions for Deploy' }).click()
  await page.getByRole('menuitem', { name: 'Rotate' }).click()
  await page.getByRole('radio', { name: 'At once' }).check()
  await page.getByRole('button', { name: 'Rotate' }).click()
  const second = await page.getByRole('textbox', { name: 'API key' }).inputValue()
  expect([await statusWith(first), await statusWith(second)]).toEqual([401, 200])
  await page.getByRole('button', { name: 'Done' }).click()

  await page.getByRole('button', { name: 'Actions for Deploy' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No API keys yet').waitFor()
  expect(await statusWith(second)).toBe(401)
  await page.close()
})

test('a key needs at least one permission', async () => {
  const { page } = await open('/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name').fill('Nothing')
  await page.getByRole('checkbox', { name: 'Read' }).uncheck()
  await page.getByRole('checkbox', { name: 'Write' }).uncheck()
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Select at least one.').waitFor()
  await page.close()
})

test('models are filtered by name, provider and capability, and the address keeps the filter', async () => {
  const { page } = await open('/models')
  await page.getByLabel('Search').fill('echo')
  await page.getByRole('link', { name: 'Sandbox Echo' }).waitFor()
  await choose(page.getByRole('combobox', { name: 'Provider' }), { name: 'OpenAI', exact: true })
  await page.getByText('No results').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await choose(page.getByRole('combobox', { name: 'Capabilities' }), { name: 'Images' })
  await page.keyboard.press('Escape')
  // Its state is in the address, which follows the click.
  await page.getByRole('checkbox', { name: 'Free only' }).click()
  await page.waitForURL(/capability=vision.*free=yes/)
  await page.reload()
  await page.getByRole('checkbox', { name: 'Free only', checked: true }).waitFor()
  await page.close()
})

test('an unknown filter shows an error', async () => {
  const { page } = await open('/models?category=nonsense')
  await page.getByText('Could not load data').waitFor()
  await page.close()
})

test('a rating of a model is created, updated and deleted', async () => {
  const { page } = await open('/models?model=sandbox/echo')
  const drawer = page.getByRole('dialog')
  await drawer.getByText('No ratings yet.').waitFor()
  await drawer.getByRole('button', { name: 'Submit rating' }).click()
  await drawer.getByText('Select one to five stars.').waitFor()
  await drawer.getByRole('radio', { name: '4 of 5' }).focus()
  await page.keyboard.press('Space')
  const review = '<img src=x onerror=alert(1)> quick'
  await drawer.getByLabel('Review', { exact: true }).fill(review)
  await drawer.getByRole('button', { name: 'Submit rating' }).click()
  await drawer.getByText('4 of 5, by 1').waitFor()
  await drawer.locator('p', { hasText: review }).waitFor()
  expect(await barriers(page)).toEqual([])
  await drawer.getByRole('radio', { name: '2 of 5' }).focus()
  await page.keyboard.press('Space')
  await drawer.getByRole('button', { name: 'Update rating' }).click()
  await drawer.getByText('2 of 5, by 1').waitFor()
  await drawer.getByRole('button', { name: 'Delete rating' }).click()
  await drawer.getByText('No ratings yet.').waitFor()
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  expect(page.url()).not.toContain('model=')
  await page.close()
})

test('models and collections can be favourites', async () => {
  const { page, complaints } = await open('/models?search=sandbox/echo')
  const star = page.getByRole('button', { name: 'Favorite: sandbox/echo', exact: true })
  await star.click()
  await page.getByRole('button', { name: 'Favorite: sandbox/echo', pressed: true }).waitFor()
  await page.goto(`${address}/collections`)
  await page.getByRole('link', { name: 'Free models' }).click()
  await page.getByRole('button', { name: 'Favorite: collection/auto-free' }).click()
  await page.getByRole('button', { name: /auto-free/, pressed: true }).waitFor()
  await page.goto(`${address}/models?favorites=yes`)
  await page.getByRole('link', { name: 'Sandbox Echo' }).waitFor()
  await page.getByText('collection/auto-free').waitFor()
  expect(await barriers(page)).toEqual([])
  await star.click()
  await page.getByRole('button', { name: 'Favorite: collection/auto-free' }).click()
  await page.getByText('No favorites yet').waitFor()
  expect(complaints).toEqual([])
  await page.close()
})

test('a favourite added while the favourites load is shown', async () => {
  const { page } = await open('/keys')
  const pressed = Promise.withResolvers<void>()
  await page.route('**/api/favorites', async (route) => {
    const response = await route.fetch()
    if (route.request().method() === 'GET') await pressed.promise
    await route.fulfill({ response })
  })
  await page.goto(`${address}/collections`)
  await page.getByRole('link', { name: 'Free models' }).click()
  const added = page.waitForResponse((one) => one.request().method() === 'POST')
  await page.getByRole('button', { name: 'Favorite: collection/auto-free' }).click()
  await added
  pressed.resolve()
  const star = page.getByRole('button', { name: /auto-free/, pressed: true })
  await star.click()
  await page.getByRole('button', { name: /auto-free/, pressed: false }).waitFor()
  await page.close()
})

test('a collection is created, reordered and deleted', async () => {
  const { page } = await open('/collections')
  await page.getByRole('button', { name: 'New collection' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('Not A Name')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText(/^name: /).waitFor()
  await page.getByRole('dialog').getByLabel('Name').fill('fast')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  for (const model of ['sandbox/echo', 'openai/gpt-4o-mini', 'openai/gpt-4o']) {
    await page.getByRole('combobox', { name: 'Add a model' }).fill(model)
    await page.getByRole('button', { name: 'Add model' }).click()
    await page.getByRole('button', { name: `Remove ${model}`, exact: true }).waitFor()
  }
  await page.getByRole('button', { name: 'Move openai/gpt-4o up' }).click()
  await choose(page.getByRole('combobox', { name: 'Routing strategy' }), { name: 'Weighted' })
  await page.getByLabel('Weight of sandbox/echo').fill('5')
  expect(await barriers(page)).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await heard(page, 'collection/fast was saved.')
  const answer = await signedIn.request.get(`${address}/api/user/model-collections`)
  const { collections } = await answer.json()
  expect(collections).toContainEqual(
    expect.objectContaining({
      name: 'fast',
      routing_strategy: 'weighted',
      members: [
        expect.objectContaining({ model_id: 'sandbox/echo', priority: 1, weight: 5 }),
        expect.objectContaining({ model_id: 'openai/gpt-4o', priority: 2, weight: 1 }),
        expect.objectContaining({ model_id: 'openai/gpt-4o-mini', priority: 3, weight: 1 }),
      ],
    }),
  )
  await page.reload()
  await page.getByRole('button', { name: 'Delete' }).click()
  const question = page.getByRole('dialog', { name: 'Delete collection/fast?' })
  await question.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No collections yet').waitFor()
  await page.close()
})

test('a system collection is read-only', async () => {
  const { page } = await open('/collections')
  await page.getByRole('link', { name: 'Free models' }).click()
  await page.getByText('System collections are available to every account').waitFor()
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
  expect(await barriers(page)).toEqual([])
  await page.close()
})

test('a prompt is created, filled in, copied and counted', async () => {
  const { page } = await open('/prompts?prompt=new')
  await page.getByLabel('Title').fill('Translate')
  await page
    .getByRole('textbox', { name: 'Text', exact: true })
    .fill('Say {{ what }} in {{language}}.')
  await page.getByLabel('Category').fill('Writing')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByLabel('what', { exact: true }).fill('$& hello')
  await page.getByRole('button', { name: 'Copy text' }).click()
  await heard(page, 'Copied')
  expect(await copiedText(page)).toBe('Say $& hello in {{language}}.')
  expect(await barriers(page)).toEqual([])
  await page.getByLabel('Description').fill('For mails')
  await page.getByRole('button', { name: 'Save' }).click()
  await heard(page, 'Translate was saved.', 2)
  await page.keyboard.press('Escape')
  await page.getByText('For mails').waitFor()
  await page.getByRole('cell', { name: '1', exact: true }).waitFor()
  await page.close()
})

test('prompts are filtered, and selected ones deleted together', async () => {
  const prompts = ['One', 'Two', 'Three'].map((title) => ({ title, content: 'x', tags: ['t'] }))
  const headers = { origin: address }
  await signedIn.request.post(`${address}/api/user/prompts/bulk`, { data: { prompts }, headers })
  const { page } = await open('/prompts?tag=t')
  await page.getByText('3 of 3 prompts').waitFor()
  await page.getByLabel('Search').fill('Two')
  await page.getByText('1 of 1 prompts').waitFor()
  await page.getByLabel('Search').fill('')
  await page.getByText('3 of 3 prompts').waitFor()
  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await page.getByRole('checkbox', { name: 'Select Two' }).uncheck()
  expect(await barriers(page)).toEqual([])
  await page.getByRole('button', { name: 'Delete selected' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('1 of 1 prompts').waitFor()
  await page.getByRole('link', { name: 'Two' }).waitFor()
  await page.close()
})
