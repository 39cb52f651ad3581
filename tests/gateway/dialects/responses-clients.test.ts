import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI7 from 'openai'
import OpenAI4 from 'openai-4'
import OpenAI5 from 'openai-5'
import OpenAI6 from 'openai-6'
import { eventsIn, lastResponse, typesOf } from './response-events'
import { createFixture, type Json, type Fixture } from '../../providers/conformance/fixture'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const input = 'Say something.'
const greeting = 'All is well at the fake provider today, thank you.'

const optionsOf = () => ({
  apiKey: fixture.customer.key,
  baseURL: `${fixture.rig.gateway.url}/v1`,
  maxRetries: 0,
})

describe.each([
  [4, () => new OpenAI4({ ...optionsOf(), fetch: fixture.fetch })],
  [5, () => new OpenAI5({ ...optionsOf(), fetch: fixture.fetch })],
  [6, () => new OpenAI6({ ...optionsOf(), fetch: fixture.fetch })],
  [7, () => new OpenAI7({ ...optionsOf(), fetch: fixture.fetch })],
] as const)('major %d of the official client', (_major, make) => {
  // One type for all: each major is typed by its own package.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const clientOf = () => make() as unknown as OpenAI7

  test('reads an answer, and a stream event by event', async () => {
    const model = await fixture.model('ok')
    const { responses } = clientOf()
    const whole = await responses.create({ model, input })
    expect(whole.output_text).toBe(greeting)
    let text = ''
    for await (const event of await responses.create({ model, input, stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta
    }
    expect(text).toBe(greeting)
  })

  test('collects calls out of a stream', async () => {
    const model = await fixture.model('tool-interleaved')
    const { output } = await clientOf().responses.stream({ model, input }).finalResponse()
    expect(output).toMatchObject([
      { type: 'function_call', name: 'get_weather' },
      { type: 'function_call', name: 'get_time' },
    ])
  })
})

/** A request of a coding agent, with undocumented fields. */
const agentRequest: Json = {
  instructions: 'You are a coding agent.',
  input: [
    {
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: '<permissions>' }],
    },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix it.' }] },
    { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'gAAAA' },
    {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: 'shell',
      arguments: '{"command":["ls"]}',
    },
    { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
    { type: 'custom_tool_call', call_id: 'call_2', name: 'apply_patch', input: '*** Begin Patch' },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: 'Done!' },
    {
      type: 'message',
      role: 'assistant',
      phase: 'final_answer',
      content: [{ type: 'output_text', text: 'Fixed.' }],
    },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Thanks.' }] },
  ],
  tools: [
    { type: 'function', name: 'shell', strict: false, parameters: { type: 'object' } },
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Edits files.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
    },
    { type: 'web_search', external_web_access: false },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { effort: 'high', summary: 'auto' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '0199',
  text: { verbosity: 'low' },
  client_metadata: { installation: '1' },
}

test('a coding agent is answered with all that it waits for', async () => {
  const model = await fixture.model('reasoning')
  const response = await fixture.post('/v1/responses', { ...agentRequest, model })
  const events = eventsIn(await response.text())
  const done = events.filter(({ type }) => type === 'response.output_item.done')
  expect(done.map(({ item }) => item)).toMatchObject([{ type: 'reasoning' }, { type: 'message' }])
  expect(lastResponse(events)['output']).toEqual(done.map(({ item }) => item))
  expect(typesOf(events).at(-1)).toBe('response.completed')
  expect(fixture.sent()['messages']).toMatchObject([
    { role: 'system', content: 'You are a coding agent.' },
    { role: 'developer', content: '<permissions>' },
    { role: 'user', content: 'Fix it.' },
    { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'a.txt' },
    { role: 'assistant', tool_calls: [{ id: 'call_2' }] },
    { role: 'tool', tool_call_id: 'call_2', content: 'Done!' },
    { role: 'assistant', content: 'Fixed.' },
    { role: 'user', content: 'Thanks.' },
  ])
})
