import { expect, test } from 'bun:test'
import { toKnownEndpoints, toUnknownRouteError } from './unknown-route'
import { getErrorFormat } from './error-format'

const known = toKnownEndpoints([
  { method: 'post', path: '/v1/chat/completions' },
  { method: 'post', path: '/v1/embeddings' },
  { method: 'get', path: '/v1/models' },
  { method: 'get', path: '/v1/models/:model_id{[\\s\\S]+}' },
  { method: 'get', path: '/api/user/prompts/:id' },
  { method: 'put', path: '/api/user/prompts/:id' },
  { method: 'get', path: '/api/admin/users' },
])

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
])('finding C7: the error of %s names the right place', (path, hint) => {
  expect(toUnknownRouteError(path, known)).toMatchObject({
    code: 'resource_not_found',
    message: `The resource does not exist. ${hint}`,
    retryable: false,
  })
})

const endpoints =
  'There are POST /v1/chat/completions, /v1/embeddings; GET /v1/models. /openapi.json describes all endpoints.'

test.each([
  ['/v1/images/generations', endpoints],
  ['/v1', endpoints],
  ['/v1beta/models/gemini-4-neon:generateContent', endpoints],
  ['/v1/chat/completions', '/v1/chat/completions takes POST.'],
  ['/v1/models/a/b', '/v1/models/a/b takes GET.'],
  ['/api/user/prompts/7', '/api/user/prompts/7 takes GET, PUT.'],
  [
    '/api/v1/embeddings',
    'The base URL of this service ends in /v1, without /api: use /v1/embeddings.',
  ],
  ['/api/v1/credits', '/openapi.json describes all endpoints.'],
])('finding D13: the error of %s names existing paths', (path, hint) => {
  expect(toUnknownRouteError(path, known).message).toBe(`The resource does not exist. ${hint}`)
})

const paths =
  'chat/completions completions embeddings moderations rerank messages messages/count_tokens responses conversations images/generations images/edits images/variations audio/speech audio/transcriptions audio/translations'

const ofModels = toKnownEndpoints([
  ...paths.split(' ').map((path) => ({ method: 'post', path: `/v1/${path}` })),
  { method: 'get', path: '/v1/models' },
  { method: 'post', path: '/v2/rerank' },
])

test.each([
  ['/v1/audio/speeches', 'is POST /v1/audio/speech'],
  ['/v1/speech', 'is POST /v1/audio/speech'],
  ['/v1/audio/transcription', 'is POST /v1/audio/transcriptions'],
  ['/v1/audio/transcribe', 'is POST /v1/audio/transcriptions'],
  ['/v1/audio/translate', 'is POST /v1/audio/translations'],
  ['/v1/audio', 'are POST /v1/audio/speech, /v1/audio/transcriptions, /v1/audio/translations'],
  [
    '/v1/audio/voices',
    'are POST /v1/audio/speech, /v1/audio/transcriptions, /v1/audio/translations',
  ],
  ['/v1/image/generations', 'is POST /v1/images/generations'],
  ['/v1/images/generate', 'is POST /v1/images/generations'],
  ['/v1/images/edit', 'is POST /v1/images/edits'],
  ['/v1/Images/Generations/', 'is POST /v1/images/generations'],
  ['/v1/images', 'are POST /v1/images/generations, /v1/images/edits, /v1/images/variations'],
  ['/v1/chat', 'is POST /v1/chat/completions'],
  ['/v1/chat/completion', 'is POST /v1/chat/completions'],
  ['/v1/embedding', 'is POST /v1/embeddings'],
  ['/v1/reranking', 'is POST /v1/rerank'],
  ['/v1/model', 'is GET /v1/models'],
  ['/v2/chat', 'is POST /v1/chat/completions'],
])('the error of %s names the nearest endpoint', (path, nearest) => {
  expect(toUnknownRouteError(path, ofModels).message).toBe(
    `The resource does not exist. The nearest endpoint${nearest.startsWith('is') ? '' : 's'} ${nearest}. /openapi.json describes all endpoints.`,
  )
})

test.each(['/v1/files', '/v1/fine_tuning/jobs', '/v1/videos', `/v1/${'audio/'.repeat(100)}`])(
  'the error of %s, which no endpoint is near, names all of them',
  (path) => {
    expect(toUnknownRouteError(path, ofModels).message).toMatch(
      /There are POST \/v1\/chat\/completions, .*\/v1\/audio\/translations; GET \/v1\/models\. \/openapi\.json describes all endpoints\.$/,
    )
  },
)

test('the error of an endpoint without /v1 names its path', () => {
  expect(toUnknownRouteError('/audio/speech', ofModels).message).toContain(
    'ends in /v1: use /v1/audio/speech.',
  )
})

test.each(['/', '/messagesx', '/favicon.ico', '/api/admin/users', '/api/admin/nothing'])(
  '%s has no hint',
  (path) => {
    expect(toUnknownRouteError(path, known).message).toBe('The resource does not exist.')
  },
)

test('a path may be long and its error not', () => {
  expect(toUnknownRouteError(`//${'a'.repeat(10_000)}`, known).message.length).toBeLessThanOrEqual(
    400,
  )
})

test.each(['/v1/messages', '//v1/messages', '/v1//messages', '/v1/v1/messages', '/messages'])(
  'finding C7: at %s the client of Anthropic can read it',
  (path) => {
    const request = new Request(`http://localhost:8080${path}`, { method: 'POST' })
    const body = getErrorFormat(request).errorBody(toUnknownRouteError(path, known), 'req_1')
    expect(body).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
  },
)
