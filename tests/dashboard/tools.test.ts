import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import { startToolServer, type ToolServer } from '../api/automation/tool-server'
import { assignGateway } from '../api/automation/with-gateway'

const preload = join(import.meta.dir, '../api/automation/preloads/tools-by-http.ts')

let dashboard: SignedIn
let tools: ToolServer

beforeAll(async () => {
  tools = startToolServer()
  dashboard = await startSignedIn({ preload, environment: { TOOLS_URL: tools.url } })
})
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await tools[Symbol.asyncDispose]()
})

/** A session whose model calls the first tool that it is offered, once a message. */
async function session(): Promise<string> {
  const made = await dashboard.account.send('POST /api/automation/sessions', {
    modelId: 'sandbox/tools',
    name: 'Errands',
    disabledTools: ['look'],
  })
  const id = String(made.body['id'])
  await assignGateway(dashboard.sql, id)
  return id
}

test('shows tool calls while they run, with their results, also after a reload', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  tools.run = () => promise
  const id = await session()
  const page = await dashboard.open(`/playground?chat=${id}`)
  const log = page.getByRole('log', { name: 'Conversation with sandbox/tools' })
  await page.getByLabel('Message').fill('Run it.')
  await page.getByLabel('Message').press('Enter')
  const step = page.getByRole('region', { name: 'Tool echo' })
  await step.getByLabel('Running').waitFor()
  await step.getByLabel('Arguments').getByText('"text"').waitFor()
  resolve('Found <b>it</b>.')
  await step.getByText('done').waitFor()
  await step.getByText('Found <b>it</b>.').waitFor()
  expect(await step.locator('b').count()).toBe(0)
  // What the model says of it stands below.
  await log.getByText(/Found/).nth(1).waitFor()
  expect(await barriersOf(page)).toEqual([])

  await page.goto(`${dashboard.address}/sessions?open=${id}`)
  const drawer = page.getByRole('dialog', { name: 'Session', exact: true })
  await drawer.getByText('all, except look').waitFor()
  const kept = drawer.getByRole('region', { name: 'Tool echo' })
  await kept.getByText('Found <b>it</b>.').waitFor()
  expect(await barriersOf(page)).toEqual([])

  tools.run = () => Promise.reject(new Error('lost'))
  await drawer.getByRole('link', { name: 'Continue' }).click()
  await page.waitForURL(/\/sessions\/sess_/)
  await log.getByRole('region', { name: 'Tool echo' }).waitFor()
  await page.getByLabel('Message').fill('Again.')
  await page.getByLabel('Message').press('Enter')
  await page.getByRole('alert').waitFor()
  const last = log.getByRole('region', { name: 'Tool echo' }).last()
  await last.getByText('no result').waitFor()
  await page.close()
})
