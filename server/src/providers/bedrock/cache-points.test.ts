import { expect, test } from 'bun:test'
import { bodyOf, sampleCall, sampleUser } from '../../../testing/providers/bedrock-samples'
import { sampleTool } from '../../../testing/providers/samples'

const marked = (text: string) => [{ type: 'text', text, cache_control: { type: 'ephemeral' } }]

test('finding P3: breakpoints on tools, calls and results stand behind each of them', () => {
  const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const chat = {
    tools: [sampleTool('look'), { ...sampleTool('book'), ...hour }],
    messages: [
      sampleUser('a'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [sampleCall('c1', 'look'), { ...sampleCall('c2', 'book'), ...hour }],
      },
      { role: 'tool', tool_call_id: 'c1', content: marked('d') },
      { role: 'tool', tool_call_id: 'c2', content: 'e' },
    ],
  }
  const { toolConfig, messages } = bodyOf(chat)
  const cachePoint = { type: 'default', ttl: '1h' }
  expect(toolConfig).toMatchObject({
    tools: [{ toolSpec: { name: 'look' } }, { toolSpec: { name: 'book' } }, { cachePoint }],
  })
  expect(messages).toEqual([
    { role: 'user', content: [{ text: 'a' }] },
    {
      role: 'assistant',
      content: [
        { toolUse: { toolUseId: 'c1', name: 'look', input: {} } },
        { toolUse: { toolUseId: 'c2', name: 'book', input: {} } },
        { cachePoint },
      ],
    },
    {
      role: 'user',
      content: [
        { toolResult: { toolUseId: 'c1', content: [{ text: 'd' }] } },
        { cachePoint: { type: 'default' } },
        { toolResult: { toolUseId: 'c2', content: [{ text: 'e' }] } },
      ],
    },
  ])
})

test.each([
  ['amazon.nova-pro-v1:0', 0, undefined],
  ['anthropic.claude-3-haiku-20240307-v1:0', 0, 0],
  ['anthropic.claude-3-5-sonnet-20240620-v1:0', 0, 0],
  ['anthropic.claude-sonnet-4-20250514-v1:0', 1, undefined],
  ['us.anthropic.claude-opus-4-1-20250805-v1:0', 1, undefined],
  ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 1, '1h'],
  ['global.anthropic.claude-opus-5-v1', 1, '1h'],
  ['meta.llama3-3-70b-instruct-v1:0', 0, 0],
])('%s receives its supported breakpoints', (model, ofTools, ttl) => {
  const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const chat = {
    tools: [{ ...sampleTool('look'), ...hour }],
    messages: [{ ...sampleUser('a'), ...hour }],
  }
  const { toolConfig, messages } = bodyOf(chat, model)
  const point = { cachePoint: { type: 'default', ...(ttl && { ttl }) } }
  const content = [{ text: 'a' }, ...(ttl === 0 ? [] : [point])]
  expect(messages).toEqual([{ role: 'user', content }])
  expect(JSON.stringify(toolConfig).includes('cachePoint')).toBe(ofTools === 1)
})
