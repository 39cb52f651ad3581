import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { recordFigure } from '../../../server/testing/figures'
import { startRig, type Rig } from '../../harness/server'
import { newChatClient, type ChatClient, type Stream } from '../../harness/http'

let rig: Rig
let client: ChatClient
/** Of streams that stall. A busy machine takes longer for the others. */
let impatient: Rig
let impatientClient: ChatClient

beforeAll(async () => {
  rig = await startRig()
  client = await newChatClient(rig)
  impatient = await startRig({ environment: { IDLE_TIMEOUT_SECONDS: '2' } })
  impatientClient = await newChatClient(impatient)
})
afterAll(async () => {
  await rig[Symbol.asyncDispose]()
  await impatient[Symbol.asyncDispose]()
})
afterEach(() => {
  for (const { gateway } of [rig, impatient]) gateway.recorder.verify()
})

describe('a stream that breaks after it began ends in one error frame, without [DONE]', () => {
  test.each([
    ['S07', 'rst-after-5', 'connection_failed'],
    ['S07', 'close-after-5', undefined],
    ['U08', 'end-after-5', 'provider_error'],
    ['U08', 'eof-after-5', 'provider_error'],
    ['U08', 'lost-usage', 'connection_failed'],
    ['U05', 'bad-json-3', 'provider_error'],
    ['U05', 'half-json', 'provider_error'],
    ['U07', 'err-after-3', 'provider_error'],
    ['U07', 'finish-error', 'provider_error'],
    ['U03', 'stall-after-3', 'request_timeout'],
    ['U03', 'stall-mid-line', 'request_timeout'],
    ['U03', 'stall-mid-char', 'request_timeout'],
    ['U16', 'line-21m', 'provider_error'],
  ])('%s: %s', async (row, name, code) => {
    const isStalled = row === 'U03'
    const { upstream } = isStalled ? impatient : rig
    upstream.reset()
    const stream = await (isStalled ? impatientClient : client).stream(name)
    // What fails at its first event is still a status.
    expect(stream.status).toBeOneOf([200, 502])
    expect(stream.error.code).toBeOneOf(code ? [code] : ['connection_failed', 'provider_error'])
    expect(stream.isDone).toBe(false)
    expect(stream.text).not.toContain('secret-of-the-upstream')
    expect(stream.text).not.toContain('\uFFFD')
    // No second attempt is mixed in.
    expect(upstream.requests()).toHaveLength(1)
  })

  test('S07: chunks before the break were delivered, in order', async () => {
    const stream = await client.stream('rst-after-5')
    expect(stream.content).toBe('w1 w2 w3 w4 w5')
  })

  test.each([['finish-error'], ['end-after-3'], ['close-after-3'], ['rst-after-3'], ['half-json']])(
    'U08: %s without a stream is an error, never half an answer',
    async (name) => {
      const { status, error } = await client.chat(name)
      expect(status).toBe(502)
      expect(error.code).toBeOneOf(['provider_error', 'connection_failed'])
    },
  )

  test('S07: a connection lost after the request was sent is not to be repeated', async () => {
    rig.upstream.reset()
    const { status, error, headers } = await client.chat('rst-after-0')
    expect([status, error.code]).toEqual([502, 'connection_failed'])
    expect(headers.get('x-should-retry')).toBe('false')
    expect(rig.upstream.requests()).toHaveLength(1)
  })
})

describe('a stream that is odd and whole is delivered', () => {
  test.each([
    ['ok'],
    ['no-finish'],
    ['done-twice'],
    ['data-after-done'],
    ['one-byte'],
    ['crlf'],
    ['crlf-mix'],
    ['cr'],
    ['bom'],
    ['comments'],
    ['no-space'],
    ['multi-data'],
    ['ids-vary'],
    ['model-differs'],
    ['created-string'],
    ['created-none'],
    ['error-null'],
    ['role-each-chunk'],
    ['unknown-fields'],
    ['early-hints'],
    ['trailers'],
    ['headers-200'],
    ['split-header'],
    ['gzip'],
    ['br'],
    ['deflate'],
  ])('S14 U17 U18: %s', async (name) => {
    const stream = await client.stream(name)
    expect(stream.status).toBe(200)
    expect(stream.content).toBe('All is well at the fake provider today, thank you.')
    expect(stream.isDone).toBe(true)
    expect(stream.headers.get('set-cookie')).toBeNull()
    expect(stream.headers.get('server')).toBeNull()
    expect(stream.text).not.toContain('\nset-cookie')
  })

  test('finding V11 U16: line-2m, an event of 2 MB', async () => {
    const stream = await client.stream('line-2m')
    expect(stream.status).toBe(200)
    expect(stream.content).toBe(
      `${'a'.repeat(2 << 20)}All is well at the fake provider today, thank you.`,
    )
    expect(stream.isDone).toBe(true)
  })

  // What waited for the provider would wait for the idle timeout, 45 s.
  test.each([
    ['done-open', 'a socket that the provider leaves open after [DONE] holds no request up', 400],
    ['ok', 'the answer’s end follows [DONE] at once', 200],
  ])('%s: %s', async (name, what, atMost) => {
    const ended: Stream[] = []
    const reading = client.stream(name).then((stream) => ended.push(stream))
    await Promise.race([reading, eventually(() => ended.length > 0)])
    const [stream] = ended
    expect(stream?.isDone).toBe(true)
    recordFigure(`S14: ${what}`, stream?.tookMs ?? Infinity, { unit: 'ms', atMost })
  })
})
