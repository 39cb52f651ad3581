import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call, completion, createModelFixture, idIn, type Fixture } from '../../harness/byok'
import { messages, sendRequest } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createModelFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const isDelivery = ({ path }: { path: string }) => path.startsWith('/hook')

test('a budget that reaches a percent is delivered to a webhook with its figures', async () => {
  const { gateway, upstream, newCustomer } = fixture
  const owner = await newCustomer()
  upstream.answer = (request) => (isDelivery(request) ? new Response('heard') : completion())
  const create = async (path: string, fields: Record<string, unknown>) =>
    idIn(await call(gateway, owner, `POST ${path}`, fields))
  await create('/account/notification-destinations', {
    name: 'Operations',
    kind: 'webhook',
    url: `${upstream.url}/hook`,
    events: ['budget.threshold'],
  })
  await create('/connections', {
    name: 'one',
    provider: 'fake',
    api_key: 'sk-fake-0123456789',
    endpoint_url: upstream.url,
  })
  const budgetId = await create('/account/budgets', {
    name: 'Echoes',
    unit: 'requests',
    amount: 1,
    window: 'total',
    enforcement: 'soft',
    notify_percents: [50, 100],
  })
  await sendRequest(gateway, { key: owner.key, body: { model: 'fake/one', messages } })
  await eventually(() => upstream.requests.some(isDelivery))
  expect(upstream.requests.filter(isDelivery).map(({ body }) => body)).toEqual([
    {
      type: 'budget.threshold',
      timestamp: expect.stringMatching(/Z$/),
      data: {
        title: 'Budget at 100%: Echoes',
        body: 'Your budget "Echoes" has reached 100%. It has used 1 of 1 requests, and it does not reset. It rejects no requests.',
        budget_id: budgetId,
        key_id: null,
        enforcement: 'soft',
        unit: 'requests',
        amount: 1,
        used: 1,
        percent: 100,
        window: 'total',
        window_start: null,
        window_end: null,
        notification_id: expect.stringMatching(/^ntf_/),
        link: '/budgets',
      },
    },
  ])
})
