import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { choose } from './choose'
import {
  answerWithTools,
  makeGateway,
  makeProvider,
  startAgent,
  type CreatedGateway,
} from './self-hosted'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import type { Agent } from '../harness/tunnel-agent'
import { eventually } from '../../server/testing/eventually'

let dashboard: SignedIn
let made: CreatedGateway
let agent: Agent

const toolCalls = [
  { name: 'files_read', arguments: { text: 'letter.txt' } },
  { name: 'wiki_search', arguments: { text: 'bridges' } },
]

beforeAll(async () => {
  dashboard = await startSignedIn({ environment: { MINIMUM_BALANCE_USD: '0' } })
  await makeProvider(dashboard)
  made = await makeGateway(dashboard, { name: 'Cellar' })
  agent = await startAgent(made)
  await makeGateway(dashboard, { name: 'Attic' })
})
afterAll(async () => {
  agent.kill()
  await dashboard[Symbol.asyncDispose]()
})

const step = (page: Page, name: string) => page.getByRole('region', { name: `Tool ${name}` })

/** Answers each call of a tool once `give` is called with what it gives. */
function toolsByHand() {
  const waiting: ((content: string, isError?: boolean) => void)[] = []
  agent.runs = ({ id }) => {
    waiting.push((content, isError = false) =>
      agent.send({ type: 'tool_result', id, content, is_error: isError }),
    )
  }
  return async (content: string, isError?: boolean) => {
    await eventually(() => waiting.length > 0)
    waiting.shift()?.(content, isError)
  }
}

/** Begins one on the page of sessions. */
async function begin(page: Page, name: string) {
  await page.getByRole('button', { name: 'New session' }).click()
  const form = page.getByRole('dialog', { name: 'New session' })
  await form.getByLabel('Name').fill(name)
  await form.getByLabel(/^Model/).fill('fake/mine')
  await form.getByLabel('Name').focus()
  await choose(form.getByRole('combobox', { name: 'Type' }), { name: /^Automation/ })
  return form
}

test('a session with two tools of a gateway shows each step as it happens', async () => {
  const give = toolsByHand()
  answerWithTools(agent, toolCalls, 'There is **one** bridge.')
  const page = await dashboard.open('/sessions')
  const form = await begin(page, 'Errands')
  await form.getByRole('button', { name: 'Start' }).click()
  await form.getByText('Select a gateway.').waitFor()
  await form.getByRole('combobox', { name: 'Gateway' }).click()
  const options = page.getByRole('option', { name: /Cellar|Attic/ })
  await options.first().waitFor()
  await eventually(async () => {
    const texts = await options.allTextContents()
    return texts.join() === 'Cellar (online),Attic (starting)'
  })
  expect(await options.last().getAttribute('data-combobox-disabled')).toBe('true')
  await options.first().click()
  await form.getByLabel('All tools').uncheck()
  await form.getByRole('checkbox', { name: 'files_read' }).check()
  await form.getByRole('checkbox', { name: 'wiki_search' }).check()
  expect(await barriersOf(page)).toEqual([])
  await form.getByRole('button', { name: 'Start' }).click()
  await page.waitForURL(/\/sessions\/sess_/)
  await page.getByText('files_read, wiki_search').waitFor()

  await page.getByLabel('Message').fill('How many bridges?')
  await page.getByLabel('Message').press('Enter')
  await step(page, 'files_read').getByLabel('Running').waitFor()
  await step(page, 'wiki_search').getByText('waiting').waitFor()
  await step(page, 'files_read')
    .getByText(/^[1-9]\d* s$/)
    .waitFor()
  await give('Dear Ada')
  await step(page, 'files_read').getByText('done').waitFor()
  await step(page, 'wiki_search').getByLabel('Running').waitFor()
  expect(await barriersOf(page)).toEqual([])
  await give('it broke', true)
  await step(page, 'wiki_search').getByText('failed').waitFor()
  await page.getByText('There is one bridge.').waitFor()

  await page.reload()
  await step(page, 'files_read').getByText('Dear Ada').waitFor()
  await step(page, 'files_read')
    .getByText(/^[\d.]+ (ms|s|sec)$/)
    .waitFor()
  await step(page, 'wiki_search').getByText('Error: it broke').waitFor()
  const folded = step(page, 'wiki_search').getByRole('button', { name: /Arguments/ })
  expect(await folded.getAttribute('aria-expanded')).toBe('false')
  await folded.click()
  await step(page, 'wiki_search')
    .getByLabel('Full text: Arguments')
    .getByText('"bridges"')
    .waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 800 })
  await eventually(() =>
    page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'),
  )

  // Its gateway is where the session says.
  await page.getByRole('link', { name: 'Cellar' }).click()
  await page.getByRole('heading', { name: 'Cellar' }).waitFor()
  await page.close()
})

async function session(name: string): Promise<string> {
  const { body } = await dashboard.account.send('POST /api/automation/sessions', {
    modelId: 'fake/mine',
    name,
    sessionType: 'automation',
    gatewayId: made.id,
  })
  return String(body['id'])
}

test('messages of another client appear without a reload', async () => {
  agent.runs = ({ id }) => agent.send({ type: 'tool_result', id, content: 'Here', is_error: false })
  answerWithTools(agent, toolCalls.slice(0, 1), 'Done.')
  const id = await session('Elsewhere')
  const page = await dashboard.open(`/sessions/${id}`)
  await page.getByText('No messages yet.').waitFor()
  const path = `POST /api/automation/sessions/${id}/messages`
  const sent = dashboard.account.send(path, { content: 'Go.', stream: true })
  await step(page, 'files_read').getByText('done').waitFor()
  await page.getByText('Done.', { exact: true }).waitFor()
  await sent
  await page.close()
})

test("a reached limit looks different from the model's text", async () => {
  agent.runs = ({ id }) =>
    agent.send({ type: 'tool_result', id, content: 'Again', is_error: false })
  const id = await session('Endless')
  const page = await dashboard.open(`/sessions/${id}`)
  answerWithTools(agent, toolCalls.slice(0, 1), '')
  const first = agent.answer
  // As if each answer were the first: it asks for its tool again and again.
  agent.answer = (request) => first({ ...request, body: { messages: [{ role: 'user' }] } })
  await page.getByLabel('Message').fill('Go on for ever.')
  await page.getByRole('button', { name: 'Send' }).click()
  const limit = page.getByRole('alert').filter({ hasText: 'Limit reached' })
  await limit.getByText(/the model may ask for tools 25 times a message/).waitFor()
  await step(page, 'files_read').last().getByText('not run', { exact: true }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.reload()
  await limit.waitFor()
  await page.goto(`${dashboard.address}/sessions?open=${id}`)
  await page.getByRole('dialog', { name: 'Session', exact: true }).getByText('Endless').waitFor()
  await page.close()
})

/** The page of a session whose conversation comes, or does not, when a test says so. */
async function openLate(id: string) {
  const { promise: status, resolve: come } = Promise.withResolvers<200 | 500>()
  const page = await dashboard.open('/sessions')
  await page.route(`**/api/automation/sessions/${id}/conversation?**`, async (route) => {
    if ((await status) === 200) await route.continue()
    else await route.fulfill({ status: 500, body: '' })
  })
  await page.goto(`${dashboard.address}/sessions/${id}`)
  await page.getByLabel('Message').fill('Good night.')
  await page.getByText('Loading messages…').waitFor()
  await page.getByLabel('Message').press('Enter')
  return { page, come }
}

/** The addresses to which a page sends something from now on. */
function sentBy(page: Page): string[] {
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.url())
  })
  return sent
}

/** Has a page ask for something once it has drawn what was done to it: what it sends because of that comes before. */
const askLater = (page: Page) =>
  page.evaluate(`new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
    .then(() => fetch('/healthz'))
    .then((answer) => answer.text())`)

test('a message sent while the conversation loads is sent once', async () => {
  answerWithTools(agent, [], 'Good morning.')
  const { page, come } = await openLate(await session('Hasty'))
  come(200)
  await page.getByText('Good morning.').waitFor()
  await eventually(async () => (await page.getByText('Good night.').count()) === 1)
  await eventually(async () => (await page.getByLabel('Message').inputValue()) === '')
  await page.close()
})

test('a failed load of the conversation sends nothing and starts no new one', async () => {
  answerWithTools(agent, [], 'Good morning.')
  const id = await session('Lost')
  const { page, come } = await openLate(id)
  const sent = sentBy(page)
  come(500)
  await page.getByRole('alert').first().waitFor()
  await page.getByLabel('Message').press('Enter')
  await askLater(page)
  expect(sent).toEqual([])
  expect(await page.getByLabel('Message').inputValue()).toBe('Good night.')
  await page.close()
})

test('a message withdrawn while the conversation loads is not sent', async () => {
  const { page, come } = await openLate(await session('Wavering'))
  const sent = sentBy(page)
  await page.getByLabel('Message').fill('')
  come(200)
  await page.getByText('No messages yet.').waitFor()
  await page.getByLabel('Message').fill('G')
  await askLater(page)
  expect(sent).toEqual([])
  expect(await page.getByLabel('Message').inputValue()).toBe('G')
  await page.close()
})
