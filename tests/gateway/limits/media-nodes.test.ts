import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { wav } from '../../../server/testing/sound-files'
import { startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'

let nodes: TwoNodes

beforeAll(async () => {
  nodes = await startTwoNodes({ environment: { LIMIT_STORE: 'postgresql' } })
}, 60_000)
afterAll(async () => {
  for (const { recorder } of [nodes.a, nodes.b]) recorder.verify()
  await nodes[Symbol.asyncDispose]()
})

const draw = (node: Gateway, { key }: Customer, n: number) =>
  sendRequest(node, {
    path: '/v1/images/generations',
    key,
    body: { model: 'sandbox/image', prompt: 'A lighthouse', size: '16x16', n },
  })

const transcribe = (node: Gateway, { key }: Customer, seconds: number) =>
  sendRequest(node, {
    path: '/v1/audio/transcriptions',
    key,
    form: { model: 'sandbox/transcription', file: new File([wav(seconds)], 'talk.wav') },
  })

test('two nodes share the images and the seconds of a minute', async () => {
  const { a, b } = nodes
  const limits = { images_per_minute: 8, audio_seconds_per_minute: 60 }
  const customer = await a.customer({}, { limits })
  expect((await draw(a, customer, 3)).status).toBe(200)
  expect((await draw(b, customer, 4)).status).toBe(200)
  for (const node of [a, b]) {
    const { status, error } = await draw(node, customer, 2)
    expect([status, error.code]).toEqual([429, 'images_per_minute_exceeded'])
  }
  // A node that its store answers late refuses what its own slice has no room for.
  await eventually(async () => (await draw(a, customer, 1)).status === 200)
  expect((await transcribe(a, customer, 30)).status).toBe(200)
  expect((await transcribe(b, customer, 25)).status).toBe(200)
  for (const node of [a, b]) {
    const { status, error } = await transcribe(node, customer, 6)
    expect([status, error.code]).toEqual([429, 'audio_seconds_per_minute_exceeded'])
  }
  await eventually(async () => (await transcribe(b, customer, 5)).status === 200)
})
