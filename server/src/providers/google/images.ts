import { z } from 'zod'
import { toGoogleError } from './failure'
import { parseGeneration, toModelPath } from './model-name'
import { readDrawnUsage } from './usage'
import { toAspectRatio, toSizeClass } from '../aspect-ratio'
import type { ImageAdapter, ImageAnswer, ImageTarget, ImageWish } from '../image-adapter'
import { invalidAnswer, type ErrorSource } from '../upstream-error'
import { invalidRequest } from '../../errors'
import type { JsonObject } from '../../wire/json-body'

const isImagen = (model: string) => /(?:^|\/)imagen/.test(model)

/** https://ai.google.dev/gemini-api/docs/imagen */
const imagenRatios = ['1:1', '3:4', '4:3', '9:16', '16:9']
/** https://ai.google.dev/gemini-api/docs/image-generation */
const geminiRatios = [...imagenRatios, '2:3', '3:2', '4:5', '5:4', '21:9']
/** Generations before it draw in one size. */
const minGenerationOfSizes = 3

const Predictions = z.looseObject({
  predictions: z
    .array(
      z.looseObject({
        bytesBase64Encoded: z.string().min(1).optional(),
        raiFilteredReason: z.string().optional(),
      }),
    )
    .default([]),
})

const Part = z.looseObject({
  inlineData: z.looseObject({ data: z.string().min(1) }).optional(),
  thought: z.boolean().optional(),
})
const Content = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z.looseObject({ parts: z.array(Part).default([]) }).optional(),
        finishReason: z.string().optional(),
        finishMessage: z.string().optional(),
      }),
    )
    .default([]),
  promptFeedback: z.looseObject({ blockReason: z.string().optional() }).optional(),
  usageMetadata: z.unknown().optional(),
})

/**
 * Imagen by `:predict`, and Gemini's models that draw by `:generateContent`, below `home`.
 * @see https://ai.google.dev/api/models#method:-models.predict
 */
export const imagesOfGoogle = (home: string, nameOf: (model: string) => string): ImageAdapter => ({
  batchLimit: (upstreamModel) => (isImagen(upstreamModel) ? 4 : 1),
  edits: (upstreamModel) => !isImagen(upstreamModel),
  request(wish, target) {
    const model = nameOf(target.upstreamModel)
    const path = `${home}/${toModelPath(model)}`
    return isImagen(model)
      ? { path: `${path}:predict`, body: toPrediction(wish, target) }
      : {
          path: `${path}:generateContent`,
          body: toContent(wish, { ...target, upstreamModel: model }),
        }
  },
  toError: toGoogleError,
  read: (answer, source) => readPredictions(answer, source) ?? readContent(answer, source),
})

/** The Gemini API. */
export const googleImages = imagesOfGoogle('/models', (model) => model)

function toPrediction(wish: ImageWish, { count }: ImageTarget): JsonObject {
  const { prompt, size, output_format: format, output_compression: compression } = wish
  const ratio = toAspectRatio(size, imagenRatios)
  const sizeClass = toSizeClass(size)
  return {
    instances: [{ prompt }],
    parameters: {
      sampleCount: count,
      includeRaiReason: true,
      ...(ratio !== undefined && { aspectRatio: ratio }),
      // The largest that there is.
      ...(sizeClass !== undefined && sizeClass !== '1K' && { sampleImageSize: '2K' }),
      ...(format && {
        outputOptions: {
          mimeType: `image/${format}`,
          ...(typeof compression === 'number' &&
            format === 'jpeg' && { compressionQuality: compression }),
        },
      }),
    },
  }
}

function toContent({ prompt, size }: ImageWish, target: ImageTarget): JsonObject {
  const { upstreamModel, maxTokensPerImage, inputs } = target
  const ratio = toAspectRatio(size, geminiRatios)
  const hasSizes = parseGeneration(upstreamModel) >= minGenerationOfSizes
  const sizeClass = hasSizes ? toSizeClass(size) : undefined
  const imageConfig = {
    ...(ratio !== undefined && { aspectRatio: ratio }),
    ...(sizeClass !== undefined && { imageSize: sizeClass }),
  }
  const images = inputs.map(({ mimeType, base64 }) => ({ inlineData: { mimeType, data: base64 } }))
  return {
    contents: [{ role: 'user', parts: [...images, { text: prompt }] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      maxOutputTokens: maxTokensPerImage,
      ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
    },
  }
}

const filtered = (source: ErrorSource, reason: string) =>
  invalidRequest('prompt', 'content_filter', `${source.provider} filtered the request: ${reason}`)

/** Undefined for an answer of the other kind of models. */
function readPredictions(answer: unknown, source: ErrorSource): ImageAnswer | undefined {
  const parsed = Predictions.safeParse(answer)
  if (!parsed.success || 'candidates' in parsed.data || 'promptFeedback' in parsed.data)
    return undefined
  const { predictions } = parsed.data
  const images = predictions.flatMap(({ bytesBase64Encoded: data }) =>
    data === undefined ? [] : [{ b64_json: data }],
  )
  if (images.length > 0) return { images, usage: undefined }
  const reason = predictions.find(({ raiFilteredReason: text }) => text)?.raiFilteredReason
  // Of what it filters entirely it answers nothing.
  throw filtered(source, reason ?? 'no image was made.')
}

function readContent(answer: unknown, source: ErrorSource): ImageAnswer {
  const parsed = Content.safeParse(answer)
  if (!parsed.success) throw invalidAnswer(source.provider, 'no image', parsed.error)
  const { candidates, promptFeedback, usageMetadata } = parsed.data
  const parts = candidates.flatMap(({ content }) => content?.parts ?? [])
  const images = parts.flatMap(({ inlineData, thought }) =>
    inlineData && !thought ? [{ b64_json: inlineData.data }] : [],
  )
  if (images.length > 0) return { images, usage: readDrawnUsage(usageMetadata) }
  const reason =
    promptFeedback?.blockReason ??
    candidates.find(({ finishReason }) => finishReason && finishReason !== 'STOP')?.finishReason
  if (reason === undefined || reason === 'MAX_TOKENS') {
    throw invalidAnswer(source.provider, 'a response without an image')
  }
  throw filtered(source, candidates[0]?.finishMessage ?? reason)
}
