import type { Nodes } from '../../harness/nodes'
import type { Json } from '../../harness/http'
import { toForm, type FormFields } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { wav } from '../../../server/testing/sound-files'

/** A request to an endpoint of images, sound, rankings or moderations. */
export interface MediaRequest {
  path: string
  /** The behaviour of the fake provider. */
  name: string
  model: Json
  body?: Json
  form?: FormFields
  /** The charge by the contract, in nano-dollars. */
  cost: bigint
}

const perImage = { category: 'image', pricing: { input: 0, output: 0, made_image: 0.04 } }
const perCharacter = { category: 'speech', pricing: { input: 0, output: 0, input_characters: 15 } }
const perHour = { category: 'transcription', pricing: { input: 0, output: 0, audio_hour: 0.36 } }
const perToken = {
  category: 'image',
  pricing: { input: 5, output: 0, image_input: 10, image_output: 40 },
}
const ranker = { category: 'rerank', pricing: { input: 1, output: 0 } }
const moderator = { category: 'moderation', pricing: { input: 1, output: 0 } }

const sound = new File([wav(4)], 'talk.wav', { type: 'audio/wav' })
const picture = new File([Buffer.alloc(600)], 'a.png', { type: 'image/png' })
const imageCost = 40_000_000n
/** 19 characters. */
const input = 'Good morning to you'
const speechCost = 19n * 15_000n
const soundCost = 400_000n

const draw = (name: string, cost: bigint, more: Json = {}): MediaRequest => ({
  path: '/v1/images/generations',
  name,
  model: perImage,
  body: { prompt: 'A lighthouse', ...more },
  cost,
})
/** A change of an image, or a variation of it. */
const change = (
  kind: 'edits' | 'variations',
  name: string,
  { cost, form }: Pick<MediaRequest, 'cost' | 'form'>,
): MediaRequest => ({
  path: `/v1/images/${kind}`,
  name,
  model: perImage,
  form: { image: picture, ...(kind === 'edits' && { prompt: 'At dusk' }), ...form },
  cost,
})
const speak = (name: string, cost: bigint): MediaRequest => ({
  path: '/v1/audio/speech',
  name,
  model: perCharacter,
  body: { input, voice: 'alloy' },
  cost,
})
const hear = (name: string, cost: bigint, more: FormFields = {}): MediaRequest => ({
  path: '/v1/audio/transcriptions',
  name,
  model: perHour,
  form: { file: sound, ...more },
  cost,
})

const streamed = { stream: true, partial_images: 1 }
const streamedForm = { stream: 'true', partial_images: '1' }

/** Requests that end well. */
export const wholeRequests: readonly MediaRequest[] = [
  draw('draw-address', 2n * imageCost, { n: 2 }),
  {
    path: '/v1/images/edits',
    name: 'ok~edits',
    model: perToken,
    form: { image: picture, prompt: 'At dusk', quality: 'low', size: '1024x1024' },
    // Two tokens of text, 323 of an image that is seen, 272 of one that is made.
    cost: 2n * 5000n + 323n * 10_000n + 272n * 40_000n,
  },
  change('variations', 'ok~variations', { form: { n: '2' }, cost: 2n * imageCost }),
  speak('ok~speech', speechCost),
  hear('ok~sound', soundCost),
  { ...hear('ok~english', soundCost), path: '/v1/audio/translations' },
  {
    path: '/v1/rerank',
    name: 'ok~ranks',
    model: ranker,
    body: { query: 'one', documents: ['two', 'three'] },
    // The query with each document: four tokens.
    cost: 4000n,
  },
  {
    path: '/v1/moderations',
    name: 'moderate-counted',
    model: moderator,
    body: { input: 'one two three' },
    cost: 3000n,
  },
]

/** Requests whose provider dies: before its answer, in the middle of it, and after it has made what it is paid for. */
export const dyingRequests: readonly MediaRequest[] = [
  draw('half-json', 0n),
  draw('draw-cut', 0n, streamed),
  change('edits', 'half-json~edits', { cost: 0n }),
  change('edits', 'draw-cut~edits', { form: streamedForm, cost: 0n }),
  change('variations', 'half-json~variations', { cost: 0n }),
  speak('speech-cut', speechCost),
  hear('hear-cut', soundCost, { stream: 'true' }),
]

/** Requests whose answers the provider holds: their clients leave, or the gateway is killed meanwhile. */
export const heldRequests: readonly MediaRequest[] = [
  draw('held-first~image', imageCost),
  draw('draw-held', imageCost, streamed),
  change('edits', 'held-first~edits', { cost: imageCost }),
  change('edits', 'draw-held~edits', { form: streamedForm, cost: imageCost }),
  change('variations', 'held-first~variations', { cost: imageCost }),
  speak('speech-held', speechCost),
  hear('held-first~sound', soundCost),
  hear('hear-held', soundCost, { stream: 'true' }),
]

/** The upload to a provider that ends its connections while it is sent to. */
export const brokenUpload: MediaRequest = hear('', 0n, { model: 'dying/ears' })

/** Sends a request to node 0; rejects where the connection breaks. */
export async function sendMedia(
  nodes: Nodes,
  { key }: Pick<Customer, 'key'>,
  { request, signal }: { request: MediaRequest; signal?: AbortSignal },
): Promise<Response> {
  const { path, name, model: fields, body, form } = request
  const model = name && (await nodes.model(name, { max_output_tokens: null, ...fields }))
  return fetch(`${nodes.at(0).url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    body: form ? toForm({ model, ...form }) : JSON.stringify({ model, ...body }),
    ...(signal && { signal }),
  })
}
