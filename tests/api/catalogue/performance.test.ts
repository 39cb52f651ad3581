import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call, listIn } from './requests'
import { openDatabase } from '../../harness/database'
import { sendRequest } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { startRig, type Customer, type Rig } from '../../harness/server'

let rig: Rig
let caller: Customer

beforeAll(async () => {
  rig = await startRig()
  caller = await rig.gateway.customer()
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const chat = (model: string) =>
  sendRequest(rig.gateway, {
    key: caller.key,
    body: { model, messages: [{ role: 'user', content: 'Hi' }] },
  })

test('models have the latency and uptime that the installation measured, from ten requests on', async () => {
  const [busy, failing, rejecting, rare] = [
    await rig.model('ok'),
    await rig.model('status-500'),
    await rig.model('status-400'),
    await rig.model('rare', { upstream_model: 'ok' }),
  ]
  for (let count = 0; count < 10; count++) {
    for (const model of [busy, failing, rejecting]) await chat(model)
  }
  for (let count = 0; count < 5; count++) await chat(failing)
  await chat(rare)
  await using sql = await openDatabase(rig.gateway.dataDir)
  const durations = async (model: string): Promise<number[]> => {
    const rows: { ms: number }[] = await sql`
      select duration_ms as ms from usage_event where model = ${model} order by duration_ms`
    return rows.map(({ ms }) => ms)
  }
  await eventually(async () => (await durations(rare)).length === 1)
  const listed = listIn(
    await call(rig.gateway, caller, 'GET /models?provider=fake&sort=uptime'),
    'models',
  )
  const performanceOf = (id: string) => listed.find((one) => one['id'] === id)?.['performance']
  const median = (await durations(busy))[4] ?? -1
  expect(performanceOf(busy)).toEqual({
    latency_ms: median,
    first_token_ms: null,
    tokens_per_second: expect.any(Number),
    uptime_percent: 100,
  })
  expect(performanceOf(failing)).toMatchObject({ latency_ms: null, uptime_percent: 0 })
  // What the client did wrong says nothing about the provider.
  expect(performanceOf(rejecting)).toBeNull()
  expect(performanceOf(rare)).toBeNull()
  expect(listed.map(({ id }) => id).slice(0, 2)).toEqual([busy, failing])
  const byLatency = await call(rig.gateway, caller, 'GET /models?provider=fake&sort=latency')
  expect(listIn(byLatency, 'models')[0]?.['id']).toBe(busy)
})
