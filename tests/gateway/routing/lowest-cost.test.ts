import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFixture, type Fixture } from './fixture'
import type { Json } from '../../harness/http'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

let made = 0
const cheapestOf = (...members: string[]) =>
  fixture.collection({ name: `c${++made}`, routing_strategy: 'lowest_cost', members })

/** The model that serves a request. */
async function served(name: string, fields: Json = {}): Promise<unknown> {
  const { status, body, text } = await fixture.chat(name, fields)
  if (status !== 200) throw new Error(text)
  return body['model']
}

const long = { messages: [{ role: 'user', content: 'word '.repeat(6000) }] }

test('finding P1: lowest_cost goes by the price of the prompt’s length', async () => {
  const flat = await fixture.rig.model('ok-flat', { pricing: { input: 3, output: 3 } })
  const tiers = [{ above: 2000, input: 20, output: 20 }]
  const tiered = await fixture.rig.model('ok-tiered', { pricing: { input: 1, output: 1, tiers } })
  const name = await cheapestOf(flat, tiered)
  expect(await served(name)).toBe(tiered)
  expect(await served(name, long)).toBe(flat)
})

test('finding P1: lowest_cost goes by the price of the hour', async () => {
  const flat = await fixture.rig.model('ok-always', { pricing: { input: 1, output: 9 } })
  const tiers = [
    { from: '00:00', until: '12:00', input: 1 },
    { from: '12:00', until: '00:00', input: 1 },
  ]
  const hourly = await fixture.rig.model('ok-hours', { pricing: { input: 9, output: 8, tiers } })
  // 9 together, beside 10; without its hours it would be 17.
  expect(await served(await cheapestOf(flat, hourly))).toBe(hourly)
})
