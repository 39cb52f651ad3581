import { describe, expect, test } from 'bun:test'
import { getIdentifierFields, type IdentifierField } from './identifier-fields'
import type { IdentifierFormat } from './identifier-fields'
import { openAiOnly } from './define-provider'
import { providers } from './registry'

const formats: readonly IdentifierFormat[] = ['chat', 'completions', 'embeddings', 'responses']

const fieldsOf = (key: string, format: IdentifierFormat, [model = 'm', url]: string[] = []) => {
  const provider = providers.find((one) => one.key === key)
  if (!provider) throw new Error(`no provider ${key}`)
  const route = { provider, model: { upstreamModel: model }, connection: { options: {} } }
  return getIdentifierFields(route, format, url)
}

/** What each provider documents: the fields of a chat, a legacy completion, embeddings, a Response. */
const documented: Record<string, string> = {
  openai: 'safety_identifier prompt_cache_key | user | user | safety_identifier prompt_cache_key',
  mistral: 'prompt_cache_key | | | ',
  xai: 'user | user | | ',
  deepseek: 'user_id | | | ',
  moonshot: 'safety_identifier prompt_cache_key | | | ',
  zai: 'user_id | | | ',
  groq: 'user | | | ',
  fireworks: 'user prompt_cache_isolation_key | user prompt_cache_isolation_key | | ',
  openrouter: 'user | user | | ',
  cerebras: 'user | user | | ',
  deepinfra: 'user | user | | ',
}

describe('finding S26: a provider receives only the identifiers that it documents', () => {
  test.each(providers.filter(({ key }) => key !== 'azure').map(({ key }) => key))('%s', (key) => {
    const lists = (documented[key] ?? ' | | | ').split('|').map((list) => list.trim())
    expect(formats.map((format) => fieldsOf(key, format).join(' '))).toEqual(lists)
  })

  test('azure, for OpenAI’s models, and its older surfaces the older one', () => {
    const v1 = 'https://a.openai.azure.com/openai/v1/chat/completions'
    const classic = 'https://a.openai.azure.com/openai/deployments/d/chat/completions?api-version=1'
    expect(fieldsOf('azure', 'chat', ['gpt-5', v1])).toEqual(['user', 'prompt_cache_key'])
    expect(fieldsOf('azure', 'responses', ['gpt-4o', v1])).toEqual(['user', 'prompt_cache_key'])
    expect(fieldsOf('azure', 'chat', ['gpt-35-turbo', classic])).toEqual(['user'])
    expect(fieldsOf('azure', 'embeddings', ['text-embedding-3-small', v1])).toEqual(['user'])
    expect(fieldsOf('azure', 'chat', ['DeepSeek-V3', v1])).toEqual([])
    expect(fieldsOf('azure', 'chat', ['gpt-oss-120b', v1])).toEqual([])
    expect(fieldsOf('azure-foundry', 'chat', ['gpt-4o', v1])).toEqual([])
  })

  test('no identifier that it is known to reject', () => {
    for (const { key, options } of providers) {
      const all: readonly IdentifierField[] = formats.flatMap(
        (format) => options.identifiers[format] ?? [],
      )
      expect([key, all.filter((field) => options.drop.includes(field))]).toEqual([key, []])
    }
    expect(openAiOnly).toContain('prompt_cache_key')
  })

  test('an operator declares the fields of an engine', () => {
    const [provider] = providers.filter(({ key }) => key === 'custom')
    if (!provider) throw new Error('no custom provider')
    const connection = { options: { identifiers: ['cache_salt'] as const } }
    const route = { provider, model: { upstreamModel: 'm' }, connection }
    expect(getIdentifierFields(route, 'chat', undefined)).toEqual(['cache_salt'])
    expect(getIdentifierFields(route, 'completions', undefined)).toEqual(['cache_salt'])
    expect(getIdentifierFields(route, 'embeddings', undefined)).toEqual([])
  })
})
