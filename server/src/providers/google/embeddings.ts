import { z } from 'zod'
import { toGoogleError } from './failure'
import { modelPath } from './model-name'
import { readGoogleUsage } from './usage'
import { nonsense } from '../upstream-error'
import type { EmbeddingAdapter } from '../embedding-adapter'

const Answer = z.looseObject({
  embeddings: z.array(z.looseObject({ values: z.array(z.number()).min(1) })),
  // The newer models count, the older ones do not.
  usageMetadata: z.unknown().optional(),
})

/** `POST …:batchEmbedContents`. @see https://ai.google.dev/api/embeddings */
export const googleEmbeddings: EmbeddingAdapter = {
  batchLimit: () => 100,

  request(texts, { upstreamModel, dimensions, inputType }) {
    const path = `/models/${modelPath(upstreamModel)}`
    return {
      path: `${path}:batchEmbedContents`,
      body: {
        requests: texts.map((text) => ({
          model: path.slice(1),
          content: { parts: [{ text }] },
          ...(inputType && { taskType: inputType }),
          ...(dimensions && { outputDimensionality: dimensions }),
        })),
      },
    }
  },

  failure: toGoogleError,

  read({ body }, source) {
    const answer = Answer.safeParse(body)
    if (!answer.success) {
      throw nonsense(source.provider, 'an answer without embeddings', answer.error)
    }
    return {
      embeddings: answer.data.embeddings.map(({ values }) => values),
      usage: readGoogleUsage(answer.data.usageMetadata),
    }
  },
}
