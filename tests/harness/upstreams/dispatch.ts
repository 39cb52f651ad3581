import { behaviourOf } from './behaviours'
import { errorBody } from './behaviours/statuses'
import { billOf } from './bill'
import { type Attempt, capOf, isJson, type Json } from './call'
import { publishedModels, readCatalogue } from './catalogue'
import type { Connection } from './connection'
import { drawingModelOf, taskPath } from './foreign-drawings'
import { transcriptModelOf } from './foreign-transcripts'
import { type Exchange, type Log, clearLog, recordRequest, parseBody } from './log'
import { parseModelName } from './model-name'
import { Reply } from './reply'
import type { RawRequest } from './request-parser'
import { severityModelOf } from './severities'
import { speechModelOf } from './speeches'
import { promptTokens } from './tokens'

const endpoints = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/moderations',
  '/v1/rerank',
  '/v2/rerank',
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  '/v1/listen',
  '/v1/speech-to-text',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/images/variations',
  '/v1/messages',
]

/** The calls a test steers with when the provider is another process; undefined for other paths. */
function control(log: Log, { request, path, body }: Exchange): unknown {
  const model = new URL(request.target, 'http://fake').searchParams.get('model') ?? undefined
  switch (`${request.method} ${path}`) {
    case 'GET /__bill':
      return billOf(log.attempts, log.catalogue, model)
    case 'GET /__seen':
      return log.requests.map((read) => read())
    case 'DELETE /__seen':
      clearLog(log)
      return { ok: true }
    case 'PUT /__catalogue':
      log.catalogue = readCatalogue(body)
      return { ok: true }
    default:
      return undefined
  }
}

function notFound({ reply, path }: Exchange, what: string): Promise<void> {
  const message = `The fake provider has no ${what}.`
  const code = path === '/v1/models' ? null : 'model_not_found'
  return reply.json(404, errorBody({ type: 'invalid_request_error', code, message }))
}

/** Milliseconds since a model was first called. */
function ageOf(log: Log, model: string): () => number {
  const first = log.firstCalls.get(model) ?? performance.now()
  log.firstCalls.set(model, first)
  return () => performance.now() - first
}

/** The behaviour that a request in the format of another provider names; undefined for other requests. */
const foreignModelOf = (path: string, body: Json): string | undefined =>
  speechModelOf(path, body) ??
  drawingModelOf(path) ??
  transcriptModelOf(path) ??
  severityModelOf(path)

/** Runs the behaviour that a model's name asks for. */
async function behave(log: Log, exchange: Exchange, id: string): Promise<void> {
  const { request, reply, path, body } = exchange
  const model = foreignModelOf(path, body) ?? String(body['model'])
  const recorded = log.recordings.get(model)
  const name = parseModelName(model, (behaviour) => behaviourOf(path, behaviour) !== undefined)
  const behaviour = recorded ?? (name && behaviourOf(path, name.behaviour))
  if (!behaviour) return notFound(exchange, `behaviour ${model}`)

  const attempt: Attempt = {
    id,
    model,
    billing: name?.billing ?? 'bill-done',
    cap: capOf(body),
    promptTokens: promptTokens(body),
    completionTokens: 0,
    tokensSent: 0,
    answered: false,
    complete: false,
  }
  log.attempts.push(attempt)
  const query = new URL(request.target, 'http://fake').searchParams
  const received = { method: request.method, path, headers: request.headers, query, body }
  await behaviour({
    received,
    argument: name?.argument ?? '',
    attempt,
    reply,
    age: ageOf(log, model),
    hold: () => log.held.hold(reply.connection.sleep(Infinity)),
  })
}

/** Answers one request. May throw `PeerGone`. */
export async function answer(log: Log, request: RawRequest, connection: Connection): Promise<void> {
  const path = request.target.replace(/\?.*$/, '')
  const parsed = parseBody(request)
  const reply = new Reply(connection)
  const exchange = { request, reply, path, body: isJson(parsed) ? parsed : {} }
  const steered = control(log, exchange)
  if (steered !== undefined) return reply.json(200, steered)

  const id = recordRequest(log, exchange)
  if (connection.closesOnNextRequest) return connection.close()
  if (request.method === 'GET' && path === '/v1/models') {
    return reply.json(200, publishedModels(log.catalogue))
  }
  const isKnown = endpoints.includes(path) || foreignModelOf(path, exchange.body) !== undefined
  const method = path === taskPath ? 'GET' : 'POST'
  if (request.method !== method || !isKnown) return notFound(exchange, path)
  await behave(log, exchange, id)
}
