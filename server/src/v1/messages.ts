import { Hono } from 'hono'
import { describeRoute, resolver } from 'hono-openapi'
import { z } from 'zod'
import { idempotencyKey } from './description'
import { createModelEndpoint } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import { messages, messagesToCount } from '../protocols/messages'
import { CountRequest, MessagesRequest } from '../protocols/messages/schema'
import type { Gateway } from '../gateway/gateway'
import { accepts, answers } from '../http/documentation'
import type { Env } from '../http/env'

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

const failures = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

const messageErrors = Object.fromEntries(
  Object.entries(failures).map(([status, type]) => [
    status,
    {
      description: `\`${type}\``,
      content: { 'application/json': { schema: resolver(MessagesError) } },
    },
  ]),
)

const shared = {
  tags: ['Models'],
  security: [{ apiKey: [] }],
}

const asked = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello!' }] }

/** Anthropic's Messages API. Source: contract 5.1. */
export const messageRoutes = (gateway: Gateway, ports: ReplyPorts) =>
  new Hono<Env>()
    .post(
      '/v1/messages',
      describeRoute({
        ...shared,
        operationId: 'createMessage',
        summary: 'A message in the format of Anthropic, whole or as a stream, by any chat model',
        parameters: [idempotencyKey],
        requestBody: accepts('MessagesRequest', MessagesRequest, {
          'A question': { ...asked, max_tokens: 256 },
          'A stream': { ...asked, max_tokens: 256, stream: true },
        }),
        responses: {
          200: {
            description: 'A message; with `stream` true, server-sent events',
            content: {
              'application/json': { schema: resolver(Message) },
              'text/event-stream': {
                schema: resolver(
                  z.string().describe('Events from `message_start` to `message_stop`'),
                ),
              },
            },
          },
          ...messageErrors,
        },
      }),
      createModelEndpoint((call) =>
        respond(call, (it) => gateway.converse(messages(it.request.headers), it), ports),
      ),
    )
    .post(
      '/v1/messages/count_tokens',
      describeRoute({
        ...shared,
        operationId: 'countMessageTokens',
        summary: 'The tokens of a prompt, about; free',
        requestBody: accepts('CountTokensRequest', CountRequest, { 'A question': asked }),
        responses: {
          ...answers(200, 'The tokens', z.object({ input_tokens: z.int() })),
          ...messageErrors,
        },
      }),
      createModelEndpoint(async (call) => {
        const dialect = messagesToCount(call.request.headers)
        const input_tokens = await gateway.count(dialect, call)
        const headers = dialect.wording.headers?.(call.requestId)
        return Response.json({ input_tokens }, { ...(headers && { headers }) })
      }),
    )
