import { z } from 'zod'
import { jsonOrEvents, modelHeaders } from './description'
import { modelRoute } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import { messages, messagesToCount } from '../protocols/messages'
import { CountRequest, MessagesRequest } from '../protocols/messages/schema'
import type { Gateway } from '../gateway/gateway'
import { modelKey } from '../http/access'
import type { Route } from '../http/route'

const Message = z
  .object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(z.looseObject({ type: z.string() })),
    stop_reason: z.enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal']),
    stop_sequence: z.string().nullable(),
    usage: z.object({
      input_tokens: z.int(),
      cache_creation_input_tokens: z.int(),
      cache_read_input_tokens: z.int(),
      output_tokens: z.int(),
    }),
  })
  .meta({
    ref: 'Message',
    examples: [
      {
        id: 'msg_01m7zbr7rr3rrzfbtxk7716g95',
        type: 'message',
        role: 'assistant',
        model: 'sandbox/echo',
        content: [{ type: 'text', text: 'Hello!' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: {
          input_tokens: 9,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 2,
        },
      },
    ],
  })

const MessagesError = z
  .object({
    type: z.literal('error'),
    error: z.object({ type: z.string(), message: z.string() }),
    request_id: z.string(),
  })
  .meta({ ref: 'MessagesError' })

const errorTypes = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** Errors in Anthropic's format. */
const foreignErrors = Object.fromEntries(
  Object.entries(errorTypes).map(([status, type]) => [
    status,
    { description: `\`${type}\``, content: { 'application/json': MessagesError } },
  ]),
)

const prompt = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello!' }] }

/** Anthropic's Messages API. Source: contract 5.1. */
export const messageRoutes = (gateway: Gateway, ports: ReplyPorts): Route[] => [
  createMessage(gateway, ports),
  countMessageTokens(gateway),
]

const createMessage = (gateway: Gateway, ports: ReplyPorts) =>
  modelRoute({
    method: 'post',
    path: '/v1/messages',
    access: modelKey('write'),
    operationId: 'createMessage',
    tag: 'Models',
    summary: 'Create a message',
    notes:
      "Anthropic's format, for every chat model: passed through to connections of that format, translated for all others; dropped fields are named in `x-tollgate-omitted`. The base URL of Anthropic clients ends before `/v1`; the key may be sent as `x-api-key`.",
    headers: modelHeaders,
    body: MessagesRequest.meta({ ref: 'MessagesRequest' }),
    examples: {
      'A question': { ...prompt, max_tokens: 256 },
      'A stream': { ...prompt, max_tokens: 256, stream: true },
    },
    responses: {
      200: jsonOrEvents(
        'A message; with `stream` true, server-sent events',
        Message,
        'Events from `message_start` to `message_stop`',
      ),
    },
    foreignErrors,
    handler: (call) =>
      respond(call, (it) => gateway.converse(messages(it.request.headers), it), ports),
  })

const countMessageTokens = (gateway: Gateway) =>
  modelRoute({
    method: 'post',
    path: '/v1/messages/count_tokens',
    access: modelKey('write'),
    operationId: 'countMessageTokens',
    tag: 'Models',
    summary: 'Count the tokens of a message',
    notes:
      'Counted by Anthropic where the message would be passed through, else estimated. Free of charge; counts as a request.',
    body: CountRequest.meta({ ref: 'CountTokensRequest' }),
    examples: { 'A question': prompt },
    responses: { 200: z.object({ input_tokens: z.int() }).describe('The tokens') },
    foreignErrors,
    handler: async (call) => {
      const dialect = messagesToCount(call.request.headers)
      const input_tokens = await gateway.count(dialect, call)
      const headers = dialect.errorFormat.headers?.(call.requestId)
      return Response.json({ input_tokens }, { ...(headers && { headers }) })
    },
  })
