import { InBackground } from './background-request'
import type { BackgroundRuns } from './background'
import { jsonOrEvents, modelErrors, modelHeaders } from './description'
import { modelRoute } from './endpoint'
import type { ModelCall } from './model-call'
import { respond, type ReplyPorts } from './reply'
import { ResponseAnswer } from './response-schema'
import { StoredWriter } from './stored-writer'
import { responses } from '../protocols/responses'
import { ResponsesRequest } from '../protocols/responses/request'
import type { Gateway } from '../gateway/gateway'
import type { RecordedReply, Reply } from '../gateway/request'
import { modelKey } from '../http/access'
import { StoredTurn, type ResponseKeeping } from '../stored-responses/response-turn'
import { isObject } from '../wire/json-body'
import type { Route } from '../http/route'

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
): Promise<Reply | RecordedReply> {
  const turn = new StoredTurn(keeping, call.requestId)
  const beginning = new InBackground(turn, call, keeping.runs)
  call.history = beginning
  try {
    const reply = await gateway.converse(responses(call.request.headers, turn), call)
    if (beginning.run) return beginning.started(reply, keeping.background)
    return await storeReply(reply, turn)
  } catch (thrown) {
    await beginning.discard()
    throw thrown
  }
}

async function storeReply(
  reply: Reply | RecordedReply,
  turn: StoredTurn,
): Promise<Reply | RecordedReply> {
  if (reply.kind === 'recorded' || !turn.hasStorageFields) return reply
  if (reply.kind === 'stream') {
    return reply.writer ? { ...reply, writer: new StoredWriter(reply.writer, turn) } : reply
  }
  if (!isObject(reply.body)) return reply
  const body = turn.addStorageFields(reply.body)
  turn.storeIfRequested(body)
  await turn.pendingWrite
  return { ...reply, body }
}

export const responseRoutes = (
  gateway: Gateway,
  ports: ReplyPorts,
  keeping: ResponsePorts,
): Route[] => [
  modelRoute({
    method: 'post',
    path: '/v1/responses',
    access: modelKey('write'),
    operationId: 'createResponse',
    tag: 'Models',
    summary: 'Create a response',
    notes:
      "OpenAI's Responses format: passed through to providers of that format, translated for all others; dropped fields are named in `x-tollgate-omitted`. The answer is stored for your account unless `store` is false, or the operator has turned that off, and `previous_response_id` continues it with any model; `conversation` continues a conversation and adds to it. With `background` true the request is answered immediately, and `GET /v1/responses/{id}` shows its progress.",
    headers: modelHeaders,
    body: ResponsesRequest.meta({ ref: 'ResponsesRequest' }),
    examples: {
      'A question': { model: 'sandbox/echo', input: 'Hello!' },
      'As a stream': { model: 'sandbox/lorem', input: 'Tell me something.', stream: true },
    },
    responses: {
      200: jsonOrEvents(
        'A response; with `stream` true, server-sent events',
        ResponseAnswer,
        lines,
      ),
    },
    errors: modelErrors,
    handler: (call) => respond(call, (it) => converse(gateway, it, keeping), ports),
  }),
]
