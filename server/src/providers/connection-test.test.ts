import { expect, test } from 'bun:test'
import { createConnectionTest } from './connection-test'
import { providers } from './registry'
import type { ConnectionOptions } from './connection-options'

const providerOf = (key: string) => {
  const provider = providers.find((one) => one.key === key)
  if (!provider) throw new Error(`no provider ${key}`)
  return provider
}

const testOf = (key: string, baseUrl: string | null, options: ConnectionOptions = {}) =>
  createConnectionTest({ provider: providerOf(key), connection: { baseUrl, secret: 'x', options } })

const region = 'https://bedrock-runtime.eu-west-1.amazonaws.com'

test('lists the models of every provider of the OpenAI format', () => {
  const { method, url, judge } = testOf('openai', 'https://api.example.com/v1')
  expect([method, url]).toEqual(['GET', 'https://api.example.com/v1/models'])
  const body = { data: [{ id: 'a' }, { name: 'models/b' }, { other: 1 }] }
  const models = ['a', 'b']
  expect(judge({ status: 200, body })).toMatchObject({ models })
  expect(judge({ status: 200, body: { error: 'x' } })).toBeUndefined()
  expect(judge({ status: 401, body })).toBeUndefined()
})

test('ElevenLabs lists models by their ids, and Deepgram the projects of a key', () => {
  const elevenLabs = testOf('elevenlabs', null)
  expect(elevenLabs.url).toBe('https://api.elevenlabs.io/v1/models')
  const body = [{ model_id: 'eleven_v3', name: 'Eleven v3' }]
  expect(elevenLabs.judge({ status: 200, body })).toMatchObject({ models: ['eleven_v3'] })
  const deepgram = testOf('deepgram', null)
  expect(deepgram.url).toBe('https://api.deepgram.com/v1/projects')
  expect(deepgram.judge({ status: 200, body: { projects: [] } })).toMatchObject({ models: [] })
  expect(deepgram.judge({ status: 401, body: { err_code: 'INVALID_AUTH' } })).toBeUndefined()
})

test('Black Forest Labs reports the credits of a key', () => {
  const { url, judge } = testOf('bfl', null)
  expect(url).toBe('https://api.bfl.ai/v1/credits')
  expect(judge({ status: 200, body: { credits: 12.5 } })).toMatchObject({ models: [] })
  expect(judge({ status: 403, body: { detail: 'Not authenticated' } })).toBeUndefined()
})

test('Stability reports the balance of a key', () => {
  const { url, judge } = testOf('stability', null)
  expect(url).toBe('https://api.stability.ai/v1/user/balance')
  expect(judge({ status: 200, body: { credits: 1 } })).toMatchObject({ models: [] })
  expect(judge({ status: 401, body: { message: 'missing authorization header' } })).toBeUndefined()
})

test('a test of every provider goes to the host of its connection, or of its region', () => {
  for (const { key } of providers) {
    const { url } = testOf(key, 'https://one.example/v1')
    expect([key, new URL(url).origin]).toEqual([key, 'https://one.example'])
  }
})

test('Bedrock lists the models of its region; a model that requires an inference profile has no call by its own name', () => {
  const { method, url, judge } = testOf('bedrock', region)
  expect([method, url]).toEqual([
    'GET',
    'https://bedrock.eu-west-1.amazonaws.com/foundation-models',
  ])
  const modelSummaries = [
    { modelId: 'amazon.nova-lite-v1:0', inferenceTypesSupported: ['ON_DEMAND'] },
    { modelId: 'anthropic.claude-x', inferenceTypesSupported: ['INFERENCE_PROFILE'] },
    { modelId: 'some.other' },
    'odd',
  ]
  expect(judge({ status: 200, body: { modelSummaries } })).toEqual({
    message: 'Amazon Bedrock lists 2 models.',
    models: ['amazon.nova-lite-v1:0', 'some.other'],
  })
})

test.each([
  ['User: x is not authorized to perform: bedrock:ListFoundationModels', true],
  ['User: x is not authorized to perform: bedrock:CallWithBearerToken', false],
  ['The security token included in the request is invalid.', false],
])('Bedrock names the account at fault for "%s"', (message, isAccepted) => {
  const verdict = testOf('bedrock', region).judge({ status: 403, body: { message } })
  expect(verdict?.models).toEqual(isAccepted ? [] : undefined)
})

test.each([
  [400, { message: 'The provided model identifier is invalid.' }, true],
  [403, { Message: 'x is not authorized to perform: bedrock:InvokeModel on resource: y' }, true],
  [403, { message: 'The security token included in the request is invalid.' }, false],
  [400, undefined, false],
  [404, { message: 'UnknownOperationException' }, false],
  [200, {}, false],
])('Bedrock at a custom address: %d %j', (status, body, isAccepted) => {
  const { method, url, judge } = testOf('bedrock', 'https://bedrock.example.com')
  expect([method, new URL(url).pathname]).toEqual(['POST', '/model/none.such-v1%3A0/converse'])
  expect(judge({ status, body }) !== undefined).toBe(isAccepted)
})

const vertex = 'https://aiplatform.googleapis.com/v1/projects/p/locations/global'
const missing = { code: 404, status: 'NOT_FOUND', message: 'Publisher Model `x` was not found.' }

test.each([
  [200, { totalTokens: 1 }, true],
  [404, { error: missing }, true],
  [404, undefined, false],
  [200, { candidates: [] }, false],
  [403, { error: { message: 'Permission denied on resource project p.' } }, false],
])('Vertex AI counts the tokens of a word: %d %j', (status, body, isAccepted) => {
  const { method, url, judge } = testOf('vertex', vertex)
  const path = '/publishers/google/models/gemini-2.5-flash:countTokens'
  expect([method, url]).toEqual(['POST', `${vertex}${path}`])
  expect(judge({ status, body }) !== undefined).toBe(isAccepted)
})

const resource = 'https://r.openai.azure.com'

test('Azure lists models at the v1 API; at the dated one the configured deployments', () => {
  const list = { status: 200, body: { data: [{ id: 'gpt-4o-2024-08-06' }] } }
  const newer = testOf('azure', `${resource}/openai/v1`)
  expect(newer.url).toBe(`${resource}/openai/v1/models`)
  expect(newer.judge(list)?.models).toEqual(['gpt-4o-2024-08-06'])
  const deployments = { 'gpt-4o': 'mine' }
  const dated = testOf('azure', resource, { api_version: '2024-10-21', deployments })
  expect(dated.url).toBe(`${resource}/openai/models?api-version=2024-10-21`)
  expect(dated.judge(list)).toEqual({
    message: expect.stringContaining('options name 1.'),
    models: ['gpt-4o'],
  })
  expect(dated.judge({ status: 401, body: { error: {} } })).toBeUndefined()
  expect(dated.judge({ status: 404, body: { error: {} } })).toBeUndefined()
})

test('Foundry names a model, or requires one', () => {
  const { url, judge } = testOf('azure-foundry', 'https://r.services.ai.azure.com/models')
  expect(url).toBe('https://r.services.ai.azure.com/models/info?api-version=2024-05-01-preview')
  const error = { code: 'unknown_model', message: 'Unknown model.' }
  for (const status of [200, 400, 404]) expect(judge({ status, body: { error } })).toBeDefined()
  expect(judge({ status: 401, body: { error } })).toBeUndefined()
  expect(judge({ status: 404, body: undefined })).toBeUndefined()
})
