import { z } from 'zod'
import type { EmbeddingAdapter } from '../embedding-adapter'
import { toInputUsage } from '../input-usage'
import { nonsense } from '../upstream-error'

const Answer = z.looseObject({
  embeddings: z.looseObject({ float: z.array(z.array(z.number())) }),
  meta: z
    .looseObject({
      billed_units: z.looseObject({ input_tokens: z.unknown().optional() }).optional(),
    })
    .optional(),
})

/** `POST /v2/embed`. @see https://docs.cohere.com/v2/reference/embed */
export const cohereEmbeddings = {
  batchLimit: () => 96,
  request: (texts, { upstreamModel, dimensions, inputType }) => ({
    path: '/v2/embed',
    body: {
      model: upstreamModel,
      texts,
      input_type: inputType ?? 'search_document',
      embedding_types: ['float'],
      ...(dimensions !== undefined && { output_dimension: dimensions }),
      // A text that is cut in silence would be found by half of what it says.
      truncate: 'NONE',
    },
  }),
  read: ({ body }, source) => {
    const answer = Answer.safeParse(body)
    if (!answer.success) throw nonsense(source.provider, 'no embeddings', answer.error)
    const { embeddings, meta } = answer.data
    return { embeddings: embeddings.float, usage: toInputUsage(meta?.billed_units?.input_tokens) }
  },
} satisfies EmbeddingAdapter
