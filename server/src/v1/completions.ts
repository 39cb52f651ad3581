import { jsonOrEvents, modelErrors, modelHeaders } from './description'
import { modelRoute } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import { TextCompletion } from './schema'
import type { Gateway } from '../gateway/gateway'
import { modelKey } from '../http/access'
import { CompletionRequest } from '../wire/completion-request'
import type { Route } from '../http/route'

export const completionRoutes = (gateway: Gateway, ports: ReplyPorts): Route[] => [
  modelRoute({
    method: 'post',
    path: '/v1/completions',
    access: modelKey('write'),
    operationId: 'createCompletion',
    tag: 'Models',
    summary: 'Create a legacy text completion',
    notes:
      "OpenAI's legacy format. For chat models the prompt becomes one message; several prompts become several choices, with `index` = prompt × `n` + choice.",
    headers: modelHeaders,
    body: CompletionRequest.meta({ ref: 'CompletionRequest' }),
    examples: {
      'A prompt': { model: 'sandbox/echo', prompt: 'Once upon a time', max_tokens: 16 },
    },
    responses: {
      200: jsonOrEvents(
        'A text completion; with `stream` true, server-sent chunks',
        TextCompletion,
      ),
    },
    errors: modelErrors,
    handler: (call) => respond(call, gateway.complete, ports),
  }),
]
