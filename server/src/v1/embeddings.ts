import { modelErrors, modelHeaders } from './description'
import { modelRoute } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import { EmbeddingList } from './schema'
import type { Gateway } from '../gateway/gateway'
import { modelKey } from '../http/access'
import { EmbeddingRequest } from '../wire/embedding-request'
import type { Route } from '../http/route'

export const embeddingRoutes = (gateway: Gateway, ports: ReplyPorts): Route[] => [
  modelRoute({
    method: 'post',
    path: '/v1/embeddings',
    access: modelKey('write'),
    operationId: 'createEmbedding',
    tag: 'Models',
    summary: 'Create embeddings',
    notes:
      'Of up to 2,048 texts or token lists, in batches where a provider takes fewer. `base64` is little-endian 32-bit floats, with every provider.',
    headers: modelHeaders,
    body: EmbeddingRequest.meta({ ref: 'EmbeddingRequest' }),
    examples: {
      'Two texts': { model: 'sandbox/embedding', input: ['First text', 'Second text'] },
    },
    responses: { 200: EmbeddingList.describe('The embeddings, in the order of the input') },
    errors: modelErrors,
    handler: (call) => respond(call, gateway.embed, ports),
  }),
]
