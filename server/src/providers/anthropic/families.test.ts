import { expect, test } from 'bun:test'
import { getClaudeFamily } from './families'
import { loadBuiltInModels } from '../../catalog/built-in'
import { providers } from '../registry'

const models = loadBuiltInModels(providers).filter(({ provider }) => provider === 'anthropic')

test('every model of the catalogue has a family that writes as much as the catalogue says', () => {
  expect(models.length).toBeGreaterThan(10)
  for (const { upstreamModel, maxOutputTokens } of models) {
    expect([upstreamModel, getClaudeFamily(upstreamModel).maxOutput]).toEqual([
      upstreamModel,
      maxOutputTokens ?? undefined,
    ])
  }
})

test.each([
  ['claude-opus-4-20250514', 32_000, 'budget'],
  ['claude-opus-4-1-20250805', 32_000, 'budget'],
  ['claude-opus-4-5-20251101', 64_000, 'budget'],
  ['claude-sonnet-4@20250514', 64_000, 'budget'],
  ['us.anthropic.claude-opus-4-6-v1', 128_000, 'adaptive'],
  ['anthropic/claude-sonnet-4.5', 64_000, 'budget'],
  ['claude-3-7-sonnet-latest', 4096, 'none'],
  ['claude-mythos-7', 128_000, 'adaptive'],
  ['deepseek-v4', undefined, 'budget'],
])('%s writes %p tokens, and thinks by %s', (name, maxOutput, thinking) => {
  expect(getClaudeFamily(name)).toMatchObject({ thinking })
  expect(getClaudeFamily(name).maxOutput).toBe(maxOutput)
})
