import { expect, test } from 'bun:test'
import { responsesWayOf } from './chat-way'
import type { Line } from './line'
import { providers } from './registry'

function lineOf(key: string, baseUrl: string | null = null): Line {
  const provider = providers.find((one) => one.key === key)
  if (!provider) throw new Error(`There is no provider ${key}.`)
  return { provider, connection: { baseUrl, secret: 's', options: {} } }
}

const azure = 'https://r.openai.azure.com'
const wayOf = (line: Line, model: string) => responsesWayOf(line, model, { keepsId: false })

test.each<[string, string, string | null, string]>([
  ['OpenAI', 'openai', null, 'gpt-6-astra'],
  ['OpenAI, a model that nobody knows', 'openai', null, 'made-up-next-year'],
  ['Azure’s newer surface', 'azure', `${azure}/openai/v1`, 'gpt-4.1'],
])('%s is asked in the format of the caller', (_what, key, baseUrl, model) => {
  const way = wayOf(lineOf(key, baseUrl), model)
  expect([way?.operation, way?.adapter?.own?.format]).toEqual(['responses', 'responses'])
})

test.each<[string, string, string | null, string]>([
  ['a model that hears', 'openai', null, 'gpt-audio'],
  ['Azure’s classic surface', 'azure', `${azure}/openai/deployments/a`, 'gpt-4.1'],
  ['a model of another maker on Azure', 'azure', `${azure}/openai/v1`, 'DeepSeek-V3.1'],
  ['a Claude on Azure', 'azure', `${azure}/openai/v1`, 'claude-sonnet-4-6'],
  ['a provider that only chats', 'deepseek', null, 'deepseek-chat'],
  ['Anthropic', 'anthropic', null, 'claude-sonnet-4-6'],
])('%s is not', (_what, key, baseUrl, model) => {
  expect(wayOf(lineOf(key, baseUrl), model)).toBeUndefined()
})
