import { expect, test } from 'bun:test'
import { getBedrockFamily } from './families'
import { loadBuiltInModels } from '../../catalog/built-in'
import { providers } from '../registry'

const served = loadBuiltInModels(providers).flatMap(({ provider, upstreamModel, capabilities }) =>
  provider === 'bedrock' ? [{ name: upstreamModel, capabilities }] : [],
)

test('every Claude of the catalogue is recognized on every platform, and no other model', () => {
  expect(served.length).toBeGreaterThan(100)
  for (const { name } of served) {
    expect({ name, isClaude: getBedrockFamily(name).claude !== undefined }).toEqual({
      name,
      isClaude: name.includes('claude'),
    })
  }
})

test('accepts reasoning effort for every reasoning model of the catalogue, except those without levels', () => {
  // Of Claude 3.7 its own API's table says nothing.
  const unasked = /claude-3-7|deepseek|qwen|gemma|minimax|kimi|nemotron|magistral|palmyra|grok|glm/
  for (const { name, capabilities } of served) {
    const { claude, thinking } = getBedrockFamily(name)
    const acceptsThinking = thinking !== 'none' || (claude?.thinking ?? 'none') !== 'none'
    if (capabilities.reasoning && !unasked.test(name))
      expect({ name, acceptsThinking }).toEqual({ name, acceptsThinking: true })
  }
})

test('names of nowhere are plain', () => {
  expect(
    getBedrockFamily('arn:aws:bedrock:us-east-1:1:application-inference-profile/ab12'),
  ).toEqual(getBedrockFamily('acme.one'))
})
