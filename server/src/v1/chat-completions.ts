import { jsonOrEvents, modelErrors, modelHeaders } from './description'
import { modelRoute } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import { ChatCompletion } from './schema'
import type { Gateway } from '../gateway/gateway'
import { modelKey } from '../http/access'
import { CallerChat } from '../wire/chat-request'
import type { Route } from '../http/route'

export const chatCompletionRoutes = (gateway: Gateway, ports: ReplyPorts): Route[] => [
  modelRoute({
    method: 'post',
    path: '/v1/chat/completions',
    access: modelKey('write'),
    operationId: 'createChatCompletion',
    tag: 'Models',
    summary: 'Create a chat completion',
    notes:
      "OpenAI's format, for every chat model. With `stream` true the answer is server-sent events: chunks, then `data: [DONE]`; a failure after the first chunk is one frame with `error`, without `[DONE]`. Fields that a provider does not support are dropped where they only tune the answer, and named in `x-tollgate-omitted`; they are rejected where they change its meaning. `x-tollgate-cost` is the cost of a whole answer.",
    headers: modelHeaders,
    body: CallerChat.meta({ ref: 'ChatCompletionRequest' }),
    examples: {
      'A question': {
        model: 'sandbox/echo',
        messages: [{ role: 'user', content: 'Hello!' }],
      },
      'As a stream': {
        model: 'sandbox/lorem',
        messages: [{ role: 'user', content: 'Tell me something.' }],
        stream: true,
        stream_options: { include_usage: true },
      },
    },
    responses: {
      200: jsonOrEvents(
        'A chat completion; with `stream` true, server-sent chunks',
        ChatCompletion,
      ),
    },
    errors: modelErrors,
    handler: (call) => respond(call, gateway.chat, ports),
  }),
]
