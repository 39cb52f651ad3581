import { afterAll, expect, test } from 'bun:test'
import { Egress } from './egress'
import { documentFetcher } from './fetch-document'

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) =>
    url.endsWith('/large')
      ? new Response('x'.repeat(8 * 1024 * 1024 + 1))
      : new Response('{"a":1}', { status: url.endsWith('/gone') ? 410 : 200 }),
})
afterAll(() => server.stop(true))

const fetchDocument = documentFetcher(new Egress({ connectMs: 20_000 }))
const at = (path: string) => new URL(path, server.url).href

test('a document is fetched with its status', async () => {
  expect(await fetchDocument(at('/x'))).toEqual({ status: 200, text: '{"a":1}' })
  expect(await fetchDocument(at('/gone'))).toMatchObject({ status: 410 })
})

test('a document that is too large or missing is rejected', async () => {
  await expect(fetchDocument(at('/large'))).rejects.toThrow()
  await expect(fetchDocument('http://127.0.0.1:1/')).rejects.toThrow()
})
