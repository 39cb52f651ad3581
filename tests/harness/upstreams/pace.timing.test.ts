import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openRaw, rawRequest } from '../raw-client'
import { type FakeProvider, startFakeProvider } from './fake-provider'
import { recordTimeFigure } from '../../../server/testing/figures'

/** The pace of the fake provider, on which tests of timers rely. */
let upstream: FakeProvider
beforeAll(async () => {
  upstream = await startFakeProvider()
})
afterAll(() => upstream[Symbol.asyncDispose]())

test.each([
  [
    '30 words at 100 a second',
    { model: 'rate-100', max_tokens: 30 },
    { atLeast: 280, atMost: 600 },
  ],
  ['five chunks 20 ms apart', { model: 'chunks-5-gap-20' }, { atLeast: 75, atMost: 600 }],
])('%s', async (name, fields, bound) => {
  using client = await openRaw(upstream.url)
  const messages = [{ role: 'user', content: 'say hello please' }]
  const body = JSON.stringify({ messages, stream: true, ...fields })
  await client.send(rawRequest({ path: '/v1/chat/completions', body }))
  const { body: text } = await recordTimeFigure(name, bound, () => client.response())
  expect(text.toString()).toContain('[DONE]')
})
