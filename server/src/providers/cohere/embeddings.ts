import { z } from 'zod'
import { cohereBatchLimit, cohereTakes, toEmbedBody } from './embed-body'
import type { EmbeddingAdapter } from '../embedding-adapter'
import { toInputUsage } from '../input-usage'
import { invalidAnswer, toCallerError } from '../upstream-error'
import type { JsonObject } from '../../wire/json-body'

const Answer = z.looseObject({
  embeddings: z.looseObject({ float: z.array(z.array(z.number())) }),
  meta: z
    .looseObject({
      billed_units: z
        .looseObject({
          input_tokens: z.unknown().optional(),
          image_tokens: z.unknown().optional(),
          images: z.unknown().optional(),
        })
        .optional(),
    })
    .optional(),
})

/** `POST /v2/embed`. @see https://docs.cohere.com/v2/reference/embed */
export const cohereEmbeddings = {
  batchLimit: cohereBatchLimit,
  takes: cohereTakes,
  request(inputs, { upstreamModel: model, dimensions, task }) {
    const embedBody = toEmbedBody(inputs, {
      model,
      dimensions,
      task,
      toImageUrl: (url) => ({ url }),
    })
    const body: JsonObject = { model, ...embedBody }
    return { path: '/v2/embed', body }
  },
  toError: toCallerError,
  read: ({ body }, source) => {
    const answer = Answer.safeParse(body)
    if (!answer.success) throw invalidAnswer(source.provider, 'no embeddings', answer.error)
    const { embeddings, meta } = answer.data
    const { input_tokens: texts, image_tokens: imageTokens, images } = meta?.billed_units ?? {}
    // Units paid by the image have no tokens.
    const isByImage = texts === undefined && imageTokens === undefined && images !== undefined
    return { embeddings: embeddings.float, usage: toInputUsage(isByImage ? 0 : texts, imageTokens) }
  },
} satisfies EmbeddingAdapter
