import { AxeBuilder } from '@axe-core/playwright'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  const { account, call } = dashboard
  await call('sandbox/echo')
  const organization = await account.ask('POST /api/organizations', { name: 'Engines' })
  expect(organization.status).toBe(201)
  full.push(`/organizations/${String(organization.body['id'])}`)
  const made = [
    ['POST /api/user/prompts', { title: 'Greeting', content: 'Hello {{name}}' }],
    ['POST /api/user/model-mappings', { source_pattern: 'gpt-*', target_model: 'sandbox/echo' }],
    ['POST /api/connections', { name: 'Mine', provider: 'openai', api_key: 'sk-simulated' }],
    [
      'POST /api/account/alerts',
      { name: 'Cost', type: 'cost_threshold', threshold: 1, period: 'day' },
    ],
    ['POST /api/automation/templates', { name: 'Greeter', modelId: 'sandbox/echo' }],
    ['POST /api/automation/sessions', { modelId: 'sandbox/echo', name: 'A talk' }],
    ['POST /api/support/tickets', { subject: 'A question', description: 'How?' }],
  ] as const
  for (const [place, body] of made) {
    const { status } = await account.ask(place, body)
    expect([place, status]).toEqual([place, 201])
  }
})
afterAll(() => dashboard[Symbol.asyncDispose]())

/** Each with something on it. */
const full = [
  '/',
  '/usage',
  '/usage?by=key',
  '/usage?by=member',
  '/playground',
  '/sessions',
  '/templates',
  '/models',
  '/logs',
  '/connections',
  '/pools',
  '/collections',
  '/mappings',
  '/keys',
  '/billing',
  '/quota',
  '/alerts',
  '/inbox',
  '/organizations',
  '/support',
  '/prompts',
  '/settings',
  '/settings/security',
]

describe('for who reads by headings, tables and landmarks', () => {
  test('every page has one heading of the first level, and axe has nothing to say at all', async () => {
    for (const path of full) {
      const page = await dashboard.open(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      expect([path, await page.getByRole('heading', { level: 1 }).count()]).toEqual([path, 1])
      const { violations } = await new AxeBuilder({ page }).analyze()
      const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
      expect([path, found]).toEqual([path, []])
      await page.close()
    }
  }, 180_000)

  test('the title of a page says which it is', async () => {
    const page = await dashboard.open('/usage')
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    expect(await page.title()).toBe('Usage · Tollgate')
    await page.close()
  })
})
