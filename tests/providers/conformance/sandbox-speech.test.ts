import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { chunksOf, createFixture, errorOf, type Fixture, type Json } from './fixture'

const input = 'Hello to all of you'
const headerBytes = 44

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const speak = (body: Json) =>
  fixture.post('/v1/audio/speech', { model: 'sandbox/speech', input, ...body })

test('the sandbox hums a tone for each character, as a WAV file of that length', async () => {
  const response = await speak({ response_format: 'wav' })
  expect(response.headers.get('content-type')).toBe('audio/wav')
  const bytes = Buffer.from(await response.arrayBuffer())
  const dataBytes = bytes.length - headerBytes
  expect(bytes.readUInt32LE(40)).toBe(dataBytes)
  expect(dataBytes).toBe(input.length * 60 * 48)
})

test('the sandbox makes WAV where no format is named, and events of it', async () => {
  const [first, ...others] = await chunksOf(await speak({ stream_format: 'sse' }))
  expect(Buffer.from(String(first?.['audio']), 'base64').subarray(0, 4).toString()).toBe('RIFF')
  expect(others.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { total_tokens: 0 } })
})

test('the sandbox rejects a format that it cannot make', async () => {
  const response = await speak({ response_format: 'mp3' })
  expect(response.status).toBe(400)
  expect(await errorOf(response)).toMatchObject({
    param: 'response_format',
    details: { issue: 'unsupported_by_model' },
  })
})
