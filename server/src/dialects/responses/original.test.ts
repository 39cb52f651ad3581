import { expect, test } from 'bun:test'
import { responses } from '.'
import { packThoughts } from './thoughts'
import type { JsonObject } from '../../wire/json-body'

const originalOf = (request: JsonObject) =>
  responses.read({ model: 'openai/gpt-6-astra', input: 'Hi.', ...request }).original.body

const tool = { type: 'custom', name: 'write', format: { type: 'grammar', definition: 'a' } }

test('what a chat cannot say is kept, and nothing else', () => {
  const text = { format: { type: 'text' }, verbosity: 'low' }
  const asked = {
    instructions: 'Be brief.',
    tools: [tool],
    tool_choice: { type: 'custom', name: 'write' },
    parallel_tool_calls: false,
    text,
  }
  const beside = { temperature: 0.5, made_up: 1, store: true, include: ['a'], service_tier: 'auto' }
  const reasoning = { effort: 'low', summary: 'auto' }
  expect(originalOf({ ...asked, ...beside, reasoning })).toEqual({
    input: 'Hi.',
    ...asked,
    reasoning: { summary: 'auto' },
  })
})

test('tools of OpenAI go no further than with a chat', () => {
  const tools = [tool, { type: 'web_search' }]
  expect(originalOf({ tools })['tools']).toEqual([tool])
  const choice = { type: 'allowed_tools', mode: 'auto', tools }
  expect(originalOf({ tools, tool_choice: choice })['tool_choice']).toEqual({
    ...choice,
    tools: [tool],
  })
})

test('items lose their ids, and images the detail that is not held for', () => {
  const image = { type: 'input_image', image_url: 'https://example.com/a.png' }
  const input = [
    {
      role: 'user',
      content: [
        { ...image, detail: 'original' },
        { type: 'text', text: 'a' },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'b' }] },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' },
    { type: 'function_call_output', id: 'fco_1', call_id: 'call_1', output: 'wet' },
  ]
  expect(originalOf({ input })['input']).toEqual([
    {
      role: 'user',
      content: [
        { ...image, detail: 'high' },
        { type: 'input_text', text: 'a' },
      ],
    },
    { role: 'assistant', content: [{ type: 'output_text', text: 'b' }] },
    { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'wet' },
  ])
})

test('so do results, and of a file only what is sent of it', () => {
  const image = { type: 'input_image', image_url: 'https://example.com/a.png' }
  const file = { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' }
  const beside = { file_url: 'https://example.com/a.pdf', file_id: 'file-1' }
  const seen = { type: 'function_call_output', call_id: 'call_1' }
  const input = [
    { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
    {
      ...seen,
      output: [
        { ...image, file_id: 'file-1', detail: 'original' },
        { type: 'text', text: 'wet' },
        { ...file, ...beside },
      ],
    },
    { role: 'user', content: [{ ...file, ...beside }] },
  ]
  expect(originalOf({ input })['input']).toEqual([
    input[0],
    { ...seen, output: [{ ...image, detail: 'high' }, { type: 'input_text', text: 'wet' }, file] },
    { role: 'user', content: [file] },
  ])
})

test('thoughts go back as OpenAI gave them, and those of others do not go', () => {
  const own = {
    type: 'reasoning.encrypted',
    format: 'openai-responses-v1',
    data: 'Z0FB',
    id: 'rs_9',
  }
  const signed = {
    type: 'reasoning.text',
    format: 'anthropic-claude-v1',
    text: 'a',
    signature: 'b',
  }
  const input = [
    { type: 'reasoning', id: 'rs_1', summary: [{ text: 'a' }], encrypted_content: 'gAAA' },
    { type: 'reasoning', id: 'rs_2', encrypted_content: packThoughts([own, signed]) },
    { type: 'reasoning', id: 'rs_3', summary: [] },
    { role: 'user', content: 'Hi.' },
  ]
  expect(originalOf({ input })['input']).toEqual([
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
    { type: 'reasoning', id: 'rs_9', summary: [], encrypted_content: 'Z0FB' },
    { role: 'user', content: 'Hi.' },
  ])
})
