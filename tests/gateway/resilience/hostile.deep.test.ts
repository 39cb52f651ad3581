import { afterAll, beforeAll, expect, test } from 'bun:test'
import { completion, createRefusal } from './keyed-upstream'
import { createFixture, type Fixture } from './fixture'
import { sendRequest } from '../../harness/http'
import type { Customer } from '../../harness/server'

let fixture: Fixture

beforeAll(async () => {
  // Long enough that nothing closes by itself within a test.
  fixture = await createFixture({ BREAKER_SECONDS: '6000' })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const poison = 'POISON'

const tooLarge = () =>
  Response.json(
    {
      error: {
        message:
          'Request too large for m on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    },
    { status: 429, headers: { 'retry-after': '3600' } },
  )

const failingOn = (failure: () => Response) => (body: Record<string, unknown>) =>
  JSON.stringify(body['messages']).includes(poison) ? failure() : completion()

/** A provider that fails by `failure` whenever the prompt is poisoned, and otherwise works. */
async function openPoisonable(name: string, failure: () => Response): Promise<string> {
  const { upstream, provider } = fixture
  const key = `${name}-1`
  upstream.answer(key, failingOn(failure))
  return provider(name, [key])
}

async function statusOf({ key }: Customer, model: string, content: string): Promise<number> {
  const body = { model, messages: [{ role: 'user', content }] }
  return (await sendRequest(fixture.billing.rig.gateway, { key, body })).status
}

test.each([
  ['answers of 500', 'errors', createRefusal(500)],
  ['one answer of 429 with Retry-After', 'busy', createRefusal(429, { 'retry-after': '3600' })],
  ['a refusal of oversized requests', 'large', tooLarge],
])('S1: %s caused by one account leave all others served', async (_what, name, failure) => {
  const { gateway } = fixture.billing.rig
  const model = await openPoisonable(name, failure)
  const [hostile, victim] = [await gateway.customer(), await gateway.customer()]
  for (let k = 0; k < 12; k++) expect(await statusOf(hostile, model, poison)).not.toBe(200)
  const served: number[] = []
  // As a bad request before each good one keeps a breaker open that has one probe for all.
  for (let k = 0; k < 59; k++) {
    await statusOf(hostile, model, poison)
    served.push(await statusOf(victim, model, 'Hello'))
  }
  expect(served).toEqual(Array(59).fill(200))
  gateway.recorder.verify()
})

test('S1: the last route is tried although it is failing, and one good answer opens it again', async () => {
  const { billing, upstream, provider } = fixture
  const customer = await billing.rig.gateway.customer()
  const model = await provider('last', ['last-1'])
  upstream.answer('last-1', createRefusal(500))
  for (let k = 0; k < 5; k++) expect(await statusOf(customer, model, 'Hello')).toBe(502)
  upstream.answer('last-1')
  for (let k = 0; k < 20; k++) expect(await statusOf(customer, model, 'Hello')).toBe(200)
  billing.rig.gateway.recorder.verify()
})

test('S1: retries that one account uses up are available to the next', async () => {
  const { billing, upstream, provider } = fixture
  const { gateway } = billing.rig
  const model = await provider('spent', ['spent-1', 'spent-2'])
  for (const key of ['spent-1', 'spent-2']) upstream.answer(key, failingOn(createRefusal(500)))
  const [hostile, victim] = [await gateway.customer(), await gateway.customer()]
  await Promise.all(Array.from({ length: 80 }, () => statusOf(hostile, model, poison)))
  // Now the first connection is down, for every account.
  upstream.answer('spent-1', createRefusal(500))
  const served = await Promise.all(Array.from({ length: 10 }, () => statusOf(victim, model, 'Hi')))
  expect(served).toEqual(Array(10).fill(200))
  gateway.recorder.verify()
})
