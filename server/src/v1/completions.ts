import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { idempotencyKey, modelErrors, streamOr } from './description'
import { createModelEndpoint } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import { TextCompletion } from './schema'
import type { Gateway } from '../gateway/gateway'
import { accepts } from '../http/documentation'
import type { Env } from '../http/env'
import { CompletionRequest } from '../wire/completion-request'

export const completionRoutes = (gateway: Gateway, ports: ReplyPorts) =>
  new Hono<Env>().post(
    '/v1/completions',
    describeRoute({
      operationId: 'createCompletion',
      summary: 'Legacy text completion, whole or as a stream',
      tags: ['Models'],
      security: [{ apiKey: [] }],
      parameters: [idempotencyKey],
      requestBody: accepts('CompletionRequest', CompletionRequest, {
        'A prompt': { model: 'sandbox/echo', prompt: 'Once upon a time', max_tokens: 16 },
      }),
      responses: {
        ...streamOr('A text completion; with `stream` true, server-sent chunks', TextCompletion),
        ...modelErrors,
      },
    }),
    createModelEndpoint((call) => respond(call, gateway.complete, ports)),
  )
