import { expect, spyOn, test } from 'bun:test'
import { ApiError, bodyOf, checkedFetch, isObject, openAnswer, sessionEnd } from './client'

/** Answers every request of the page with a response of the network. */
const answerWith = (response: Response | Error) =>
  spyOn(globalThis, 'fetch').mockImplementation(
    Object.assign(
      async () => {
        if (response instanceof Error) throw response
        return response
      },
      { preconnect: () => undefined },
    ),
  )

const failureOf = async (response: Response | Error): Promise<unknown> => {
  using _network = answerWith(response)
  return await openAnswer('/api/models').catch((error: unknown) => error)
}

const json = (body: unknown, init: ResponseInit) => new Response(JSON.stringify(body), init)

test('an error of the service has its status, code, message, parameter, delay and request id', async () => {
  const error = { code: 'rate_limited', message: 'Too many requests.', param: 'model' }
  const headers = { 'retry-after': '7', 'x-request-id': 'req_1' }
  const failure = await failureOf(json({ error }, { status: 429, headers }))
  expect(failure).toBeInstanceOf(ApiError)
  expect(failure).toMatchObject({
    ...error,
    status: 429,
    retryAfterMs: 7000,
    requestId: 'req_1',
  })
})

test.each([
  ['an HTML page of an intermediary', new Response('<h1>Bad gateway</h1>', { status: 502 })],
  ['an empty body', new Response(null, { status: 502 })],
  ['a body without an error', json({ status: 'down' }, { status: 502 })],
])('%s becomes an error with a message of the page', async (_name, response) => {
  expect(await failureOf(response)).toMatchObject({
    status: 502,
    code: 'unknown',
    param: null,
    retryAfterMs: null,
    message: 'The service responded with status 502. Try again in a moment.',
  })
})

test('an error at the top of a body is read as well', async () => {
  const response = json({ code: 'INVALID_EMAIL', message: 'Not an address.' }, { status: 400 })
  expect(await failureOf(response)).toMatchObject({
    code: 'INVALID_EMAIL',
    message: 'Not an address.',
  })
})

test('a network that fails is an error that names the connection', async () => {
  expect(await failureOf(new TypeError('failed'))).toMatchObject({
    name: 'ApiError',
    status: 0,
    code: 'unreachable',
  })
})

test('a request that the page cancels rejects with the cancellation', async () => {
  using _network = answerWith(new DOMException('cancelled', 'AbortError'))
  const failure = await openAnswer('/api/models', { signal: AbortSignal.abort() }).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({ name: 'AbortError' })
})

test.each([
  [401, 'http://localhost/api/models', 1],
  [404, 'http://localhost/api/admin/users', 1],
  [404, 'http://localhost/api/models/none', 0],
  [403, 'http://localhost/api/admin/users', 0],
])('%d of %s reports the end of a session %d times', async (status, url, times) => {
  let ends = 0
  const count = () => void (ends += 1)
  sessionEnd.addEventListener('end', count)
  const response = json({}, { status })
  Object.defineProperty(response, 'url', { value: url })
  await failureOf(response)
  sessionEnd.removeEventListener('end', count)
  expect(ends).toBe(times)
})

test('a response is buffered whole, with its status and headers', async () => {
  using _network = answerWith(new Response('{"id":1}', { status: 201, headers: { etag: 'a' } }))
  const response = await checkedFetch('/api/models')
  expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([
    201,
    'a',
    '{"id":1}',
  ])
})

test('a response without content has no body', async () => {
  using _network = answerWith(new Response(null, { status: 204 }))
  expect((await checkedFetch('/api/models')).body).toBeNull()
})

test('a response without the body that it promises rejects', async () => {
  expect(await bodyOf(Promise.resolve({ data: [1] }))).toEqual([1])
  await expect(bodyOf(Promise.resolve({}))).rejects.toThrow('no body')
})

test('null and texts are not objects', () => {
  expect([{}, [], null, 'a', undefined].map(isObject)).toEqual([true, true, false, false, false])
})
