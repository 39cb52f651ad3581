import { expect, test } from 'bun:test'
import { toUnknownRouteError } from './unknown-route'
import { getErrorFormat } from './error-format'

test.each([
  ['/v1/v1/chat/completions', 'The path has /v1 more than once: use /v1/chat/completions.'],
  ['/v1/v1/v1/responses', 'The path has /v1 more than once: use /v1/responses.'],
  ['/v1//v1/embeddings', 'The path has /v1 more than once: use /v1/embeddings.'],
  ['/v1/v1/messages', 'The base URL of an Anthropic client ends before /v1: use /v1/messages.'],
  ['//v1/messages', 'The path has two slashes in a row: use /v1/messages.'],
  ['//v1/chat/completions', 'The path has two slashes in a row: use /v1/chat/completions.'],
  ['/v1//chat/completions', 'The path has two slashes in a row: use /v1/chat/completions.'],
  ['/chat/completions', 'The base URL of this service ends in /v1: use /v1/chat/completions.'],
  ['/messages', 'The base URL of this service ends in /v1: use /v1/messages.'],
])('finding C7: %s says where to go', (path, hint) => {
  expect(toUnknownRouteError(path)).toMatchObject({
    code: 'resource_not_found',
    message: `The resource does not exist. ${hint}`,
    retryable: false,
  })
})

test.each(['/', '/v1', '/v1/nothing', '/api/v1', '/messagesx'])('%s has no hint', (path) => {
  expect(toUnknownRouteError(path).message).toBe('The resource does not exist.')
})

test('a path may be long and its error not', () => {
  expect(toUnknownRouteError(`//${'a'.repeat(10_000)}`).message.length).toBeLessThanOrEqual(300)
})

test.each(['/v1/messages', '//v1/messages', '/v1//messages', '/v1/v1/messages', '/messages'])(
  'finding C7: at %s the client of Anthropic can read it',
  (path) => {
    const request = new Request(`http://localhost:8080${path}`, { method: 'POST' })
    const body = getErrorFormat(request).errorBody(toUnknownRouteError(path), 'req_1')
    expect(body).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
  },
)
