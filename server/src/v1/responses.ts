import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { z } from 'zod'
import { idempotencyKey, modelErrors, streamOr } from './description'
import { modelEndpoint } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import { responses } from '../dialects/responses'
import { ResponsesRequest } from '../dialects/responses/request'
import type { Gateway } from '../gateway'
import { accepts } from '../http/documentation'
import type { Env } from '../http/env'

const Item = z.looseObject({
  type: z.enum(['message', 'function_call', 'custom_tool_call', 'reasoning']),
  id: z.string(),
})

/** The answer, as it is described to callers. Source: wire.md 13.3. */
const Response = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z
      .looseObject({ reason: z.enum(['max_output_tokens', 'content_filter']) })
      .nullable(),
    model: z.string(),
    output: z.array(Item),
    usage: z
      .looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() })
      .optional(),
  })
  .meta({
    ref: 'Response',
    examples: [
      {
        id: 'resp_01m7zbr7rr3rrzfbtxk7716g95',
        object: 'response',
        created_at: 1795275104,
        status: 'completed',
        error: null,
        incomplete_details: null,
        model: 'sandbox/echo',
        output: [
          {
            id: 'msg_01m7zbr7rr3rrzfbtxk7716g95000',
            type: 'message',
            status: 'completed',
            role: 'assistant',
            content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'Hello!' }],
          },
        ],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      },
    ],
  })

const lines = '`event: <type>` and `data: <event>` lines; the last event has the whole response'

export const responseRoutes = (gateway: Gateway, ports: ReplyPorts) =>
  new Hono<Env>().post(
    '/v1/responses',
    describeRoute({
      operationId: 'createResponse',
      summary: "A response in the format of OpenAI's Responses, of which nothing is kept",
      tags: ['Models'],
      security: [{ apiKey: [] }],
      parameters: [idempotencyKey],
      requestBody: accepts('ResponsesRequest', ResponsesRequest, {
        'A question': { model: 'sandbox/echo', input: 'Hello!' },
        'As a stream': { model: 'sandbox/lorem', input: 'Tell me something.', stream: true },
      }),
      responses: {
        ...streamOr('A response; with `stream` true, server-sent events', Response, lines),
        ...modelErrors,
      },
    }),
    modelEndpoint((call) =>
      respond(call, (it) => gateway.converse(responses(it.request.headers), it), ports),
    ),
  )
