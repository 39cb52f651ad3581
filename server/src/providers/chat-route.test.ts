import { expect, test } from 'bun:test'
import { selectResponsesRoute } from './chat-route'
import type { ProviderRoute } from './provider-route'
import { providers } from './registry'

function lineOf(key: string, baseUrl: string | null = null): ProviderRoute {
  const provider = providers.find((one) => one.key === key)
  if (!provider) throw new Error(`There is no provider ${key}.`)
  return { provider, connection: { baseUrl, secret: 's', options: {} } }
}

const azure = 'https://r.openai.azure.com'
const wayOf = (line: ProviderRoute, model: string) =>
  selectResponsesRoute(line, model, { keepsId: false })

interface Row {
  what: string
  key: string
  baseUrl?: string
  model: string
}

test.each<Row>([
  { what: 'OpenAI', key: 'openai', model: 'gpt-6-astra' },
  { what: 'OpenAI, a model that nobody knows', key: 'openai', model: 'made-up-next-year' },
  { what: 'Azure’s newer surface', key: 'azure', baseUrl: `${azure}/openai/v1`, model: 'gpt-4.1' },
])('$what is asked in the format of the caller', ({ key, baseUrl, model }) => {
  const way = wayOf(lineOf(key, baseUrl), model)
  expect([way?.operation, way?.adapter?.own?.format]).toEqual(['responses', 'responses'])
})

test.each<Row>([
  { what: 'a model that hears', key: 'openai', model: 'gpt-audio' },
  {
    what: 'Azure’s classic surface',
    key: 'azure',
    baseUrl: `${azure}/openai/deployments/a`,
    model: 'gpt-4.1',
  },
  {
    what: 'a model of another maker on Azure',
    key: 'azure',
    baseUrl: `${azure}/openai/v1`,
    model: 'DeepSeek-V3.1',
  },
  { what: 'a provider that only chats', key: 'deepseek', model: 'deepseek-chat' },
  { what: 'Anthropic', key: 'anthropic', model: 'claude-sonnet-4-6' },
])('$what is not', ({ key, baseUrl, model }) => {
  expect(wayOf(lineOf(key, baseUrl), model)).toBeUndefined()
})
