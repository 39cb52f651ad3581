import { z } from 'zod'
import { modelErrors, modelHeaders } from './description'
import { modelRoute } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import type { Gateway } from '../gateway/gateway'
import { modelKey } from '../http/access'
import type { Route } from '../http/route'
import { CallerModeration } from '../wire/moderation-request'

const Moderation = z
  .looseObject({
    id: z.string(),
    model: z.string(),
    results: z
      .array(
        z.looseObject({
          flagged: z.boolean().optional(),
          categories: z.record(z.string(), z.boolean().nullable()),
          category_scores: z.record(z.string(), z.number()),
        }),
      )
      .describe("One result per input, with the provider's own categories"),
    usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .meta({
    ref: 'Moderation',
    examples: [
      {
        id: 'modr-0d9f8a7b',
        model: 'openai/omni-moderation-latest',
        results: [
          {
            flagged: false,
            categories: { harassment: false, violence: false },
            category_scores: { harassment: 0.000_02, violence: 0.000_01 },
            category_applied_input_types: { harassment: ['text'], violence: ['text'] },
          },
        ],
        usage: { prompt_tokens: 3, total_tokens: 3 },
      },
    ],
  })

export const moderationRoutes = (gateway: Gateway, ports: ReplyPorts): Route[] => [
  modelRoute({
    method: 'post',
    path: '/v1/moderations',
    access: modelKey('write'),
    operationId: 'createModeration',
    tag: 'Models',
    summary: 'Create moderations of texts and images',
    notes:
      "In the categories of the model's maker. `sandbox/moderation` flags the categories whose names are in a text.",
    headers: modelHeaders,
    body: CallerModeration.meta({ ref: 'ModerationRequest' }),
    examples: {
      'A text': { model: 'sandbox/moderation', input: 'Is this about violence?' },
    },
    responses: { 200: Moderation.describe('A result for each input, in their order') },
    errors: modelErrors,
    handler: (call) => respond(call, gateway.moderate, ports),
  }),
]
