import { test } from 'bun:test'
import { openRaw, rawRequest } from './raw-client'
import { startFakeProvider } from './upstreams/fake-provider'
import { recordFigure } from '../../server/testing/figures'

/** What the runtime may hand over at once, twice. */
const lumpBytes = 2 * 512 * 1024

test('a raw client reads at the given rate', async () => {
  await using upstream = await startFakeProvider()
  using client = await openRaw(upstream.url)
  const body = JSON.stringify({ model: 'endless', stream: true })
  await client.send(rawRequest({ path: '/v1/chat/completions', body }))
  await client.until(() => client.receivedBytes >= 10_000)
  const [startedAt, before] = [performance.now(), client.receivedBytes]
  await client.readSlowly(2_000_000, 2000)
  const seconds = (performance.now() - startedAt) / 1000
  const bytes = client.receivedBytes - before - lumpBytes
  recordFigure('a slow reader', bytes / seconds / 1000, { unit: 'KB/s', atMost: 2000 })
})
