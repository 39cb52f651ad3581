import { expect, test } from 'bun:test'
import { toPassedOn } from './request'
import type { Target } from '../adapter'
import type { ChatRequest } from '../../wire/chat-request'

const target: Target = {
  upstreamModel: 'gpt-6-astra',
  maxTokens: 100,
  capabilities: { reasoning: true, tools: true, vision: true, jsonSchema: true },
}
const chat: ChatRequest = {
  model: 'openai/gpt-6-astra',
  messages: [{ role: 'user', content: 'Not this.' }],
  temperature: 0.5,
  reasoning_effort: 'low',
  prompt_cache_key: 'key',
}
const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'Z0FB' }
const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: 'no JSON' }
const result = { type: 'function_call_output', call_id: 'call_1', output: 'wet' }
const tools = [{ type: 'custom', name: 'write', format: { type: 'grammar', syntax: 'lark' } }]
const original = {
  input: [thought, call, result],
  instructions: 'Be brief.',
  tools,
  reasoning: { summary: 'auto' },
}

test('what is asked goes on in its own words, and how it is answered as for a chat', () => {
  expect(toPassedOn(original, chat, target)).toEqual({
    path: '/responses',
    body: {
      model: 'gpt-6-astra',
      input: [thought, call, result],
      instructions: 'Be brief.',
      tools,
      max_output_tokens: 100,
      reasoning: { effort: 'low', summary: 'auto' },
      prompt_cache_key: 'key',
      include: ['reasoning.encrypted_content'],
      store: false,
      stream: true,
    },
  })
})

test('thoughts that were refused are left out', () => {
  const { body } = toPassedOn(original, chat, { ...target, signatures: 'replaced' })
  expect(body['input']).toEqual([call, result])
})

test('a call keeps its result under an id that is accepted', () => {
  const call_id = `call 1 ${'x'.repeat(80)}`
  const input = [
    { ...call, call_id },
    { ...result, call_id },
  ]
  const { body } = toPassedOn({ input }, chat, target)
  const accepted = expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/)
  expect(body['input']).toMatchObject([{ call_id: accepted }, { call_id: accepted }])
  const ids = Array.isArray(body['input']) ? body['input'].map((item) => item.call_id) : []
  expect(new Set(ids).size).toBe(1)
})

test('a model that does not think is not asked for a summary, and keeps its sampling', () => {
  const capabilities = { ...target.capabilities, reasoning: false }
  const { reasoning_effort: _effort, ...plain } = chat
  const { body } = toPassedOn(original, plain, { ...target, capabilities })
  expect(body).not.toHaveProperty('reasoning')
  expect(body).not.toHaveProperty('include')
  expect(body['temperature']).toBe(0.5)
})

test('a text is an input as it is', () => {
  expect(toPassedOn({ input: 'Hi.' }, chat, target).body['input']).toBe('Hi.')
})
