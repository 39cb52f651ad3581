import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { idempotencyKey, modelErrors } from './description'
import { createModelEndpoint } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import { EmbeddingList } from './schema'
import type { Gateway } from '../gateway/gateway'
import { accepts, answers } from '../http/documentation'
import type { Env } from '../http/env'
import { EmbeddingRequest } from '../wire/embedding-request'

export const embeddingRoutes = (gateway: Gateway, ports: ReplyPorts) =>
  new Hono<Env>().post(
    '/v1/embeddings',
    describeRoute({
      operationId: 'createEmbedding',
      summary: 'Embeddings of one or many texts',
      tags: ['Models'],
      security: [{ apiKey: [] }],
      parameters: [idempotencyKey],
      requestBody: accepts('EmbeddingRequest', EmbeddingRequest, {
        'Two texts': { model: 'sandbox/embedding', input: ['First text', 'Second text'] },
      }),
      responses: {
        ...answers(200, 'The embeddings, in input order', EmbeddingList),
        ...modelErrors,
      },
    }),
    createModelEndpoint((call) => respond(call, gateway.embed, ports)),
  )
