import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { upstreamSecret } from '../../harness/server'
import type { Json } from '../../harness/http'
import { openFront, type Front } from '../../providers/translated/front'

let front: Front

const [claude, gemini, local] = [
  'anthropic/claude-sonnet-4-6',
  'google/gemini-2.5-flash',
  'deepseek/deepseek-v4-flash',
]

beforeAll(async () => {
  front = await openFront((url) => ({
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: `${url}/v1beta`,
    DEEPSEEK_API_KEY: upstreamSecret,
    DEEPSEEK_BASE_URL: `${url}/v1`,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const pdf = 'data:application/pdf;base64,JVBERi0xLjQK'
const image = { type: 'image_url', image_url: { url: pdf } }
const oggUrl = { type: 'audio_url', audio_url: { url: 'data:audio/ogg;base64,T2dn' } }
const sound = (format: string) => ({ type: 'input_audio', input_audio: { data: 'T2dn', format } })
const inline = (mimeType: string, data = 'T2dn') => ({ inlineData: { mimeType, data } })

/** What reaches the provider; its answer does not matter. */
async function sent(model: string, part: Json): Promise<Json | undefined> {
  await front.chat(model, { messages: [{ role: 'user', content: [part] }] })
  return front.requests.at(-1)?.body
}

test.each<[string, string, Json, Json]>([
  [
    'a PDF as an image to Claude',
    claude,
    image,
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' },
    },
  ],
  ['a PDF as an image to Gemini', gemini, image, inline('application/pdf', 'JVBERi0xLjQK')],
  ['Ogg to Gemini', gemini, sound('ogg'), inline('audio/ogg')],
  ['M4A to Gemini', gemini, sound('m4a'), inline('audio/m4a')],
  ['WebM to Gemini', gemini, sound('webm'), inline('audio/webm')],
  ['Ogg by its URL to Gemini', gemini, oggUrl, inline('audio/ogg')],
  ['Ogg to the chat format', local, sound('ogg'), sound('ogg')],
  ['Ogg by its URL to the chat format', local, oggUrl, oggUrl],
  ['a PDF as an image to the chat format', local, image, image],
])('finding V23: %s arrives', async (...row) => {
  const [, model, part, expected] = row
  const body = await sent(model, part)
  expect(JSON.stringify(body)).toContain(JSON.stringify(expected))
})

test.each<[string, string, Json, string]>([
  ['sound', claude, sound('ogg'), 'messages.0.content.0'],
  ['sound by its URL', claude, oggUrl, 'messages.0.content.0'],
  ['an unknown format', gemini, sound('xyz'), 'messages.0.content.0.input_audio.format'],
  ['no format', local, sound('a b'), 'messages.0.content.0.input_audio.format'],
])('finding V23: %s for an unsupported model is rejected by name', async (...row) => {
  const [, model, part, param] = row
  const answer = await front.chat(model, { messages: [{ role: 'user', content: [part] }] })
  expect([answer.status, answer.error.param]).toEqual([400, param])
  expect(front.requests).toHaveLength(0)
})
