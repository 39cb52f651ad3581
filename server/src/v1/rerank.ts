import { z } from 'zod'
import { modelErrors, modelHeaders } from './description'
import { modelRoute } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import type { Gateway } from '../gateway/gateway'
import { modelKey } from '../http/access'
import { RerankRequest } from '../wire/rerank-request'
import type { Route } from '../http/route'

const Reranking = z
  .looseObject({
    id: z.string(),
    model: z.string(),
    results: z.array(
      z.looseObject({
        index: z.int().describe('The place of the document in the request'),
        relevance_score: z.number(),
        document: z.looseObject({ text: z.string() }).optional(),
      }),
    ),
    usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }),
    meta: z.looseObject({
      billed_units: z
        .looseObject({ search_units: z.int().optional(), input_tokens: z.int().optional() })
        .describe('The counts that the provider reports'),
    }),
  })
  .meta({
    ref: 'Reranking',
    examples: [
      {
        id: 'rerank-01m7zbr7rr3rrzfbtxk7716g95',
        model: 'sandbox/rerank',
        results: [
          {
            index: 1,
            relevance_score: 1,
            document: { text: 'Paris is the capital of France.' },
          },
        ],
        usage: { prompt_tokens: 17, total_tokens: 17 },
        meta: { api_version: { version: '2' }, billed_units: { input_tokens: 17 } },
      },
    ],
  })

/** Both paths serve the same: clients of Cohere use the second. */
const paths = [
  ['/v1/rerank', 'rerank'],
  ['/v2/rerank', 'rerankV2'],
] as const

export const rerankRoutes = (gateway: Gateway, ports: ReplyPorts): Route[] => {
  const body = RerankRequest.meta({ ref: 'RerankRequest' })
  return paths.map(([path, operationId]) =>
    modelRoute({
      method: 'post',
      path,
      access: modelKey('write'),
      operationId,
      tag: 'Models',
      summary: 'Create a ranking of documents by relevance',
      notes:
        'In the form that Cohere and Jina have in common, for the models of every provider. `/v1/rerank` and `/v2/rerank` are the same.',
      headers: modelHeaders,
      body,
      examples: {
        'Two documents': {
          model: 'sandbox/rerank',
          query: 'capital of France',
          documents: ['Berlin lies on the Spree.', 'Paris is the capital of France.'],
          top_n: 1,
          return_documents: true,
        },
      },
      responses: { 200: Reranking.describe('The best documents first') },
      errors: modelErrors,
      handler: (call) => respond(call, gateway.rerank, ports),
    }),
  )
}
