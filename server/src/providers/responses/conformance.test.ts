import { expect, test } from 'bun:test'
import { join } from 'node:path'
import * as fc from '../../../testing/property'
import { responses } from '.'
import { answers, recordings } from '../../../testing/golden/responses/answers'
import { requests } from '../../../testing/golden/responses/requests'
import { toInput } from './input'
import { describeAdapter, type ErrorRow } from '../../../testing/conformance/conformance'
import { anyHistory, linesOf, sampleChat } from '../../../testing/providers/samples'

const refused = (status: number, fields: object = {}) => ({
  title: `errors: ${status} ${JSON.stringify(fields)}`,
  status,
  body: {
    error: { message: 'No.', type: 'invalid_request_error', param: null, code: null, ...fields },
  },
})
const rejected = { code: 'invalid_request', status: 400, param: null, message: 'No.' } as const
const terminal = { code: 'provider_error', status: 502, retryable: false } as const

const errors: ErrorRow[] = [
  ...[400, 413, 422].map((status) => ({ ...refused(status), error: rejected })),
  ...[401, 402, 403, 404, 408, 409].map((status) => ({
    ...refused(status),
    error: terminal,
  })),
  ...[500, 502, 504].map((status) => ({
    ...refused(status),
    error: { ...terminal, retryable: true },
  })),
  ...[429, 503].map((status) => ({
    ...refused(status),
    retryAfter: '4',
    error: { code: 'provider_error', status: 503, retryAfterSeconds: 4 } as const,
  })),
  { ...refused(429, { code: 'insufficient_quota' }), error: terminal },
  {
    ...refused(400, { param: 'input[3].content', message: 'Bad content.' }),
    error: { code: 'invalid_request', param: 'messages' },
  },
  {
    ...refused(400, { param: 'max_output_tokens', message: 'Too small.' }),
    error: { code: 'invalid_request', param: 'max_tokens' },
  },
  {
    ...refused(400, { param: 'tools[0].name' }),
    error: { code: 'invalid_request', param: 'tools[0].name' },
  },
  { ...refused(400, { param: 'text.format.schema' }), error: rejected },
  { ...refused(400, { param: 'reasoning.effort' }), error: rejected },
  {
    ...refused(400, { code: 'context_length_exceeded', param: 'input' }),
    error: { code: 'context_length_exceeded', param: 'messages' },
  },
]

describeAdapter('responses', {
  adapter: responses,
  target: {
    upstreamModel: 'gpt-6-astra',
    maxTokens: 1000,
    capabilities: { reasoning: true, tools: true, vision: true, jsonSchema: true },
  },
  requests,
  answers: [
    ...answers,
    {
      title: 'tools, reasoning: two calls, one whole at its end, thoughts that come back',
      events: linesOf(
        join(import.meta.dir, '../../../testing/golden/responses/thinking-calls.chunks.txt'),
      ),
      message: {
        reasoning_content: '**Looking**\n\nIn Zürich.',
        reasoning_details: [
          {
            type: 'reasoning.encrypted',
            data: 'Z0FBQUFCcQ==',
            id: 'rs_1',
            format: 'openai-responses-v1',
            index: 0,
          },
        ],
        tool_calls: [
          {
            id: 'call_A',
            type: 'function',
            function: { name: 'weather', arguments: '{"city":"Zürich"}' },
          },
          {
            id: 'call_B',
            type: 'function',
            function: { name: 'now', arguments: '{"zone":"CET"}' },
          },
        ],
      },
      finish: 'tool_calls',
      usage: { input: 20, cachedInput: 100, output: 26, reasoning: 64 },
    },
  ],
  errors,
  recordings,
})

const writing = { sendsThoughts: true, omit: () => undefined }

test('any history gives a call before every output, by an accepted id', () => {
  const property = fc.property(anyHistory, (history) => {
    const calls = new Set<unknown>()
    for (const item of toInput(sampleChat({ messages: history }), writing)) {
      const { type, call_id: id, content } = item
      if (type === 'function_call') calls.add(id)
      if (type === 'function_call_output') expect(calls.has(id)).toBeTrue()
      if (type === undefined) expect(content).not.toHaveLength(0)
      else expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      expect(JSON.stringify(item)).not.toContain('__thought__')
    }
  })
  fc.assert(property, { numRuns: 300 })
})

test('thoughts that cannot be read are recognised by the words', () => {
  const body = { error: { code: 'invalid_encrypted_content', message: 'The encrypted content…' } }
  expect(responses.refusesSignatures({ status: 400, body })).toBeTrue()
  expect(responses.refusesSignatures({ status: 500, body })).toBeFalse()
  expect(
    responses.refusesSignatures({ status: 400, body: { error: { message: 'No.' } } }),
  ).toBeFalse()
})
