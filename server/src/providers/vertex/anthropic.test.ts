import { expect, test } from 'bun:test'
import { anthropicOnVertex } from './anthropic'
import { anthropic } from '../anthropic'
import { chatOf, target } from '../../../testing/providers/google-chat'
import type { JsonObject } from '../../wire/json-body'
import { invalidAnswer, toCallerError, type ErrorSource } from '../upstream-error'
import type { Adapter, AdapterTarget } from '../adapter'

const source: ErrorSource = {
  provider: 'vertex',
  secret: null,
  textField: 'messages',
  wasSent: () => false,
  contextLength: null,
  maxOutputTokens: null,
}
const targets: AdapterTarget[] = []
const inner = (body: JsonObject, headers?: Record<string, string>): Adapter => ({
  framing: 'sse',
  request(_chat, target) {
    targets.push(target)
    return { path: '/v1/messages', ...(headers && { headers }), body }
  },
  reader: () => (data) => [{ type: 'text', text: data }],
  toError: toCallerError,
})
const model = 'claude-sonnet-4-5@20250929'

test('the model moves into the path, the version into the body', () => {
  const adapter = anthropicOnVertex(
    inner(
      { model, max_tokens: 9, messages: [], stream: true },
      { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'x-1' },
    ),
  )
  expect(adapter.request(chatOf({}), target(`anthropic/${model}`))).toEqual({
    path: `/publishers/anthropic/models/${model}:streamRawPredict`,
    headers: { 'anthropic-beta': 'x-1' },
    body: {
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 9,
      messages: [],
      stream: true,
    },
  })
  // The families are known by the bare name.
  expect(targets.at(-1)?.upstreamModel).toBe(model)
})

test('without a stream it is another verb', () => {
  const { path, headers } = anthropicOnVertex(inner({ model })).request(chatOf({}), target(model))
  expect(path).toBe(`/publishers/anthropic/models/${model}:rawPredict`)
  expect(headers).toBeUndefined()
})

test('images by address are fetched for it, and go as data', () => {
  const url = 'https://one.example/a.png'
  const content = [
    { type: 'text', text: 'What is it?' },
    { type: 'image_url', image_url: { url } },
  ]
  const chat = chatOf({ messages: [{ role: 'user', content }] })
  const adapter = anthropicOnVertex(anthropic)
  expect(adapter.addresses?.(chat)).toEqual([url])
  const media = new Map([[url, { mimeType: 'image/png', base64: 'AAAA' }]])
  const { body } = adapter.request(chat, target(model, { media }))
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
  expect(body['messages']).toEqual([
    { role: 'user', content: [content[0], { type: 'image', source }] },
  ])
})

test('answers are read as Anthropic’s', () => {
  expect(anthropicOnVertex(inner({})).reader(source)('x')).toEqual([{ type: 'text', text: 'x' }])
})

test('a refusal is read as of whom it is', () => {
  const refusing = { ...inner({}), toError: () => invalidAnswer('vertex', 'what Anthropic said') }
  const tell = (body: unknown) => anthropicOnVertex(refusing).toError({ status: 400, body }, source)
  const google = { code: 400, status: 'INVALID_ARGUMENT', message: 'API key not valid. Pass one.' }
  expect(tell({ error: google }).cause).toMatchObject({ status: 401 })
  expect(tell([{ error: google }]).cause).toMatchObject({ status: 401 })
  const error = { type: 'invalid_request_error', message: 'prompt is too long' }
  expect(tell({ type: 'error', error }).message).toContain('what Anthropic said')
})
