import { expect, test } from 'bun:test'
import { useBilledFixture } from './billed-fixture'
import { listIn, objectIn } from './fixture'
import { eventually } from '../../../server/testing/eventually'
import { sendRequest, messages, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

const { fixture, read, grant } = useBilledFixture()

/** USD that a chat cost. */
async function chat(customer: Customer, model = 'sandbox/priced'): Promise<number> {
  const body = { model, messages, max_tokens: 5 }
  const answer = await sendRequest(fixture().gateway, { key: customer.key, body })
  expect(answer.status).toBe(200)
  return Number(answer.headers.get('x-tollgate-cost'))
}

test('metrics show usage and payments, by model and without gaps', async () => {
  const customer = await fixture().newCustomer()
  await grant({ user_id: customer.userId, amount: 5, reason: 'Welcome' })
  const costs = [await chat(customer), await chat(customer)]
  await chat(customer, 'sandbox/echo')
  const total = Number(costs.reduce((sum, cost) => sum + cost, 0).toFixed(9))
  await eventually(
    async () => objectIn(await read(customer, '/metrics'), 'summary')['total_requests'] === 3,
  )
  const answer = await read(customer, '/metrics?period=24h')
  const { body } = answer
  expect(body['summary']).toMatchObject({
    total_requests: 3,
    success_rate: 100,
    total_cost: total,
    models_used: 2,
    avg_latency_ms: expect.any(Number),
  })
  expect(body['by_model']).toMatchObject([
    { model: 'sandbox/priced', provider: 'sandbox', requests: 2, percentage: 100 },
    { model: 'sandbox/echo', provider: 'sandbox', requests: 1, cost: 0, percentage: 0 },
  ])
  const series = listIn(answer, 'time_series')
  expect(series).toHaveLength(25)
  const times = series.map((one) => Date.parse(String(one['timestamp'])))
  expect(times.slice(1).every((ms, index) => ms - (times[index] ?? 0) === 3_600_000)).toBe(true)
  expect(series.reduce((sum, one) => sum + Number(one['requests']), 0)).toBe(3)
  const { total_tokens: tokens } = objectIn(answer, 'summary')
  expect(series.reduce((sum, one) => sum + Number(one['tokens']), 0)).toBe(Number(tokens))
  const { next_7_days, next_30_days, daily_average } = objectIn(answer, 'projections')
  expect(next_30_days).toBe(total)
  expect(Number(daily_average)).toBeCloseTo(total / 30, 9)
  expect(Number(next_7_days)).toBeCloseTo((total / 30) * 7, 9)
})

test('weeks begin on Mondays, months on their first; older usage is summed by the day', async () => {
  const customer = await fixture().newCustomer()
  const { userId } = customer
  const add = (grain: string, at: string, cost: number) => fixture().sql`
    insert into request_sum values (${grain}, ${at}, ${userId}, 'key_1', 'fake/one',
      3, 1, 1, 1, 10, 20, 50, ${cost}, ${cost}, 1)`
  await add('day', '2024-01-08T00:00:00Z', 1_000_000_000)
  await add('day', '2024-02-01T00:00:00Z', 500_000_000)
  const span = 'start_date=2024-01-03&end_date=2024-02-01'
  const series = async (granularity: string) => {
    const answer = await read(customer, `/metrics?${span}&granularity=${granularity}`)
    expect(objectIn(answer, 'summary')).toMatchObject({
      total_requests: 6,
      success_rate: 50,
      input_tokens: 20,
      output_tokens: 40,
      total_cost: 1.5,
      avg_latency_ms: 50,
    })
    return listIn(answer, 'time_series').map((one) => [
      String(one['timestamp']).slice(0, 10),
      one['cost'],
    ])
  }
  expect(await series('month')).toEqual([
    ['2024-01-01', 1],
    ['2024-02-01', 0.5],
  ])
  expect(await series('week')).toEqual([
    ['2024-01-01', 0],
    ['2024-01-08', 1],
    ['2024-01-15', 0],
    ['2024-01-22', 0],
    ['2024-01-29', 0.5],
  ])
  expect(await series('day')).toHaveLength(30)
})

test('an empty period has no rate', async () => {
  const answer = await read(await fixture().newCustomer(), '/metrics')
  expect(objectIn(answer, 'summary')).toEqual({
    total_requests: 0,
    success_rate: null,
    total_tokens: 0,
    input_tokens: 0,
    output_tokens: 0,
    total_cost: 0,
    usage_cost: 0,
    avg_latency_ms: null,
    models_used: 0,
  })
  expect(listIn(answer, 'by_model')).toEqual([])
  expect(listIn(answer, 'time_series')).toHaveLength(31)
})

test('finding M14: requests are counted as in the statistics of the log, refused ones too', async () => {
  const customer = await fixture().newCustomer()
  await grant({ user_id: customer.userId, amount: 5, reason: 'Welcome' })
  await chat(customer)
  const { gateway } = fixture()
  const refuse = async (fields: Json) => {
    const body = { model: 'sandbox/priced', messages, max_tokens: 5, ...fields }
    const { status } = await sendRequest(gateway, { key: customer.key, body })
    expect(status).toBeGreaterThanOrEqual(400)
  }
  // These never reach a provider.
  for (const fields of [
    { temperature: 'hot' },
    { n: -1 },
    { model: 'sandbox/none' },
    { messages: 1 },
  ])
    await refuse(fields)
  await refuse({ max_tokens: -1 })
  const statistics = async () =>
    (
      await sendRequest(gateway, {
        method: 'GET',
        key: customer.key,
        path: '/api/account/request-logs/stats',
      })
    ).body
  const summary = async () => objectIn(await read(customer, '/metrics?period=24h'), 'summary')
  await eventually(async () => (await statistics())['total_requests'] === 6)
  await eventually(async () => (await summary())['total_requests'] === 6)
  const [stats, metrics] = [await statistics(), await summary()]
  expect(stats).toMatchObject({ failed_requests: 5, successful_requests: 1 })
  for (const name of [
    'total_requests',
    'success_rate',
    'total_tokens',
    'input_tokens',
    'output_tokens',
    'total_cost',
    'avg_latency_ms',
  ]) {
    expect([name, metrics[name]]).toEqual([name, stats[name]])
  }
  expect(metrics['success_rate']).toBe(16.67)
})
