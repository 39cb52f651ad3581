import { expect, test } from 'bun:test'
import { openRaw, parseResponse, rawRequest } from './raw-client'
import { startFakeProvider } from './upstreams/fake-provider'
import { eventually } from '../../server/testing/eventually'

const request = (model: string) =>
  rawRequest({ path: '/v1/chat/completions', body: JSON.stringify({ model, stream: true }) })

test('reads whole and chunked answers, and reports a cut one', () => {
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n'
  expect(parseResponse(Buffer.from(chunked))).toMatchObject({ status: 200, isWhole: false })
  const whole = parseResponse(Buffer.from(`${chunked}0\r\n\r\n`))
  expect(whole).toMatchObject({ isWhole: true, headers: [['transfer-encoding', 'chunked']] })
  expect(whole?.body.toString()).toBe('ab')
  const sized = 'HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nab'
  expect(parseResponse(Buffer.from(sized))).toMatchObject({ reason: 'Not Found', isWhole: false })
  expect(parseResponse(Buffer.from('HTTP/1.1 200'))).toBeUndefined()
})

test.each(['close', 'reset', 'halfClose'] as const)(
  '%s is noticed by the server',
  async (leave) => {
    await using upstream = await startFakeProvider()
    using client = await openRaw(upstream.url)
    await client.send(request('stall-after-2'))
    await client.until((received) => received.includes('w2'))
    client[leave]()
    await eventually(() => upstream.openSockets() === 0)
    expect(upstream.requests()).toMatchObject([{ closedBy: 'peer' }])
  },
)

test('closes after the given number of bytes', async () => {
  await using upstream = await startFakeProvider()
  using hasty = await openRaw(upstream.url)
  await hasty.send(request('endless'))
  await hasty.closeAfter(10_000)
  expect(await hasty.ended).toBe('us')
  expect(hasty.receivedBytes).toBeGreaterThanOrEqual(10_000)
})
