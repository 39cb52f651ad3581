import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { createModelEndpoint } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import { ChatCompletion } from './schema'
import { idempotencyKey, modelErrors, streamOr } from './description'
import type { Gateway } from '../gateway/gateway'
import { accepts } from '../http/documentation'
import type { Env } from '../http/env'
import { CallerChat } from '../wire/chat-request'

export const chatCompletionRoutes = (gateway: Gateway, ports: ReplyPorts) =>
  new Hono<Env>().post(
    '/v1/chat/completions',
    describeRoute({
      operationId: 'createChatCompletion',
      summary: 'Chat completion, whole or as a stream',
      tags: ['Models'],
      security: [{ apiKey: [] }],
      parameters: [idempotencyKey],
      requestBody: accepts('ChatCompletionRequest', CallerChat, {
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
      }),
      responses: {
        ...streamOr('A chat completion; with `stream` true, server-sent chunks', ChatCompletion),
        ...modelErrors,
      },
    }),
    createModelEndpoint((call) => respond(call, gateway.chat, ports)),
  )
