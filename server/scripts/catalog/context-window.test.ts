import { expect, test } from 'bun:test'
import { withLongestPrompt } from './context-window'
import type { CatalogEntryRow } from '../../src/catalog/catalog-file'

const entryOf = (id: string, lengths: Partial<CatalogEntryRow>): CatalogEntryRow => ({
  id,
  name: id,
  category: 'chat',
  input: ['text'],
  output: ['text'],
  capabilities: [],
  created: 0,
  ...lengths,
})

const answer = { max_output_tokens: 128_000 }

interface Row {
  id: string
  stated: number
  context: number
  prompt: number
}

test.each<Row>([
  { id: 'openai/gpt-5-2025-08-07', stated: 272_000, context: 400_000, prompt: 272_000 },
  { id: 'openai/gpt-5', stated: 400_000, context: 400_000, prompt: 272_000 },
  { id: 'azure/gpt-5.6-sol-2026-07-09', stated: 922_000, context: 1_050_000, prompt: 922_000 },
  { id: 'bedrock/us.openai.gpt-5.6-sol', stated: 922_000, context: 1_050_000, prompt: 922_000 },
  { id: 'openrouter/openai/gpt-6.1-sol', stated: 1_050_000, context: 1_050_000, prompt: 922_000 },
])(
  'finding D9: $id with a length of $stated has a context of $context and prompts of $prompt',
  ({ id, stated, context, prompt }) => {
    const entry = withLongestPrompt(entryOf(id, { context_length: stated, ...answer }))
    expect(entry).toMatchObject({ context_length: context, max_input_tokens: prompt, ...answer })
  },
)

test.each([
  ['openai/gpt-5-chat-latest', { context_length: 128_000, max_output_tokens: 16_384 }],
  ['openai/gpt-4.1', { context_length: 1_047_576, max_output_tokens: 32_768 }],
  ['groq/openai/gpt-oss-120b', { context_length: 272_000, ...answer }],
  ['mistral/codestral-2508', { context_length: 400_000, ...answer }],
  ['openai/gpt-5.5-cyber', {}],
])('%s keeps its lengths', (id, lengths) => {
  const entry = entryOf(id, lengths)
  expect(withLongestPrompt(entry)).toBe(entry)
})
