import { afterAll, beforeAll, expect, test } from 'bun:test'
import { wav } from '../../../server/testing/sound-files'
import { sendRequest, type Json } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'

const limits = { images_per_minute: 4, audio_seconds_per_minute: 60 }

let rig: Rig
let customer: Customer

/** Two connections with the same limits: a full one is passed over. */
beforeAll(async () => {
  rig = await startRig()
  const { gateway } = rig
  const second = { name: 'second', provider: 'fake', api_key: 'sk-second', rate_limits: limits }
  const made = await gateway.admin('POST', '/connections', second)
  expect(made['rate_limits']).toEqual({ rpm: null, tpm: null, ...limits })
  const { connections } = await gateway.admin('GET', '/connections')
  const [first] = Array.isArray(connections)
    ? connections.filter(({ name }) => name === 'fake')
    : []
  await gateway.admin('PUT', `/connections/${first.id}`, { rate_limits: limits })
  customer = await gateway.customer()
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const draw = async (n: number, name = 'ok') =>
  sendRequest(rig.gateway, {
    path: '/v1/images/generations',
    key: customer.key,
    body: {
      model: await rig.model(`${name}~image`, {
        category: 'image',
        max_output_tokens: null,
        upstream_model: name,
        pricing: { input: 0, output: 0, made_image: 0.001 },
      }),
      prompt: 'A lighthouse',
      n,
    },
  })

const transcribe = async (seconds: number) =>
  sendRequest(rig.gateway, {
    path: '/v1/audio/transcriptions',
    key: customer.key,
    form: {
      model: await rig.model('hear-uncounted~sound', {
        category: 'transcription',
        upstream_model: 'hear-uncounted',
        pricing: { input: 0, output: 0, audio_hour: 0.36 },
      }),
      file: new File([wav(seconds)], 'talk.wav'),
    },
  })

const chat = async () => {
  const body: Json = {
    model: await rig.model('ok'),
    messages: [{ role: 'user', content: 'Hello' }],
    max_tokens: 10,
  }
  return sendRequest(rig.gateway, { key: customer.key, body })
}

test('a connection full of images is passed over; where all are full, it is 429', async () => {
  // The one image that was made counts, and not the three that were requested.
  expect((await draw(3, 'draw-fewer')).status).toBe(200)
  for (const n of [3, 4]) expect((await draw(n)).status).toBe(200)
  const { status, error, headers } = await draw(1)
  expect([status, error.code, error.details?.['limit']]).toEqual([429, 'rate_limit_exceeded', 4])
  expect(error.message).toContain('accepts 4 images per minute')
  expect(Number(headers.get('retry-after'))).toBeWithin(1, 61)
})

test('a connection full of seconds of sound is passed over; where all are full, it is 429', async () => {
  for (const seconds of [40, 40, 20, 20]) expect((await transcribe(seconds)).status).toBe(200)
  const { status, error } = await transcribe(1)
  expect([status, error.code, error.details?.['limit']]).toEqual([429, 'rate_limit_exceeded', 60])
  expect(error.message).toContain('accepts 60 seconds of sound per minute')
})

test('chats go on', async () => {
  expect((await chat()).status).toBe(200)
})
