import { afterEach, expect, test } from 'bun:test'
import { openRaw, rawRequest, type RawClient } from '../../harness/raw-client'

/**
 * What the runtime's HTTP server does with bytes behind a request, of which docs/guides/errors.md tells. A test that
 * fails after an upgrade of Bun names what is to be written there anew.
 */

const open: Disposable[] = []

afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]()
})

/** A server that answers at once, or when it may, and a connection to it. */
async function createFixture({ waits }: { waits: boolean }) {
  const arrived = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const paths: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    fetch({ url, signal }) {
      paths.push(new URL(url).pathname)
      if (!waits) return new Response('hello')
      signal.addEventListener('abort', () => aborted.resolve())
      arrived.resolve()
      return released.promise.then(() => new Response('late'))
    },
  })
  open.push({ [Symbol.dispose]: () => void server.stop(true) })
  const client: RawClient = await openRaw(server.url.href)
  open.push(client)
  return {
    client,
    paths,
    arrived: arrived.promise,
    aborted: aborted.promise,
    release: released.resolve,
  }
}

const get = (path: string) => rawRequest({ method: 'GET', path })
const post = rawRequest({ path: '/post', body: 'ab' })

test('S8: a request that comes before the answer to the last one ends the connection, unanswered', async () => {
  const { client, paths, arrived, aborted, release } = await createFixture({ waits: true })
  await client.send(get('/first'))
  await arrived
  await client.send(get('/second'))
  await aborted
  release()
  expect(await client.ended).toBe('fin')
  expect(client.read().toString()).toBe('')
  expect(paths).toEqual(['/first'])
})

test('S8: requests that are answered at once may come together', async () => {
  const { client, paths } = await createFixture({ waits: false })
  await client.send(get('/first') + get('/second'))
  await client.until((received) => received.toString().split('hello').length === 3)
  expect(paths).toEqual(['/first', '/second'])
})

test.each([
  ['while it is answered', post, '\r\n'],
  ['with it', `${post}\r\n`, ''],
])('S8: an empty line behind a body, %s, is a request that cannot be read', async (...row) => {
  const [, first, behind] = row
  const { client, arrived, aborted, release } = await createFixture({ waits: true })
  await client.send(first)
  await arrived
  if (behind !== '') await client.send(behind)
  await aborted
  release()
  expect(await client.ended).toBe('fin')
  const { status, body } = await client.response()
  expect([status, body.toString()]).toEqual([400, ''])
})

test('S8: an empty line behind a body whose answer has been sent costs the connection alone', async () => {
  const { client } = await createFixture({ waits: false })
  await client.send(post)
  expect((await client.response()).body.toString()).toBe('hello')
  client.forget()
  await client.send('\r\n')
  expect(await client.ended).toBe('fin')
})
