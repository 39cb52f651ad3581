import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { startRig, type Customer, type Rig } from '../../harness/server'

const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Say something.' }]

let rig: Rig
let customer: Customer

beforeAll(async () => {
  rig = await startRig()
  customer = await rig.gateway.customer()
})
afterAll(() => rig[Symbol.asyncDispose]())
afterEach(() => rig.gateway.recorder.verify())

test('a chat completion has the requested id, a text and its usage', async () => {
  const model = await rig.model('ok')
  const answer = await customer.client.chat.completions.create({ model, messages })
  expect(answer).toMatchObject({ object: 'chat.completion', model })
  expect(answer.choices[0]?.message.content).toBeString()
  expect(answer.choices[0]?.finish_reason).toBe('stop')
  expect(answer.usage?.total_tokens).toBeGreaterThan(0)
})

test('a streamed chat completion has the same text as the whole one', async () => {
  const model = await rig.model('ok')
  const whole = await customer.client.chat.completions.create({ model, messages })
  const stream = await customer.client.chat.completions.create({ model, messages, stream: true })
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toBe(whole.choices[0]?.message.content ?? '')
})
