import { expect, test } from 'bun:test'
import { createPartsReader as createAnthropicReader } from './anthropic/parts'
import { createPartsReader } from './bedrock/parts'
import { sampleSource } from '../../testing/providers/samples'

const failure = 'too many open blocks'

test('Anthropic: at most a thousand blocks may stay open', () => {
  const read = createAnthropicReader(sampleSource)
  const open = (index: number) =>
    read(JSON.stringify({ type: 'content_block_start', index, content_block: { type: 'text' } }))
  for (let index = 0; index <= 1000; index++) open(index)
  expect(() => open(1001)).toThrow(failure)
})

test('Anthropic: blocks that end are as many as they like', () => {
  const read = createAnthropicReader(sampleSource)
  for (let index = 0; index < 3000; index++) {
    read(JSON.stringify({ type: 'content_block_start', index, content_block: { type: 'text' } }))
    expect(() => read(JSON.stringify({ type: 'content_block_stop', index }))).not.toThrow()
  }
})

test.each([
  ['texts', { text: 'a' }],
  ['thoughts', { reasoningContent: { text: 'a' } }],
])('Bedrock: at most a thousand %s may stay open', (_what, delta) => {
  const read = createPartsReader(sampleSource)
  const open = (contentBlockIndex: number) =>
    read(JSON.stringify({ contentBlockDelta: { contentBlockIndex, delta } }))
  for (let index = 0; index <= 1000; index++) open(index)
  expect(() => open(1001)).toThrow(failure)
})
