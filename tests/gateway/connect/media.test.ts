import { afterAll, beforeAll, expect, test } from 'bun:test'
import { RunningConnect } from './run-connect'
import { call, createCustomer } from '../../harness/byok'
import { sendRequest } from '../../harness/http'
import { startGateway, type Customer, type Gateway } from '../../harness/server'
import { pngOf } from '../../harness/upstreams/drawings'
import { eventually } from '../../../server/testing/eventually'
import { wav } from '../../../server/testing/sound-files'

/** Images, sound, rankings and moderations of a server behind an agent, by the unmodified client. */

let gateway: Gateway
let owner: Customer
let agent: RunningConnect

const picture = pngOf(8, 8)
const sound = Buffer.from(Array.from({ length: 700_000 }, (_, at) => at % 256))
/** The forms that the server has received. */
const forms: { path: string; model: unknown; bytes: number; type: string | undefined }[] = []

const answers: Readonly<Record<string, (stream: boolean) => Response>> = {
  '/v1/images/generations': () => Response.json({ created: 1, data: [{ b64_json: picture }] }),
  '/v1/images/edits': () => Response.json({ created: 1, data: [{ b64_json: picture }] }),
  '/v1/images/variations': () => Response.json({ created: 1, data: [{ b64_json: picture }] }),
  '/v1/audio/speech': () => new Response(sound, { headers: { 'content-type': 'audio/mpeg' } }),
  '/v1/audio/transcriptions': (stream) =>
    stream ? eventsOf('Hello', ' there.') : Response.json({ text: 'Hello there.' }),
  '/v1/audio/translations': () => Response.json({ text: 'Good day.' }),
  '/v1/moderations': () =>
    Response.json({
      id: 'modr-1',
      model: 'mine',
      results: [
        { flagged: true, categories: { violence: true }, category_scores: { violence: 1 } },
      ],
    }),
  '/v1/rerank': () =>
    Response.json({ results: [{ index: 1, relevance_score: 0.9 }], usage: { total_tokens: 4 } }),
}

function eventsOf(...texts: string[]): Response {
  const deltas = texts.map((delta) => ({ type: 'transcript.text.delta', delta }))
  const events = [...deltas, { type: 'transcript.text.done', text: texts.join('') }]
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

/** A server of the OpenAI format, as a customer runs it on a machine of their own. */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (request.method === 'GET') return Response.json({ object: 'list', data: [{ id: 'mine' }] })
    const isForm = request.headers.get('content-type')?.startsWith('multipart/form-data')
    const form = isForm ? await request.formData() : undefined
    if (!form) await request.json()
    for (const [, file] of form ?? []) {
      if (typeof file === 'string') continue
      const { size: bytes, type } = file
      forms.push({ path: pathname, model: form?.get('model'), bytes, type })
    }
    const isStream = form?.get('stream') === 'true'
    return answers[pathname]?.(isStream) ?? new Response('', { status: 404 })
  },
})

beforeAll(async () => {
  gateway = await startGateway()
  await gateway.admin('POST', '/providers', {
    key: 'home',
    name: 'Home',
    adapter: 'openai',
    options: { images: { edits: 'form' } },
  })
  owner = await createCustomer(gateway)
  const { body } = await call(gateway, owner, 'POST /gateways', { name: 'At home' })
  const address = `http://127.0.0.1:${server.port}/v1`
  agent = new RunningConnect(['--url', gateway.url, '--serve', `home=${address}`, '--json'], {
    TOLLGATE_GATEWAY_TOKEN: String(body['token']),
  })
  const isOnline = async () =>
    (await call(gateway, owner, 'GET /gateways')).text.includes('"status":"online"')
  await eventually(isOnline)
})
afterAll(async () => {
  await agent[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  await server.stop(true)
})

const model = 'home/mine'
const recording = () => new File([wav(60)], 'talk.wav', { type: 'audio/wav' })
const image = () => new File([Buffer.from(picture, 'base64')], 'a.png', { type: 'image/png' })

test('images are made, changed and varied', async () => {
  const { images } = owner.client
  const wish = { model, prompt: 'A lighthouse', response_format: 'b64_json' } as const
  const made = await images.generate(wish)
  expect(made.data?.[0]?.b64_json).toBe(picture)
  const changed = await images.edit({ model, prompt: 'At dusk', image: [image(), image()] })
  expect(changed.data?.[0]?.b64_json).toBe(picture)
  const varied = await images.createVariation({
    model,
    image: image(),
    response_format: 'b64_json',
  })
  expect(varied.data?.[0]?.b64_json).toBe(picture)
  const { size: bytes } = image()
  const edits = { path: '/v1/images/edits', model: 'mine', bytes, type: 'image/png' }
  expect(forms.splice(0)).toEqual([edits, edits, { ...edits, path: '/v1/images/variations' }])
})

test('speech comes byte for byte', async () => {
  const answer = await owner.client.audio.speech.create({ model, input: 'Hello', voice: 'alloy' })
  expect(answer.headers.get('content-type')).toBe('audio/mpeg')
  expect(Buffer.from(await answer.arrayBuffer()).equals(sound)).toBe(true)
})

test('recordings are transcribed, whole and streamed, and translated', async () => {
  const { transcriptions, translations } = owner.client.audio
  const file = recording()
  expect((await transcriptions.create({ model, file })).text).toBe('Hello there.')
  let text = ''
  for await (const event of await transcriptions.create({ model, file, stream: true })) {
    if (event.type === 'transcript.text.delta') text += event.delta
  }
  expect(text).toBe('Hello there.')
  expect((await translations.create({ model, file })).text).toBe('Good day.')
  const { size: bytes } = file
  expect(bytes).toBeGreaterThan(262_144)
  // The runtime that reads the form has a name of its own for it.
  const type = 'audio/x-wav'
  const transcription = { path: '/v1/audio/transcriptions', model: 'mine', bytes, type }
  const translation = { ...transcription, path: '/v1/audio/translations' }
  expect(forms.splice(0)).toEqual([transcription, transcription, translation])
})

test('rankings and moderations', async () => {
  const { results } = await owner.client.moderations.create({ model, input: 'Violence' })
  expect(results[0]?.categories.violence).toBe(true)
  const body = { model, query: 'one', documents: ['two', 'three'], top_n: 1 }
  const ranking = await sendRequest(gateway, { key: owner.key, path: '/v1/rerank', body })
  expect(ranking.body['results']).toEqual([{ index: 1, relevance_score: 0.9 }])
})
