import { join } from 'node:path'
import { cohere } from '.'
import { answers, recordings } from '../../../testing/golden/cohere/answers'
import { requests } from '../../../testing/golden/cohere/requests'
import { describeAdapter, type ErrorRow } from '../../../testing/conformance/conformance'
import { linesOf } from '../../../testing/providers/samples'

const recorded = (name: string) =>
  linesOf(join(import.meta.dir, '../../../testing/golden/cohere', `${name}.chunks.txt`))

const refused = (status: number, message = 'No.') => ({
  title: `errors: ${status} ${message}`,
  status,
  body: { id: '7e1', message },
})
const rejected = { code: 'invalid_request', status: 400, param: null, message: 'No.' } as const
const terminal = { code: 'provider_error', status: 502, retryable: false } as const
const busy = { code: 'provider_error', status: 503, retryable: true } as const

const errors: ErrorRow[] = [
  ...[400, 413, 422].map((status) => ({ ...refused(status), error: rejected })),
  ...[401, 402, 403, 404, 405, 408, 409, 498, 499].map((status) => ({
    ...refused(status),
    error: terminal,
  })),
  ...[500, 501, 502, 504].map((status) => ({
    ...refused(status),
    error: { ...terminal, retryable: true },
  })),
  ...[429, 503, 529].map((status) => ({
    ...refused(status),
    retryAfter: '4',
    error: { ...busy, retryAfterSeconds: 4 },
  })),
  {
    ...refused(
      400,
      'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.',
    ),
    error: { code: 'context_length_exceeded', status: 400, param: 'messages' },
  },
  {
    ...refused(
      400,
      'too many tokens: max tokens must be less than or equal to 4096, the maximum output length for this model - received 1000000.',
    ),
    error: { code: 'max_tokens_exceeded', status: 400, param: 'max_tokens' },
  },
  {
    ...refused(401, 'invalid api token sk-conformance-0123456789'),
    error: { details: { provider: 'acme', provider_error: 'invalid api token [secret]' } },
  },
  { title: 'errors: an empty body', status: 500, body: '', error: { code: 'provider_error' } },
  {
    title: 'errors: HTML',
    status: 502,
    body: '<html><title>502</title>Bad Gateway</html>',
    error: { message: 'acme returned an error: 502 Bad Gateway' },
  },
]

describeAdapter('cohere', {
  adapter: cohere,
  target: {
    upstreamModel: 'command-a-03-2025',
    maxTokens: 1000,
    capabilities: { reasoning: false, tools: true, vision: true, jsonSchema: true },
  },
  requests,
  answers: [
    ...answers,
    {
      title: 'tools: two calls, a plan, one without arguments',
      events: recorded('parallel-calls'),
      message: {
        reasoning_content: 'Ich sehe nach 🌦️.',
        tool_calls: [
          {
            id: 'weather_1',
            type: 'function',
            function: { name: 'weather', arguments: '{\n    "city": "Zürich"}' },
          },
          { id: 'now_2', type: 'function', function: { name: 'now', arguments: '{}' } },
        ],
      },
      finish: 'tool_calls',
      usage: { input: 31, output: 17 },
    },
    {
      title: 'finding P10, finding Q18: a source with an address is an annotation, and one without',
      events: [
        { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Bern.' } } } },
        {
          type: 'citation-start',
          index: 0,
          delta: {
            message: {
              citations: {
                start: 0,
                end: 4,
                text: 'Bern',
                sources: [
                  {
                    type: 'document',
                    id: '1',
                    document: { url: 'https://a.example/', title: 'A' },
                  },
                  { type: 'document', id: '2', document: { snippet: 'no address' } },
                ],
              },
            },
          },
        },
        { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: null } },
      ],
      message: {
        content: 'Bern.',
        annotations: [
          {
            type: 'url_citation',
            url_citation: { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 4 },
          },
          {
            type: 'file_citation',
            file_citation: { filename: '2', start_index: 0, end_index: 4 },
          },
        ],
        citations: [
          {
            start: 0,
            end: 4,
            text: 'Bern',
            sources: [
              { type: 'document', id: '1', document: { url: 'https://a.example/', title: 'A' } },
              { type: 'document', id: '2', document: { snippet: 'no address' } },
            ],
          },
        ],
      },
    },
    {
      title: 'reasoning, citations, length cut',
      events: recorded('thinking-citations'),
      message: {
        content: 'Bern!',
        reasoning_content: 'It is Bern.',
        citations: [
          {
            start: 0,
            end: 4,
            text: 'Bern',
            sources: [{ type: 'tool', id: 'weather_1:0', tool_output: { content: '...' } }],
            content_index: 1,
            type: 'TEXT_CONTENT',
          },
        ],
      },
      finish: 'length',
      usage: { input: 9, output: 12 },
    },
  ],
  errors,
  recordings,
})
