import { QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'bun:test'
import { createQueryClient } from './query-client'

const queryKey = ['sessions']

/** A list on a server, whose first answer is late and has the list as it was at the request. */
function serverList() {
  const { promise: firstAnswer, resolve } = Promise.withResolvers<string>()
  const server = { list: 'old', requests: 0 }
  const queryFn = () => {
    server.requests += 1
    return server.requests === 1 ? firstAnswer : Promise.resolve(server.list)
  }
  return { server, queryFn, answerFirst: () => resolve('old') }
}

test('a change while the list loads for the first time shows the changed list', async () => {
  const { server, queryFn, answerFirst } = serverList()
  const queries = createQueryClient()
  const end = new QueryObserver(queries, { queryKey, queryFn }).subscribe(() => undefined)
  server.list = 'new'
  const invalidated = queries.invalidateQueries({ queryKey })
  answerFirst()
  await invalidated
  expect(queries.getQueryData<string>(queryKey)).toBe('new')
  expect(server.requests).toBe(2)
  end()
})

test('a list that no page shows while it loads is stale after a change', async () => {
  const { server, queryFn, answerFirst } = serverList()
  const queries = createQueryClient()
  const first = queries.ensureQueryData({ queryKey, queryFn })
  server.list = 'new'
  const invalidated = queries.invalidateQueries({ queryKey })
  answerFirst()
  expect(await first).toBe('old')
  await invalidated
  expect(queries.getQueryState(queryKey)?.isInvalidated).toBe(true)
})

test('a change after the list has loaded loads it once more', async () => {
  const { server, queryFn, answerFirst } = serverList()
  const queries = createQueryClient()
  const end = new QueryObserver(queries, { queryKey, queryFn }).subscribe(() => undefined)
  answerFirst()
  await queries.getQueryCache().find({ queryKey })?.promise
  server.list = 'new'
  await queries.invalidateQueries({ queryKey })
  expect(queries.getQueryData<string>(queryKey)).toBe('new')
  expect(server.requests).toBe(2)
  end()
})

test('a change whose list fails to load rejects nothing, and leaves the error of the list', async () => {
  const queries = createQueryClient()
  const { promise, reject } = Promise.withResolvers<string>()
  const options = { queryKey, queryFn: () => promise, retry: false }
  const end = new QueryObserver(queries, options).subscribe(() => undefined)
  const invalidated = queries.invalidateQueries({ queryKey })
  reject(new Error('The server is gone.'))
  await invalidated
  expect(queries.getQueryState(queryKey)?.error?.message).toBe('The server is gone.')
  end()
})
