import { isJson, type Behaviour, type Call, type Json } from './call'
import { pngOf } from './drawings'
import { countTokens } from './tokens'

const side = 1024
const tokensPerImage = 1120
const maxImages = { imagen: 4, nova: 5 }

const objectIn = (body: Json, name: string): Json => {
  const value = body[name]
  return isJson(value) ? value : {}
}

const firstOf = (value: unknown): Json => {
  const first: unknown = Array.isArray(value) ? value[0] : undefined
  return isJson(first) ? first : {}
}

async function answer(call: Call, body: Json): Promise<void> {
  call.attempt.answered = true
  await call.reply.json(200, body)
  call.attempt.complete = true
}

const refuseAsGoogle = (call: Call, message: string) =>
  call.reply.json(400, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } })

/** https://ai.google.dev/gemini-api/docs/imagen */
const asImagen: Behaviour = async (call) => {
  const { body } = call.received
  const { prompt } = firstOf(body['instances'])
  const count = Number(objectIn(body, 'parameters')['sampleCount'] ?? maxImages.imagen)
  if (typeof prompt !== 'string') return refuseAsGoogle(call, 'Prompt is required.')
  if (count > maxImages.imagen) return refuseAsGoogle(call, 'sampleCount must be at most 4.')
  const image = { mimeType: 'image/png', bytesBase64Encoded: pngOf(side, side) }
  await answer(call, { predictions: Array.from({ length: count }, () => image) })
}

/** https://ai.google.dev/gemini-api/docs/image-generation */
const asGemini: Behaviour = async (call) => {
  const { body } = call.received
  const { responseModalities } = objectIn(body, 'generationConfig')
  const { parts } = firstOf(body['contents'])
  if (!Array.isArray(responseModalities) || !responseModalities.includes('IMAGE')) {
    return refuseAsGoogle(
      call,
      'The requested combination of response modalities is not supported.',
    )
  }
  const prompt = countTokens(JSON.stringify(parts))
  const inlineData = { mimeType: 'image/png', data: pngOf(side, side) }
  const content = { role: 'model', parts: [{ inlineData }] }
  await answer(call, {
    candidates: [{ content, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: tokensPerImage,
      totalTokenCount: prompt + tokensPerImage,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: tokensPerImage }],
    },
  })
}

/** Returns whether a request has the parameters of its task: a text, or up to five images to vary. */
function isNovaTask(body: Json): boolean {
  if (body['taskType'] === 'TEXT_IMAGE')
    return typeof objectIn(body, 'textToImageParams')['text'] === 'string'
  const { images } = objectIn(body, 'imageVariationParams')
  const isVaried = body['taskType'] === 'IMAGE_VARIATION' && Array.isArray(images)
  return isVaried && images.length > 0 && images.length <= maxImages.nova
}

/** https://docs.aws.amazon.com/nova/latest/userguide/image-gen-req-resp-structure.html */
const asNova: Behaviour = async (call) => {
  const { body } = call.received
  const { numberOfImages: count } = objectIn(body, 'imageGenerationConfig')
  if (!isNovaTask(body) || Number(count) > maxImages.nova) {
    const message = 'Malformed input request, please reformat your input and try again.'
    return call.reply.json(400, { message })
  }
  const images = Array.from({ length: Number(count ?? 1) }, () => pngOf(side, side))
  await answer(call, { images })
}

/** The path of the state of a task. */
export const taskPath = '/v1/get_result'

/** A task, whose state is at the address in its answer. https://docs.bfl.ai/quick_start/generating_images */
const asFlux: Behaviour = async (call) => {
  const { body, headers } = call.received
  if (!headers['x-key']) return call.reply.json(403, { detail: 'Not authenticated' })
  if (typeof body['prompt'] !== 'string' && typeof body['image_prompt'] !== 'string') {
    const detail = [{ loc: ['body'], msg: 'Either prompt or image_prompt is required' }]
    return call.reply.json(422, { detail })
  }
  const { host = '' } = headers
  const state = `http://${host}${taskPath}?id=t`
  await answer(call, { id: 't', polling_url: state, cost: 4, input_mp: 0, output_mp: 1 })
}

const asFluxState: Behaviour = (call) =>
  answer(call, {
    id: 't',
    status: 'Ready',
    result: { sample: 'https://delivery.example/flux.png', seed: 1 },
  })

/** Images in the formats of Google, Amazon Bedrock and Black Forest Labs, by the end of their paths. */
export const foreignDrawings: readonly (readonly [string, Record<string, Behaviour>])[] = [
  [':predict', { ok: asImagen }],
  [':generateContent', { ok: asGemini }],
  ['/invoke', { ok: asNova }],
  ['/flux-pro-1.1', { ok: asFlux }],
  [taskPath, { ok: asFluxState }],
]

const paths =
  /^\/v1\/(?:models\/[^/:]+:(?:predict|generateContent)|model\/[^/]+\/invoke|flux-pro-1\.1|get_result)$/

/** The behaviour of a request for images in such a format, whose path names the model; undefined for other requests. */
export const drawingModelOf = (path: string): string | undefined =>
  paths.test(path) ? 'ok' : undefined
