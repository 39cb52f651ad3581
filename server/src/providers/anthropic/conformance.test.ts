import { expect, test } from 'bun:test'
import { anthropic } from '.'
import { answers } from '../../../testing/golden/anthropic/answers'
import { mediaRequests } from '../../../testing/golden/anthropic/media-requests'
import { oddAnswers } from '../../../testing/golden/anthropic/oddities'
import { reasoningAndShapeRequests } from '../../../testing/golden/anthropic/reasoning-requests'
import { textRequests } from '../../../testing/golden/anthropic/text-requests'
import { toolRequests } from '../../../testing/golden/anthropic/tool-requests'
import { usageAnswers } from '../../../testing/golden/anthropic/usage'
import { describeAdapter, type ErrorRow } from '../../../testing/conformance/conformance'
import { isObject } from '../../wire/json-body'
import { toPlainChat } from '../../wire/plain-chat'

const target = {
  upstreamModel: 'claude-sonnet-4-5',
  maxTokens: 10_000,
  capabilities: { reasoning: true, tools: true, vision: true, jsonSchema: true },
}

const failure = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011C',
})
const refused = (status: number, type: string, message = 'No.') => ({
  title: `errors: ${status} ${type}`,
  status,
  body: failure(type, message),
})
const rejected = { code: 'invalid_request', status: 400, param: null, message: 'No.' } as const
const terminal = { code: 'provider_error', status: 502, retryable: false } as const
const busy = { code: 'provider_error', status: 503, retryable: true } as const

const errors: ErrorRow[] = [
  { ...refused(400, 'invalid_request_error'), error: rejected },
  {
    ...refused(400, 'invalid_request_error', 'temperature: range: 0..1'),
    title: 'errors: a field that the caller sent',
    error: { code: 'invalid_request', status: 400, param: 'temperature' },
  },
  {
    ...refused(400, 'invalid_request_error', 'messages.3: tool_use ids were found without results'),
    title: 'errors: a message that the caller sent',
    error: { code: 'invalid_request', status: 400, param: 'messages' },
  },
  {
    ...refused(400, 'invalid_request_error', 'metadata.user_id: too long'),
    title: 'errors: a field that is ours',
    error: { ...rejected, message: 'metadata.user_id: too long' },
  },
  {
    ...refused(400, 'invalid_request_error', 'prompt is too long: 205000 tokens > 200000 maximum'),
    title: 'errors: context length',
    error: {
      code: 'context_length_exceeded',
      message:
        "This model's maximum context length is 200000 tokens. prompt is too long: 205000 tokens > 200000 maximum",
      details: { max_context: 200_000, requested: 205_000 },
    },
  },
  {
    ...refused(
      400,
      'invalid_request_error',
      'max_tokens: 90000 > 64000, which is the maximum allowed number of output tokens',
    ),
    title: 'errors: output cap',
    error: {
      code: 'max_tokens_exceeded',
      param: 'max_tokens',
      details: { max_allowed: 64_000, requested: 90_000 },
    },
  },
  {
    ...refused(401, 'authentication_error', 'invalid x-api-key sk-conformance-0123456789'),
    error: terminal,
  },
  { ...refused(402, 'billing_error'), error: terminal },
  { ...refused(400, 'billing_error'), error: terminal },
  { ...refused(403, 'permission_error'), error: terminal },
  { ...refused(404, 'not_found_error', 'model: claude-nothing'), error: terminal },
  { ...refused(408, 'timeout_error'), error: terminal },
  { ...refused(409, 'conflict_error'), error: terminal },
  { ...refused(413, 'request_too_large'), error: rejected },
  {
    ...refused(429, 'rate_limit_error', 'This would exceed your rate limit.'),
    retryAfter: '17',
    error: { ...busy, retryAfterSeconds: 17 },
  },
  { ...refused(422, 'invalid_request_error'), error: rejected },
  {
    ...refused(400, 'invalid_request_error', 'Output blocked by content filtering policy'),
    title: 'finding C6: errors: its content filter',
    error: { code: 'invalid_request', param: 'messages', details: { issue: 'content_filter' } },
  },
  {
    ...refused(
      400,
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.',
    ),
    title: 'errors: an empty account',
    error: { ...terminal, cause: { status: 402 } },
  },
  {
    ...refused(429, 'rate_limit_error', 'Try again.'),
    title: 'errors: 429 without saying when',
    error: { ...busy, retryAfterSeconds: undefined },
  },
  { title: 'errors: an empty body', status: 500, body: '', error: { ...busy, status: 502 } },
  { ...refused(500, 'api_error'), error: { ...busy, status: 502 } },
  {
    title: 'errors: 502 HTML',
    status: 502,
    body: '<html>Bad Gateway</html>',
    error: { ...busy, status: 502 },
  },
  { ...refused(503, 'api_error'), error: busy },
  { ...refused(504, 'timeout_error'), error: { ...busy, status: 502 } },
  { ...refused(529, 'overloaded_error', 'Overloaded'), error: busy },
]

describeAdapter('anthropic', {
  adapter: anthropic,
  target,
  requests: [...textRequests, ...toolRequests, ...mediaRequests, ...reasoningAndShapeRequests],
  answers: [...answers, ...usageAnswers, ...oddAnswers],
  errors,
  recordings: [
    {
      file: 'anthropic-text.chunks.txt',
      message: {
        content:
          "Hello! I'm doing well, thank you for asking. How are you doing today? Is there anything I can help you with?",
      },
      usage: { input: 12, output: 30 },
    },
    {
      file: 'anthropic-tool-no-args.chunks.txt',
      message: {
        content: "I'll update the issue list for you.",
        tool_calls: [
          {
            id: 'toolu_01QE1WLsSVp5hy5Q3GmGTmjP',
            type: 'function',
            function: { name: 'updateIssueList', arguments: '{}' },
          },
        ],
      },
      finish: 'tool_calls',
      usage: { input: 565, output: 48 },
    },
    {
      file: 'anthropic-json-tool.1.chunks.txt',
      message: {
        tool_calls: [
          {
            id: 'toolu_01KFbKqPYSuAKujiL6mTfzYA',
            type: 'function',
            function: {
              name: 'json',
              arguments:
                '{"elements": [{"location": "San Francisco", "temperature": 58, "condition": "sunny"}]}',
            },
          },
        ],
      },
      finish: 'tool_calls',
      usage: { input: 849, output: 47 },
    },
    {
      file: 'anthropic-refusal.chunks.txt',
      finish: 'content_filter',
      usage: { input: 18, output: 5 },
    },
    {
      file: 'anthropic-clear-thinking.1.chunks.txt',
      message: (events) => {
        const deltas = events.map(({ delta }) => (isObject(delta) ? delta : {}))
        const texts = (name: string) =>
          deltas.map(({ [name]: piece }) => (typeof piece === 'string' ? piece : '')).join('')
        const text = texts('thinking')
        return {
          content: '925 ÷ 5 = 185',
          reasoning_content: text,
          reasoning_details: [
            {
              type: 'reasoning.text',
              text,
              signature: texts('signature'),
              format: 'anthropic-claude-v1',
              index: 0,
            },
          ],
        }
      },
      usage: { input: 69, output: 53 },
    },
    {
      file: 'duplicate-message-start.chunks.txt',
      message: { content: 'Hello, World!' },
      usage: { input: 17, output: 227 },
    },
  ],
})

test('request: a rich one, whole', () => {
  const chat = toPlainChat({
    model: 'anthropic/claude-sonnet-4-5',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', name: 'ann', content: [{ type: 'text', text: 'Hello' }] },
    ],
    max_completion_tokens: 300,
    temperature: 0.2,
    top_p: 0.9,
    stop: 'END',
    stream: true,
    stream_options: { include_usage: true },
    tools: [{ type: 'function', function: { name: 'time', parameters: { type: 'object' } } }],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    user: 'u-1',
    metadata: { a: 'b' },
    store: true,
    a_new_field: 1,
  })
  expect(anthropic.request(chat, { ...target, maxTokens: 300 })).toEqual({
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    omitted: ['top_p', 'metadata', 'store', 'a_new_field'],
    body: {
      model: 'claude-sonnet-4-5',
      max_tokens: 300,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      temperature: 0.2,
      stop_sequences: ['END'],
      tools: [{ name: 'time', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      metadata: { user_id: 'u-1' },
      stream: true,
    },
  })
})
