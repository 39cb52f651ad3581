import { expect } from 'bun:test'
import { chatRequest, type TunnelFixture, type Home } from './tunnel-fixture'
import { numbers, readStream } from './door-stream'
import { sendRaw, toStream } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { parseResponse, type RawClient, type RawResponse } from '../../harness/raw-client'

/** The maximum of concurrent requests of one gateway. */
const many = 1000
const waitingFor = 'say 20 when I say so'
/** Bytes of the unread answer: intermediate buffers hold some of it. */
const longBytes = 64 * 1024 * 1024
const long = `say ${longBytes / 32_768} of 32768 bytes`

/** Returns the id of a request, and the text of its stream. */
function readBy({ headers, status, body }: RawResponse) {
  const [, requestId = ''] = headers.find(([name]) => name === 'x-request-id') ?? []
  const fields = { status, text: body.toString(), headers: new Headers(), body: {}, error: {} }
  const { content, isDone } = toStream({ ...fields, tookMs: 0 })
  return { requestId, content, isDone }
}

/** Waits for the beginning of an answer, and returns its id and text so far. */
async function beginningOf(client: RawClient) {
  const response = parseResponse(await client.until((bytes) => bytes.includes('data: ')))
  if (!response) throw new Error('it ended before it began')
  return readBy(response)
}

const isRefused = (client: RawClient) => /^HTTP\/1.1 [345]/.test(client.read().toString('latin1'))

/** Runs the maximum of concurrent requests of one agent, one of which is not read. */
export async function manyStreams(fixture: TunnelFixture, home: Home): Promise<void> {
  const { network, caller, requests } = home
  /** Begins on its own connection, as the runtime's fetch opens at most 256. */
  const begin = (content: string) =>
    sendRaw(fixture.tollgate, {
      key: caller.key,
      body: { ...chatRequest(content), stream: true },
    })
  const slow = await begin(long)
  requests.push((await beginningOf(slow)).requestId)
  slow.stopReading()
  const begun = Array.from({ length: many - 1 }, () => begin(waitingFor))
  const [leaving, ...waiting] = await Promise.all(begun)
  // All of them run concurrently, and not one more.
  const areAsked = () => network.count('asked', waitingFor) >= many - 1
  await eventually(() => areAsked() || waiting.some(isRefused), 60_000)
  expect(waiting.filter(isRefused).map((client) => client.read().toString())).toEqual([])
  expect(network.count('asked', waitingFor)).toBe(many - 1)
  const refused = await fixture.chat(home, 'Hello?')
  expect([refused.status, refused.error.code]).toEqual([503, 'gateway_unavailable'])
  if (leaving) requests.push((await beginningOf(leaving)).requestId)
  leaving?.close()
  await eventually(() => network.count('left', waitingFor) === 1)
  expect((await fixture.chat(home, 'now')).status).toBe(200)
  const answers = await Promise.all(waiting.map(async (client) => readBy(await client.response())))
  requests.push(...answers.map(({ requestId }) => requestId))
  const whole = answers.filter(({ content, isDone }) => isDone && content === numbers(20))
  expect(whole).toHaveLength(many - 2)
  // The same, asked for later and read, comes whole: backpressure reached the server of the unread one too.
  const { code, text } = await readStream(home, long)
  expect([code, text.length]).toEqual([undefined, longBytes])
  slow.close()
  await eventually(() => network.count('left', long) === 1)
  const sentMb = (network.sent(long) ?? 0) / 2 ** 20
  console.log(`G07: of ${longBytes / 2 ** 20} unread MB its server sent ${sentMb.toFixed(1)}`)
  expect(network.sent(long)).toBeWithin(256 * 1024, longBytes / 2)
}
