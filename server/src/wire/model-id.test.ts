import { expect, test } from 'bun:test'
import { isAllowedModel } from './model-id'

test.each<[string, string[] | null, boolean]>([
  ['openai/gpt-4o', null, true],
  ['openai/gpt-4o', ['openai/gpt-4o'], true],
  ['openai/gpt-4o-mini', ['openai/gpt-4o'], false],
  ['openai/gpt-4o', ['anthropic/*', 'openai/*'], true],
  ['openai/a/b', ['openai/*'], true],
  ['openai2/gpt-4o', ['openai/*'], false],
  // The star stands for a whole name only.
  ['openai/gpt-4o', ['openai/gpt-*'], false],
  ['openai/gpt-4o', [], false],
])('%s is in the allowed models %j: %p', (id, allowed, isAllowed) => {
  expect(isAllowedModel(id, allowed)).toBe(isAllowed)
})
