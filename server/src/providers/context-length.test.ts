import { describe, expect, test } from 'bun:test'
import { adapterOf } from './adapters'
import type { OverflowRow } from '../../testing/conformance/overflow'
import { overflowRows } from '../../testing/conformance/error-table'
import { providers } from './registry'
import { toCallerError, type ErrorSource } from './upstream-error'
import { vertexGemini } from './vertex'
import { anthropicOnVertex } from './vertex/anthropic'
import { anthropic } from './anthropic'

/** What the catalogue says of the model, which is never what a service says. */
const catalogued = 7777

const source = (provider: string, contextLength: number | null = catalogued): ErrorSource => ({
  provider,
  secret: 'sk-live-0123456789abcdef',
  textField: 'messages',
  wasSent: (field) => ['messages', 'max_tokens'].includes(field),
  contextLength,
  maxOutputTokens: 4096,
})

/** How the refusals of a provider are read. */
function readersOf(key: string) {
  const provider = providers.find((candidate) => candidate.key === key)
  if (provider?.dialect === 'vertex') {
    return [vertexGemini.toError, anthropicOnVertex(anthropic).toError]
  }
  return [(provider && adapterOf(provider)?.toError) ?? toCallerError]
}

const read = ({ provider, status, body }: OverflowRow, contextLength?: number | null) =>
  readersOf(provider).map((reader) =>
    (reader ?? toCallerError)({ status, body }, source(provider, contextLength)),
  )

describe('finding P4: a prompt that is too long, in the words of', () => {
  test.each(overflowRows.map((row) => [row.service, row] as const))('%s', (_service, row) => {
    for (const error of read(row)) {
      expect(error).toMatchObject({
        code: 'context_length_exceeded',
        status: 400,
        param: 'messages',
        retryable: false,
        // Finding C7: the provider knows its own maximum better than the catalogue.
        details: { max_context: row.maximum ?? catalogued, requested: row.requested },
      })
      expect(error.message).toContain(
        `maximum context length is ${row.maximum ?? catalogued} tokens`,
      )
    }
  })
})

test('every provider that has a format of its own, and every service of issue 21, has a row', () => {
  const testedProviders = new Set(overflowRows.map(({ provider }) => provider))
  const named =
    'openai anthropic google mistral deepseek xai groq together fireworks deepinfra dashscope moonshot zai cohere perplexity cerebras sambanova nvidia openrouter bedrock vertex azure huggingface minimax voyage jina custom local'
  for (const key of named.split(' ')) expect(testedProviders).toContain(key)
  for (const { key, dialect } of providers) {
    if (dialect !== 'openai' && dialect !== 'sandbox' && dialect !== 'azure') {
      expect(testedProviders).toContain(key)
    }
  }
})

test('recognizes the message of another provider that a provider relays', () => {
  const relayed = providers.filter((provider) => adapterOf(provider) === undefined)
  for (const { key } of relayed) {
    for (const row of overflowRows) {
      const { code } = toCallerError({ status: row.status, body: row.body }, source(key))
      expect([key, row.service, code]).toEqual([key, row.service, 'context_length_exceeded'])
    }
  }
})

test('invents no number if neither the provider nor the catalogue has the maximum', () => {
  const row = overflowRows.find(({ service }) => service === 'Ollama')
  const [error] = row ? read(row, null) : []
  expect(error).toMatchObject({
    code: 'context_length_exceeded',
    details: { max_context: null, requested: null },
  })
  // Clients that know no code look for these words.
  expect(error?.message).toStartWith("This model's maximum context length is exceeded.")
})

const others: [string, number, object][] = [
  [
    'tokens a minute',
    429,
    {
      error: {
        message:
          'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 28000, Requested 4000. Please try again in 4s.',
        code: 'rate_limit_exceeded',
      },
    },
  ],
  ['throttled', 429, { message: 'Too many tokens, please wait before trying again.' }],
  [
    'larger than a minute allows',
    413,
    {
      error: {
        message:
          'Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, Requested 9512, please reduce your message size and try again.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    },
  ],
  [
    'an output limit',
    400,
    { error: { message: 'max_tokens is too large: 200000. This model supports at most 64000.' } },
  ],
  [
    'a text beyond a bound in characters',
    400,
    {
      error: {
        message:
          "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576, but got a string with length 2000000 instead.",
        param: 'messages[0].content',
        code: 'string_above_max_length',
      },
    },
  ],
  [
    'an image',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'messages.1.content.0.image.source.base64: image exceeds 5 MB maximum',
      },
    },
  ],
  [
    'a body beyond a bound in bytes',
    413,
    {
      type: 'error',
      error: {
        type: 'request_too_large',
        message: 'Request exceeds the maximum allowed number of bytes.',
      },
    },
  ],
  ['a wrong key', 401, { error: { message: 'prompt is too long, and so is the key' } }],
  ['a failure of theirs', 500, { message: 'Input is too long' }],
]

test.each(others)('%s is not an error of the context length', (_what, status, body) => {
  expect(toCallerError({ status, body }, source('acme')).code).not.toBe('context_length_exceeded')
})
