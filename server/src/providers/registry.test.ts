import { expect, test } from 'bun:test'
import { toUpstreamChat } from './openai/request'
import { RelayOptions } from './provider'
import { providers } from './registry'
import { baseUrlVariable } from './define-provider'

const keys = providers.map(({ key }) => key)

test('a key names one provider and can stand before the slash of a model id', () => {
  expect(new Set(keys).size).toBe(keys.length)
  for (const key of keys) expect(key).toMatch(/^[a-z0-9][a-z0-9._-]{0,39}$/)
  // `collection/<name>` is a collection, whichever provider serves its models.
  expect(keys).not.toContain('collection')
})

test('every address is https and joins with a path', () => {
  for (const { baseUrl, variables } of providers) {
    if (baseUrl === null) continue
    const filled = Object.keys(variables).reduce(
      (url, name) => url.replace(`{${name}}`, name),
      baseUrl,
    )
    expect(new URL(filled).protocol).toBe('https:')
    expect(filled).not.toMatch(/[{}]|\/$/)
  }
})

test('a variable that makes a connection belongs to one provider', () => {
  const variables = providers.flatMap(({ key, keyVariables }) => [
    ...keyVariables,
    baseUrlVariable(key),
  ])
  expect(new Set(variables).size).toBe(variables.length)
  for (const variable of variables) expect(variable).toMatch(/^[A-Z][A-Z0-9_]*$/)
})

test('every provider with its own address has a variable for its key', () => {
  for (const { baseUrl, keyVariables } of providers) {
    expect(keyVariables.length > 0).toBe(baseUrl !== null)
  }
})

test('options are whole: parsed again, they are the same', () => {
  for (const { options } of providers) expect(RelayOptions.parse(options)).toEqual(options)
})

test('no field is dropped and renamed at once, and no name is given twice', () => {
  for (const { options } of providers) {
    for (const [from, to] of Object.entries(options.rename)) {
      expect(options.drop).not.toContain(from)
      expect(options.rename[to]).toBeUndefined()
    }
  }
})

test('the base URL of a provider can be replaced by its variable', () => {
  expect(baseUrlVariable('openai')).toBe('OPENAI_BASE_URL')
  expect(baseUrlVariable('azure-foundry')).toBe('AZURE_FOUNDRY_BASE_URL')
})

test.each(['mistral', 'groq'])(
  'fields for caching and style that only OpenAI accepts are not sent to %s, which rejects unknown fields',
  (key) => {
    const options = providers.find((provider) => provider.key === key)?.options
    if (!options) throw new Error(`no provider ${key}`)
    const chat = {
      messages: [],
      prompt_cache_key: 'a',
      prompt_cache_options: { ttl: '30m' },
      prompt_cache_retention: '24h',
      safety_identifier: 'b',
      verbosity: 'low',
    }
    const target = { upstreamModel: 'm', options }
    const taken = key === 'mistral' ? { prompt_cache_key: 'a' } : {}
    expect(toUpstreamChat(chat, target)).toEqual(toUpstreamChat({ messages: [], ...taken }, target))
  },
)

test('finding Q15: Mistral receives the key of its cache', () => {
  const options = providers.find(({ key }) => key === 'mistral')?.options
  if (!options) throw new Error('no Mistral')
  const chat = { messages: [], prompt_cache_key: 'session' }
  const target = { upstreamModel: 'm', options }
  expect(toUpstreamChat(chat, target)).toMatchObject({ prompt_cache_key: 'session' })
})
