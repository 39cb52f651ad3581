import { expect, test } from 'bun:test'
import { selectChatRoute } from './chat-route'
import type { ProviderRoute } from './provider-route'
import { providers } from './registry'

function lineOf(key: string, baseUrl: string | null = null): ProviderRoute {
  const provider = providers.find((one) => one.key === key)
  if (!provider) throw new Error(`There is no provider ${key}.`)
  return { provider, connection: { baseUrl, secret: 's', options: {} } }
}

const azure = 'https://r.openai.azure.com'
const routeOf = (line: ProviderRoute, model: string) =>
  selectChatRoute(line, model, { chat: {}, native: { format: 'responses', keepsId: false } })

interface Row {
  what: string
  key: string
  baseUrl?: string
  model: string
}

test.each<Row>([
  { what: 'OpenAI', key: 'openai', model: 'gpt-6-astra' },
  { what: 'OpenAI, an unknown model', key: 'openai', model: 'made-up-next-year' },
  { what: 'Azure’s newer surface', key: 'azure', baseUrl: `${azure}/openai/v1`, model: 'gpt-4.1' },
])('passes a request for a Response through to $what', ({ key, baseUrl, model }) => {
  const route = routeOf(lineOf(key, baseUrl), model)
  expect(route).toMatchObject({
    protocol: 'passthrough',
    passthrough: { format: 'responses' },
    operation: 'responses',
  })
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
])('does not pass a request for a Response unchanged to $what', ({ key, baseUrl, model }) => {
  expect(routeOf(lineOf(key, baseUrl), model).protocol).not.toBe('passthrough')
})

test('passes a request in the Messages format through to Anthropic only', () => {
  const native = { format: 'messages', keepsId: false } as const
  const protocolAt = (key: string, model: string) =>
    selectChatRoute(lineOf(key), model, { chat: {}, native }).protocol
  expect(protocolAt('anthropic', 'claude-sonnet-4-6')).toBe('passthrough')
  expect(protocolAt('openai', 'gpt-4.1')).toBe('relay')
  expect(protocolAt('google', 'gemini-2.5-flash')).toBe('translate')
})

const routeOfChat = (line: ProviderRoute, model: string) =>
  selectChatRoute(line, model, { chat: {}, native: undefined })

test('finding D10: a chat for a model that takes Responses alone is translated, without tools too', () => {
  const translated = { protocol: 'translate', operation: 'responses' }
  expect(routeOfChat(lineOf('openai'), 'gpt-5.5-pro')).toMatchObject(translated)
  expect(routeOfChat(lineOf('azure', `${azure}/openai/v1`), 'gpt-5-codex')).toMatchObject(
    translated,
  )
  expect(routeOfChat(lineOf('openai'), 'gpt-5.5')).toMatchObject({ protocol: 'relay' })
  // Another provider's model of such a name is its own.
  expect(routeOfChat(lineOf('deepseek'), 'gpt-5.5-pro')).toMatchObject({ protocol: 'relay' })
})
