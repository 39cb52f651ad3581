import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { allBarriersNow } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import { eventually } from '../../server/testing/eventually'

let dashboard: SignedIn
/** Ids of what was made, by what stands for them in a path. */
const ids: Record<string, string> = {}

beforeAll(async () => {
  dashboard = await startSignedIn()
  const { account, call } = dashboard
  await call('sandbox/echo')
  const engines = await account.send('POST /api/organizations', { name: 'Engines' })
  expect(engines.status).toBe(201)
  ids['$organization'] = String(engines.body['id'])
  const made = [
    ['POST /api/user/prompts', { title: 'Greeting', content: 'Hello {{name}}' }],
    ['POST /api/user/model-mappings', { source_pattern: 'gpt-*', target_model: 'sandbox/echo' }],
    ['POST /api/connections', { name: 'Mine', provider: 'openai', api_key: 'sk-simulated' }],
    [
      'POST /api/account/alerts',
      { name: 'Cost', type: 'cost_threshold', threshold: 1, period: 'day' },
    ],
    [
      'POST /api/account/notification-destinations',
      { name: 'Channel', kind: 'slack', url: 'https://203.0.112.7/services/T0/B0/x' },
    ],
    ['POST /api/gateways', { name: 'Cellar' }],
    ['POST /api/automation/templates', { name: 'Greeter', modelId: 'sandbox/echo' }],
    ['POST /api/automation/sessions', { modelId: 'sandbox/echo', name: 'A talk' }],
    ['POST /api/support/tickets', { subject: 'A question', description: 'How?' }],
  ] as const
  for (const [place, body] of made) {
    const { status, body: one } = await account.send(place, body)
    expect([place, status]).toEqual([place, 201])
    ids[`$${place.replace(/.*\/|s$/g, '')}`] = String(one['id'])
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
  '/playground?kind=image',
  '/playground?kind=speech',
  '/playground?kind=transcription',
  '/sessions',
  '/sessions/$session',
  '/templates',
  '/models',
  '/models?compare=["sandbox/echo"]',
  '/models/compare?models=["sandbox/echo","sandbox/lorem"]',
  '/logs',
  '/connections',
  '/connections/$connection',
  '/pools',
  '/gateways',
  '/gateways/$gateway',
  '/collections',
  '/mappings',
  '/keys',
  '/billing',
  '/quota',
  '/alerts',
  '/inbox',
  '/organizations',
  '/organizations/$organization',
  '/support',
  '/prompts',
  '/settings',
  '/settings/security',
]

async function expectAccessible(path: string): Promise<void> {
  const page = await dashboard.open(path.replace(/\$\w+/, (name) => ids[name] ?? name))
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
  expect(await allBarriersNow(page)).toEqual([])
  await page.close()
}

describe('accessibility', () => {
  test.each(full)('%s has one first-level heading and no axe violations', expectAccessible)

  test('the list of the requests of all accounts has one as well', async () => {
    await dashboard.operate()
    await expectAccessible('/operator/requests')
  })

  test('the document title names the page', async () => {
    const page = await dashboard.open('/usage')
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    await eventually(async () => (await page.title()) === 'Usage · Tollgate')
    await page.close()
  })
})
