import { expect, test } from 'bun:test'
import { adapterOf, embeddingAdapterOf } from './adapters'
import { dialects } from './provider'
import { providers } from './registry'

test('every dialect is relayed, answered in the process, or has an adapter', () => {
  const without = dialects.filter((dialect) => !adapterOf({ dialect }))
  // The last two decide by the model: see chat-route.ts.
  expect(without).toEqual(['openai', 'sandbox', 'vertex', 'azure'])
})

test('every provider with its own embeddings format has an adapter for it', () => {
  const translated = providers.filter(
    (provider) => adapterOf(provider) && provider.embeddings !== 'no',
  )
  expect(translated.map(({ key }) => key).toSorted()).toEqual(['bedrock', 'cohere', 'google'])
  for (const provider of translated) expect(embeddingAdapterOf(provider)).toBeDefined()
})
