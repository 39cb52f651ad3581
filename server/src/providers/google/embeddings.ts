import { z } from 'zod'
import { isMultimodal, toParts, toTaskType } from './embedding-task'
import { toGoogleError } from './failure'
import { toModelPath } from './model-name'
import { readGoogleInputUsage } from './usage'
import { invalidAnswer } from '../upstream-error'
import type { EmbeddingAdapter } from '../embedding-adapter'

const Answer = z.looseObject({
  embeddings: z.array(z.looseObject({ values: z.array(z.number()).min(1) })),
  // The newer models count, the older ones do not.
  usageMetadata: z.unknown().optional(),
})

/** `POST …:batchEmbedContents`. @see https://ai.google.dev/api/embeddings */
export const googleEmbeddings: EmbeddingAdapter = {
  batchLimit: () => 100,
  takes: (model) => (isMultimodal(model) ? 'mixed' : 'text'),

  request(inputs, { upstreamModel, dimensions, task }) {
    const path = `/models/${toModelPath(upstreamModel)}`
    const isByPrefix = isMultimodal(upstreamModel)
    const fields = {
      ...(task && !isByPrefix && { taskType: toTaskType(task) }),
      ...(dimensions && { outputDimensionality: dimensions }),
    }
    return {
      path: `${path}:batchEmbedContents`,
      body: {
        // One content an input: several parts of one content have one vector together.
        requests: inputs.map((item) => ({
          model: path.slice(1),
          content: { parts: toParts(item, isByPrefix ? task : undefined) },
          ...fields,
        })),
      },
    }
  },

  toError: toGoogleError,

  read({ body }, source) {
    const answer = Answer.safeParse(body)
    if (!answer.success) {
      throw invalidAnswer(source.provider, 'a response without embeddings', answer.error)
    }
    return {
      embeddings: answer.data.embeddings.map(({ values }) => values),
      usage: readGoogleInputUsage(answer.data.usageMetadata),
    }
  },
}
