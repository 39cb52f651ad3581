import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { InBackground } from './background-request'
import type { BackgroundRuns } from './background'
import { idempotencyKey, modelErrors, streamOr } from './description'
import { createModelEndpoint } from './endpoint'
import type { ModelCall } from './model-call'
import { respond, type ReplyPorts } from './reply'
import { ResponseAnswer } from './response-schema'
import { StoredWriter } from './stored-writer'
import { responses } from '../protocols/responses'
import { ResponsesRequest } from '../protocols/responses/request'
import type { Gateway } from '../gateway/gateway'
import type { KeptReply, Reply } from '../gateway/request'
import { accepts } from '../http/documentation'
import type { Env } from '../http/env'
import { StoredTurn, type ResponseKeeping } from '../stored-responses/response-turn'
import { isObject } from '../wire/json-body'

const lines = '`event: <type>` and `data: <event>` lines; the last event has the whole response'

/** Dependencies for storing responses, and for background responses. */
export interface ResponsePorts extends ResponseKeeping {
  runs: BackgroundRuns
}

/** Runs a Responses request with the history that it continues, and stores the answer if requested. */
async function converse(
  gateway: Gateway,
  call: ModelCall,
  keeping: ResponsePorts,
): Promise<Reply | KeptReply> {
  const turn = new StoredTurn(keeping, call.requestId)
  const beginning = new InBackground(turn, call, keeping.runs)
  call.history = beginning
  try {
    const reply = await gateway.converse(responses(call.request.headers, turn), call)
    if (beginning.run) return beginning.started(reply, keeping.background)
    return await told(reply, turn)
  } catch (thrown) {
    await beginning.refused()
    throw thrown
  }
}

async function told(reply: Reply | KeptReply, turn: StoredTurn): Promise<Reply | KeptReply> {
  if (reply.kind === 'kept' || !turn.hasPart) return reply
  if (reply.kind === 'stream') {
    return reply.writer ? { ...reply, writer: new StoredWriter(reply.writer, turn) } : reply
  }
  if (!isObject(reply.body)) return reply
  const body = turn.told(reply.body)
  turn.keep(body)
  await turn.kept
  return { ...reply, body }
}

export const responseRoutes = (gateway: Gateway, ports: ReplyPorts, keeping: ResponsePorts) =>
  new Hono<Env>().post(
    '/v1/responses',
    describeRoute({
      operationId: 'createResponse',
      summary: "A response in the format of OpenAI's Responses",
      tags: ['Models'],
      security: [{ apiKey: [] }],
      parameters: [idempotencyKey],
      requestBody: accepts('ResponsesRequest', ResponsesRequest, {
        'A question': { model: 'sandbox/echo', input: 'Hello!' },
        'As a stream': { model: 'sandbox/lorem', input: 'Tell me something.', stream: true },
      }),
      responses: {
        ...streamOr('A response; with `stream` true, server-sent events', ResponseAnswer, lines),
        ...modelErrors,
      },
    }),
    createModelEndpoint((call) => respond(call, (it) => converse(gateway, it, keeping), ports)),
  )
