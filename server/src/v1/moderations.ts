import { idempotencyHeader, modelErrors } from './description'
import { modelRoute } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import { Moderation } from './schema'
import type { Gateway } from '../gateway/gateway'
import { modelKey } from '../http/access'
import type { Route } from '../http/route'
import { CallerModeration } from '../wire/moderation-request'

export const moderationRoutes = (gateway: Gateway, ports: ReplyPorts): Route[] => [
  modelRoute({
    method: 'post',
    path: '/v1/moderations',
    access: modelKey('write'),
    operationId: 'createModeration',
    tag: 'Models',
    summary: 'Classify texts and images by harmful content',
    notes:
      "In the categories of the model's maker. `sandbox/moderation` flags the categories whose names are in a text.",
    headers: idempotencyHeader,
    body: CallerModeration.meta({ ref: 'ModerationRequest' }),
    examples: {
      'A text': { model: 'sandbox/moderation', input: 'Is this about violence?' },
    },
    responses: { 200: Moderation.describe('A result for each input, in their order') },
    errors: modelErrors,
    handler: (call) => respond(call, gateway.moderate, ports),
  }),
]
