import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFixture, type Fixture } from './fixture'
import { mediaRequests } from '../../harness/media'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

test('the log of an image request has the number of its images', async () => {
  const answer = await mediaRequests(fixture.rig).draw(fixture.customer, 3)
  expect(answer.status).toBe(200)
  expect(await fixture.logOf(answer)).toMatchObject({
    endpoint: '/v1/images/generations',
    images: 3,
    sound_seconds: 0,
    speech_characters: 0,
    speech_seconds: 0,
    cost: 0.12,
  })
})

test('the log of a transcription has the seconds of its sound', async () => {
  const answer = await mediaRequests(fixture.rig).transcribe(fixture.customer, 2.5)
  expect(answer.status).toBe(200)
  expect(await fixture.logOf(answer)).toMatchObject({
    endpoint: '/v1/audio/transcriptions',
    images: 0,
    sound_seconds: 2.5,
    speech_seconds: 0,
    cost: 0.000_25,
  })
})

test.each([
  [{ response_format: 'pcm' }, 0.4],
  [{ response_format: 'pcm', stream_format: 'sse' }, 0.4],
  // Without a header: by the usual rate, 128 kbit/s.
  [{}, 1.2],
])(
  'the log of a speech has its characters, and the seconds of its sound: %j',
  async (fields, seconds) => {
    const input = 'Good morning 👋 you'
    const answer = await mediaRequests(fixture.rig).speak(fixture.customer, input, fields)
    expect(answer.status).toBe(200)
    expect(await fixture.logOf(answer)).toMatchObject({
      endpoint: '/v1/audio/speech',
      images: 0,
      sound_seconds: 0,
      speech_characters: 18,
      speech_seconds: seconds,
      cost: 0.000_27,
    })
  },
)

test('the log of a chat has none of them', async () => {
  const log = await fixture.logOf(await fixture.chat('ok'))
  expect(log).toMatchObject({
    images: 0,
    sound_seconds: 0,
    speech_characters: 0,
    speech_seconds: 0,
  })
})
