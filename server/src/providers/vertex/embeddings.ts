import { z } from 'zod'
import { toGoogleError } from '../google/failure'
import { surfaceOf } from './address'
import { modelPath } from '../google/model-name'
import { readGoogleUsage } from '../google/usage'
import { readUsage, type Usage } from '../../wire/usage'
import { nonsense } from '../upstream-error'
import type { EmbeddingAdapter } from '../embedding-adapter'

const Values = z.looseObject({ values: z.array(z.number()).min(1) })
const Content = z.looseObject({ embedding: Values, usageMetadata: z.unknown().optional() })
const Predictions = z.looseObject({
  predictions: z
    .array(
      z.looseObject({
        embeddings: Values.extend({
          statistics: z.looseObject({ token_count: z.number().nullish() }).nullish(),
        }),
      }),
    )
    .min(1),
})

/** The models after the first Gemini one are served as contents, the older ones as predictions. */
const isContent = (model: string) => /^gemini-embedding-(?!001)/.test(model)

/**
 * Texts that are too long are refused, not cut: callers get an error, never a vector of half a text.
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
 */
export const vertexEmbeddings: EmbeddingAdapter = {
  // Of the older models, five texts in most regions.
  batchLimit: (model) => (surfaceOf(model).model.startsWith('gemini-') ? 1 : 5),

  request(texts, { upstreamModel, dimensions, inputType }) {
    const { model } = surfaceOf(upstreamModel)
    const path = `/publishers/google/models/${modelPath(model)}`
    const size = dimensions ? { outputDimensionality: dimensions } : {}
    if (isContent(model)) {
      const purpose = inputType ? { taskType: inputType } : {}
      return {
        path: `${path}:embedContent`,
        body: {
          content: { parts: texts.map((text) => ({ text })) },
          embedContentConfig: { ...purpose, ...size, autoTruncate: false },
        },
      }
    }
    const purpose = inputType ? { task_type: inputType } : {}
    return {
      path: `${path}:predict`,
      body: {
        instances: texts.map((content) => ({ content, ...purpose })),
        parameters: { ...size, autoTruncate: false },
      },
    }
  },

  failure: toGoogleError,

  read({ body }, source) {
    const content = Content.safeParse(body)
    if (content.success) {
      const { embedding, usageMetadata } = content.data
      return { embeddings: [embedding.values], usage: readGoogleUsage(usageMetadata) }
    }
    const answer = Predictions.safeParse(body)
    if (!answer.success) {
      throw nonsense(source.provider, 'an answer without embeddings', answer.error)
    }
    const all = answer.data.predictions.map(({ embeddings }) => embeddings)
    return {
      embeddings: all.map(({ values }) => values),
      usage: counted(all.map(({ statistics }) => statistics?.token_count)),
    }
  },
}

/** The tokens of all texts; undefined where one of them was not counted. */
function counted(counts: readonly (number | null | undefined)[]): Usage | undefined {
  let total = 0
  for (const count of counts) {
    if (typeof count !== 'number') return undefined
    total += count
  }
  return readUsage({ total_tokens: total }, 'inside')
}
