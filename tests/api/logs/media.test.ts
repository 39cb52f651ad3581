import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFixture, type Fixture } from './fixture'
import { wav } from '../../../server/testing/sound-files'
import { sendRequest } from '../../harness/http'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

test('the log of an image request has the number of its images', async () => {
  const model = await fixture.rig.model('draw-address', {
    category: 'image',
    max_output_tokens: null,
    pricing: { input: 0, output: 0, made_image: 0.04 },
  })
  const body = { model, prompt: 'A house', n: 3 }
  const answer = await fixture.post(body, { path: '/v1/images/generations' })
  expect(answer.status).toBe(200)
  const log = await fixture.logOf(answer)
  expect(log).toMatchObject({
    endpoint: '/v1/images/generations',
    images: 3,
    sound_seconds: 0,
    cost: 0.12,
  })
})

test('the log of a transcription has the seconds of its sound', async () => {
  const model = await fixture.rig.model('hear-uncounted', {
    category: 'transcription',
    max_output_tokens: null,
    pricing: { input: 0, output: 0, audio_hour: 0.36 },
  })
  const file = new File([wav(2.5)], 'talk.wav', { type: 'audio/wav' })
  const { gateway } = fixture.rig
  const form = { file, model }
  const path = '/v1/audio/transcriptions'
  const answer = await sendRequest(gateway, { path, key: fixture.customer.key, form })
  expect(answer.status).toBe(200)
  const log = await fixture.logOf(answer)
  expect(log).toMatchObject({ endpoint: path, images: 0, sound_seconds: 2.5, cost: 0.00025 })
})

test('the log of a chat has neither', async () => {
  const log = await fixture.logOf(await fixture.chat('ok'))
  expect(log).toMatchObject({ images: 0, sound_seconds: 0 })
})
