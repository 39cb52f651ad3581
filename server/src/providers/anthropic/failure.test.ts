import { expect, test } from 'bun:test'
import { refusesSignatures } from './failure'

const bodyOf = (message: string) => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
})

test.each([
  'messages.1.content.0: Invalid `signature` in `thinking` block',
  'messages.1.content.0: Invalid `data` in `redacted_thinking` block',
  'messages.1.content.0.thinking.signature: Field required',
  'messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
  'messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
])('finding V20: %s', (message) => {
  expect(refusesSignatures({ status: 400, body: bodyOf(message) })).toBeTrue()
  expect(refusesSignatures({ status: 500, body: bodyOf(message) })).toBeFalse()
})

test.each([
  'max_tokens must be greater than thinking.budget_tokens',
  '"thinking.type.enabled" is not supported for this model.',
  'messages: text content blocks must be non-empty',
])('is about something else: %s', (message) => {
  expect(refusesSignatures({ status: 400, body: bodyOf(message) })).toBeFalse()
  expect(refusesSignatures({ status: 400, body: undefined })).toBeFalse()
})
