import { describe, expect, test } from 'bun:test'
import { refusesSignatures, toError, toStreamError } from './failure'
import { sampleSource } from '../../../testing/providers/samples'

const toApiError = (status: number, body: unknown, retryAfter: string | null = null) =>
  toError({ status, body, retryAfter }, sampleSource)

test('an exception of any unknown name is a failure of the provider', () => {
  for (const type of ['newestException', 'constructor', 'toString']) {
    expect(toStreamError(type, '{"message":"Because."}', sampleSource)).toMatchObject({
      code: 'provider_error',
      status: 502,
      retryable: true,
    })
  }
})

describe('a refusal of Bedrock', () => {
  test.each([
    [401, 502, false],
    [403, 502, false],
    [404, 502, false],
    [408, 502, false],
    [424, 502, false],
    [429, 503, true],
    [500, 502, true],
    [503, 503, true],
  ])('%d is %d', (status, ours, retryable) => {
    const error = toApiError(status, { message: 'Because.' }, '3')
    expect(error).toMatchObject({ code: 'provider_error', status: ours, retryable })
    expect(error.details['provider_error']).toBe('Because.')
    expect(error.retryAfterSeconds).toBe(ours === 503 ? 3 : undefined)
  })

  test.each([400, 422])('finding P9: %d is the caller’s to change', (status) => {
    expect(toApiError(status, { message: 'Because.' })).toMatchObject({
      code: 'invalid_request',
      status: 400,
      param: null,
      message: 'Because.',
    })
  })

  test.each([
    'Input is too long for requested model.',
    '400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9001 ',
    'The model returned the following errors: prompt is too long: 9001 tokens > 8192 maximum',
  ])('%s', (message) => {
    expect(toApiError(400, { message })).toMatchObject({
      code: 'context_length_exceeded',
      status: 400,
      details: { max_context: 8192 },
    })
  })

  test.each([
    'The maximum tokens you requested exceeds the model limit of 4096. Try again with fewer.',
    'The model returned the following errors: max_tokens: 9000 > 4096, which is the maximum',
  ])('%s', (message) => {
    expect(toApiError(400, { Message: message })).toMatchObject({
      code: 'max_tokens_exceeded',
      param: 'max_tokens',
      details: { max_allowed: 4096 },
    })
  })

  test('a choice among tools that the model does not know is the caller’s', () => {
    const message = "This model doesn't support the toolConfig.toolChoice.any field. Remove it."
    const source = { ...sampleSource, wasSent: (field: string) => field === 'tool_choice' }
    expect(toError({ status: 400, body: { message } }, source)).toMatchObject({
      code: 'invalid_request',
      param: 'tool_choice',
      details: { issue: 'refused_by_provider' },
    })
  })

  test('the same words of a failure of theirs are theirs', () => {
    expect(toApiError(500, { message: 'Input is too long' })).toMatchObject({
      code: 'provider_error',
    })
  })

  test('does not reveal the account', () => {
    const message =
      'User: arn:aws:iam::123456789012:user/ops is not authorized on arn:aws:bedrock:us-east-1::foundation-model/x'
    const { details } = toApiError(403, { message })
    expect(details['provider_error']).toBe('User: [resource] is not authorized on [resource]')
  })

  test('without JSON or words it still is one', () => {
    expect(toApiError(502, '<html><h1>Bad Gateway</h1></html>').message).toBe(
      'acme returned an error: Bad Gateway',
    )
    expect(toApiError(500, {}).details['provider_error']).toBe('It returned status 500.')
  })

  test.each([
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'The model returned the following errors: messages.1.content.0.thinking.signature: Field required',
    'The model returned the following errors: messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
    'User messages cannot contain reasoning content. Please remove the reasoning content and try again.',
    "This model doesn't support the reasoningContent.reasoningText.signature field.",
  ])('thoughts of another model are recognized by the words: %s', (message) => {
    expect(refusesSignatures({ status: 400, body: { message } })).toBeTrue()
    expect(refusesSignatures({ status: 500, body: { message } })).toBeFalse()
  })

  test.each([
    'temperature',
    'The model returned the following errors: `max_tokens` must be greater than `thinking.budget_tokens`.',
    '"thinking.type.enabled" is not supported for this model.',
    'Thinking may not be enabled when tool_choice forces tool use.',
    'reasoning_effort: unexpected value',
    'The request signature we calculated does not match the signature you provided.',
  ])('finding V20: about something else, it is not sent again: %s', (message) => {
    expect(refusesSignatures({ status: 400, body: { message } })).toBeFalse()
    expect(refusesSignatures({ status: 400, body: undefined })).toBeFalse()
  })
})
