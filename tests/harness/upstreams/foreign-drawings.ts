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

/** https://docs.aws.amazon.com/nova/latest/userguide/image-gen-req-resp-structure.html */
const asNova: Behaviour = async (call) => {
  const { body } = call.received
  const { text } = objectIn(body, 'textToImageParams')
  const { numberOfImages: count } = objectIn(body, 'imageGenerationConfig')
  const isAsked = body['taskType'] === 'TEXT_IMAGE' && typeof text === 'string'
  if (!isAsked || Number(count) > maxImages.nova) {
    const message = 'Malformed input request, please reformat your input and try again.'
    return call.reply.json(400, { message })
  }
  const images = Array.from({ length: Number(count ?? 1) }, () => pngOf(side, side))
  await answer(call, { images })
}

/** Images in the formats of Google and of Amazon Bedrock, by the end of their paths. */
export const foreignDrawings: readonly (readonly [string, Record<string, Behaviour>])[] = [
  [':predict', { ok: asImagen }],
  [':generateContent', { ok: asGemini }],
  ['/invoke', { ok: asNova }],
]

const paths = /^\/v1\/(?:models\/[^/:]+:(?:predict|generateContent)|model\/[^/]+\/invoke)$/

/** The behaviour of a request for images in such a format, whose path names the model; undefined for other requests. */
export const drawingModelOf = (path: string): string | undefined =>
  paths.test(path) ? 'ok' : undefined
