import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { toAzureCall, toAzureCredential, toAzureTestCall, type AzureConnection } from './address'
import { ChatStream } from '../openai/chat-stream'
import { providers } from '../registry'
import { linesOf, sampleSource } from '../../../testing/providers/samples'
import { noUsage } from '../../wire/usage'
import { toCallerError } from '../upstream-error'

const host = 'https://res.openai.azure.com'
const foundry = 'https://res.services.ai.azure.com'
const gateway = 'https://gateway.example'

const urlOf = (connection: AzureConnection, operation: 'chat' | 'embeddings' | 'speech' = 'chat') =>
  toAzureCall(connection, operation, 'gpt-4o').url

describe('the address of a call', () => {
  test('transcriptions and translations have paths of their own, with the deployment as the model', () => {
    const connection = { baseUrl: host, apiVersion: '2025-01-01-preview' }
    expect(toAzureCall(connection, 'transcriptions', 'whisper')).toMatchObject({
      url: `${host}/openai/deployments/whisper/audio/transcriptions?api-version=2025-01-01-preview`,
      model: 'whisper',
    })
    const newer = { baseUrl: host, deployments: { whisper: 'ears' } }
    expect(toAzureCall(newer, 'translations', 'whisper')).toMatchObject({
      url: `${host}/openai/v1/audio/translations`,
      model: 'ears',
    })
  })

  test.each([
    [{ baseUrl: host }, `${host}/openai/v1/chat/completions`],
    [{ baseUrl: `${host}/openai/v1/` }, `${host}/openai/v1/chat/completions`],
    [
      { baseUrl: host, apiVersion: 'preview' },
      `${host}/openai/v1/chat/completions?api-version=preview`,
    ],
    [
      { baseUrl: host, apiVersion: '2025-01-01-preview' },
      `${host}/openai/deployments/gpt-4o/chat/completions?api-version=2025-01-01-preview`,
    ],
    [
      { baseUrl: `${host}/openai/deployments/mine` },
      `${host}/openai/deployments/mine/chat/completions?api-version=2024-10-21`,
    ],
    [
      { baseUrl: `${host}/openai/deployments/mine`, deployments: { 'gpt-4o': 'a b' } },
      `${host}/openai/deployments/a%20b/chat/completions?api-version=2024-10-21`,
    ],
    [{ baseUrl: foundry }, `${foundry}/models/chat/completions?api-version=2024-05-01-preview`],
    [
      { baseUrl: `${foundry}/models/`, apiVersion: '2025-04-01' },
      `${foundry}/models/chat/completions?api-version=2025-04-01`,
    ],
    [{ baseUrl: `${foundry}/openai/v1` }, `${foundry}/openai/v1/chat/completions`],
    // Behind a gateway of an organization's own.
    [{ baseUrl: `${gateway}/team/openai/v1` }, `${gateway}/team/openai/v1/chat/completions`],
    [{ baseUrl: `${gateway}/a/b/` }, `${gateway}/a/b/openai/v1/chat/completions`],
    [
      { baseUrl: `${gateway}/team`, apiVersion: '2025-01-01-preview' },
      `${gateway}/team/openai/deployments/gpt-4o/chat/completions?api-version=2025-01-01-preview`,
    ],
    [
      { baseUrl: `${gateway}/team/openai/deployments/mine` },
      `${gateway}/team/openai/deployments/mine/chat/completions?api-version=2024-10-21`,
    ],
    [
      { baseUrl: `${gateway}/team/models` },
      `${gateway}/team/models/chat/completions?api-version=2024-05-01-preview`,
    ],
  ])('%o', (connection, url) => expect(urlOf(connection)).toBe(url))

  test('embeddings and speech have the same address but for the end', () => {
    expect(urlOf({ baseUrl: host }, 'embeddings')).toBe(`${host}/openai/v1/embeddings`)
    expect(urlOf({ baseUrl: host }, 'speech')).toBe(`${host}/openai/v1/audio/speech`)
  })

  test('finding P5: a test of a connection goes by the same path', () => {
    expect(toAzureTestCall({ baseUrl: `${gateway}/team/openai/v1` }).url).toBe(
      `${gateway}/team/openai/v1/models`,
    )
  })

  test('a deployment stands for its model in the body too', () => {
    const connection = { baseUrl: host, deployments: { 'gpt-4o': 'prod-4o' } }
    expect(toAzureCall(connection, 'chat', 'gpt-4o')).toMatchObject({ model: 'prod-4o' })
    expect(toAzureCall(connection, 'chat', 'o3')).toMatchObject({ model: 'o3', dialect: 'openai' })
  })

  test('a Claude of Foundry’s has an address and a form of its own', () => {
    expect(toAzureCall({ baseUrl: foundry }, 'chat', 'claude-sonnet-4-5')).toEqual({
      url: `${foundry}/anthropic/v1/messages`,
      model: 'claude-sonnet-4-5',
      dialect: 'anthropic',
    })
  })
})

test('a key has a header of its own, a token of Entra is a bearer', () => {
  expect(toAzureCredential('0a1b', 'openai')).toEqual({ 'api-key': '0a1b' })
  expect(toAzureCredential('0a1b', 'anthropic')).toEqual({ 'x-api-key': '0a1b' })
  const token = 'eyJ0eXAi.eyJhdWQi.c2ln'
  expect(toAzureCredential(token, 'openai')).toEqual({ authorization: `Bearer ${token}` })
})

describe('relayed as OpenAI’s', () => {
  const options = providers.find(({ key }) => key === 'azure')?.options
  if (!options) throw new Error('There is no row for Azure.')
  const relayed = () => {
    const stream = new ChatStream({
      identity: {
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'azure/gpt-4o',
      },
      source: sampleSource,
      options,
      wantsUsage: true,
      legacyFunctions: false,
      newCallId: () => 'call_1',
      hiddenTokens: () => Infinity,
      estimate: () => ({ ...noUsage, estimated: true }),
    })
    const lines = linesOf(
      join(import.meta.dir, '../../../testing/golden/azure/filtered-chat.chunks.txt'),
    )
    const perEvent = lines.map((line) => stream.next(line))
    return { perEvent, end: stream.end(true), usage: stream.usage() }
  }

  test('the empty first chunk, and chunks after the finish, are dropped', () => {
    const { perEvent, end } = relayed()
    expect(perEvent.map((chunks) => chunks.length)).toEqual([0, 1, 1, 1, 0, 0])
    const chunks = [...perEvent.flat(), ...end].map((text): unknown => JSON.parse(text))
    expect(chunks).toMatchObject([
      { choices: [{ delta: { role: 'assistant', content: '' }, finish_reason: null }] },
      { choices: [{ delta: { content: 'Grüezi' }, finish_reason: null }] },
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 21, completion_tokens: 5, total_tokens: 26 } },
    ])
    // The base model's name and id are not what was asked for.
    const head = { id: 'chatcmpl-1', created: 1, model: 'azure/gpt-4o' }
    for (const chunk of chunks) expect(chunk).toMatchObject(head)
  })

  test('I11: its tokens are read', () => {
    expect(relayed().usage).toEqual({ ...noUsage, input: 21, output: 5 })
  })
})

const toApiError = (status: number, error: object, retryAfter: string | null = null) =>
  toCallerError({ status, body: { error }, retryAfter }, sampleSource)

describe('a refusal of Azure', () => {
  test('by its content filter is about the caller’s text', () => {
    const error = {
      message: 'The response was filtered due to the prompt triggering the policy.',
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: {} },
    }
    expect(toApiError(400, error)).toMatchObject({
      code: 'invalid_request',
      param: 'messages',
      details: { issue: 'content_filter' },
    })
  })

  test('for too many tokens says in words how long to wait', () => {
    const message =
      'Requests to the ChatCompletions_Create Operation have exceeded token rate limit. Please retry after 6 seconds.'
    expect(toApiError(429, { code: '429', message })).toMatchObject({
      code: 'provider_error',
      status: 503,
      retryAfterSeconds: 6,
    })
    expect(toApiError(429, { code: '429', message }, '9').retryAfterSeconds).toBe(9)
  })

  test('for a missing deployment is retried on another candidate', () => {
    const error = { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' }
    expect(toApiError(404, error)).toMatchObject({
      code: 'provider_error',
      status: 502,
      retryable: false,
    })
  })
})
