/**
 * The path of a request to a model, stage by stage: authenticate (the authenticator in `ports`), admit (`admit.ts`),
 * parse (`parse.ts`), resolve (`resolve.ts`), fail over (`failover.ts`), which reserves credit for each attempt
 * (`reserve.ts`), and settle (`settle.ts`). docs/concepts/glossary.md has the words.
 */
import type { z } from 'zod'
import { admit } from './admit'
import type { ValidatedRequest } from './attempt'
import { chat } from './chat'
import { completions } from './completions'
import { countTokens } from './count-tokens'
import { embeddings } from './embeddings'
import { imageEdits, images, imageVariations } from './images'
import { moderations } from './moderations'
import type { Endpoint } from './endpoint'
import { Failover } from './failover'
import { takeOwnFields } from './own-fields'
import { expandBody, parseRequest, readRequest } from './parse'
import type { GatewayPorts } from './ports'
import { overChat, renderForCaller } from './render-reply'
import { withRequestedCost } from './reported-cost'
import { recordInLog } from './request-tags'
import type { InboundRequest, RecordedReply, Reply } from './request'
import { rerank } from './rerank'
import { readMediaNeed } from './priced-endpoint'
import { speech } from './speech'
import { resolveModel, toQuestion, toValidatedRequest } from './resolve'
import { RequestLifecycle, settleOnEnd } from './settle'
import { transcriptions, translations } from './transcriptions'
import { permitEndpoint } from '../auth/principal'
import { getOutputLimit } from '../limits/prompt-size'
import { estimateTokenNeed } from '../limits/token-need'
import type { Metered } from '../metering/metered-request'
import type { Dialect } from '../protocols/dialect'
import { readOutputLimit } from '../providers/openai/request'
import type { RequestLog } from '../request-logs/request-log'
import { CachedConversation } from '../routing/conversation'
import { applyPreferences } from '../routing/preferences'

/** The model endpoints. Each rejects with an `ApiError`, or answers. */
export interface Gateway {
  chat: (call: InboundRequest) => Promise<Reply | RecordedReply>
  complete: (call: InboundRequest) => Promise<Reply | RecordedReply>
  embed: (call: InboundRequest) => Promise<Reply | RecordedReply>
  moderate: (call: InboundRequest) => Promise<Reply | RecordedReply>
  rerank: (call: InboundRequest) => Promise<Reply | RecordedReply>
  speak: (call: InboundRequest) => Promise<Reply | RecordedReply>
  transcribe: (call: InboundRequest) => Promise<Reply | RecordedReply>
  translate: (call: InboundRequest) => Promise<Reply | RecordedReply>
  generateImages: (call: InboundRequest) => Promise<Reply | RecordedReply>
  editImages: (call: InboundRequest) => Promise<Reply | RecordedReply>
  varyImages: (call: InboundRequest) => Promise<Reply | RecordedReply>
  /** Answers a chat in another API format. */
  converse: (dialect: Dialect, call: InboundRequest) => Promise<Reply | RecordedReply>
  /** Estimates the tokens of a prompt without calling the model. */
  count: (dialect: Dialect, call: InboundRequest) => Promise<number>
}

export const createGateway = (ports: GatewayPorts): Gateway => ({
  chat: (call) => serve(chat, call, ports),
  complete: (call) => serve(completions, call, ports),
  embed: (call) => serve(embeddings, call, ports),
  moderate: (call) => serve(moderations, call, ports),
  rerank: (call) => serve(rerank, call, ports),
  speak: (call) => serve(speech, call, ports),
  transcribe: (call) => serve(transcriptions, call, ports),
  translate: (call) => serve(translations, call, ports),
  generateImages: (call) => serve(images, call, ports),
  editImages: (call) => serve(imageEdits, call, ports),
  varyImages: (call) => serve(imageVariations, call, ports),
  converse: (dialect, call) => serve(overChat(dialect), call, ports),
  count: (dialect, call) => countTokens(dialect, call, ports),
})

/** Answers with the first failure; the order is a promise. Source: contract 4.8. */
async function serve<Schema extends z.ZodType<{ model: string }>>(
  endpoint: Endpoint<Schema>,
  call: InboundRequest,
  ports: GatewayPorts,
): Promise<Reply | RecordedReply> {
  const authentication = call.principal ?? ports.authenticator.authenticate(call, 'write')
  const principal = authentication instanceof Promise ? await authentication : authentication
  permitEndpoint(principal, endpoint.operation)
  call.owner = principal.accountId
  ports.loopShares.touch(principal.accountId)
  const lifecycle = new RequestLifecycle(call, principal, ports.logs.begin(call, principal))
  try {
    const admitting = admit(lifecycle, ports)
    if (admitting) await admitting
    return await run(endpoint, lifecycle, ports)
  } catch (thrown) {
    await lifecycle.fail(thrown)
    throw thrown
  }
}

async function run<Schema extends z.ZodType<{ model: string }>>(
  endpoint: Endpoint<Schema>,
  lifecycle: RequestLifecycle,
  ports: GatewayPorts,
): Promise<Reply | RecordedReply> {
  const { call, principal, log, admission, spending } = lifecycle
  let requestBody = await readRequest(endpoint, lifecycle, log.keepRequest)
  const tags = recordInLog(lifecycle, requestBody.body)
  const caller = { endpoint, call, principal, ports, tags }
  const recordedAnswer =
    call.repeatable && (await call.repeatable.claim(principal.userId, requestBody.body))
  if (recordedAnswer) {
    log.drop()
    await lifecycle.settle({ usage: undefined, outcome: 'replayed' })
    return { kind: 'recorded', answer: recordedAnswer }
  }
  const own = takeOwnFields(requestBody, endpoint.translate !== undefined, principal)
  lifecycle.own = own
  if (own) requestBody = own.readBody
  const expanding = expandBody(endpoint, requestBody, caller)
  requestBody = expanding instanceof Promise ? await expanding : expanding
  const parsed = parseRequest(endpoint, requestBody, ports)
  if (own) parsed.preferences = own.preferences
  if (endpoint.prepare) await endpoint.prepare(parsed.params)

  lifecycle.conversation = new CachedConversation(ports.affinity, principal.accountId, parsed.body)
  const resolving = resolveModel(toQuestion(endpoint, lifecycle, parsed), principal, ports)
  const resolvedByName = resolving instanceof Promise ? await resolving : resolving
  const resolution = applyPreferences(resolvedByName, parsed.preferences, parsed)
  const fitCheck = resolution.isCollection ? undefined : parsed.fits(resolution.model)
  if (fitCheck) await fitCheck
  const request = toValidatedRequest(parsed, resolution, caller)
  lifecycle.candidates = request.candidates
  log.checked(request.body)

  const output = getOutputLimit(request.model, parsed.size)
  const need = parsed.need()
  const tokens = estimateTokenNeed(need, { output }, request.model)
  const reserving = admission?.reserve(tokens, readMediaNeed(endpoint, request))
  if (reserving) await reserving
  const meter = ports.metering.meter(toMetered(endpoint, request, log))
  lifecycle.meter = meter
  const failover = new Failover({ endpoint, request, meter, spending, tokens, lifecycle })
  lifecycle.failover = failover

  const reply = await endpoint.run(failover)
  const answer = renderForCaller(reply, request.translation, need.promptTokens)
  if (answer.kind === 'stream') return settleOnEnd(answer, lifecycle)
  if (reply.kind === 'full') log.answered(reply.body, answer.body)
  const outcome = failover.isDetached ? 'cancelled' : 'ok'
  const settling = lifecycle.settle({ usage: answer.usage, outcome })
  const cost = await releaseOnFailure(settling, answer.heldMemory)
  answer.cost = cost
  answer.body = withRequestedCost(answer.body, cost, own)
  answer.omittedFields = lifecycle.withIgnored(answer.omittedFields)
  return answer
}

/** Releases what an answer holds if it cannot go out. Returns its argument for nearly all answers. */
const releaseOnFailure = (settling: Promise<bigint>, heldMemory: Disposable | undefined) =>
  heldMemory
    ? settling.catch((thrown: unknown) => {
        heldMemory[Symbol.dispose]()
        throw thrown
      })
    : settling

const toMetered = (
  { operation }: Pick<Endpoint<never>, 'operation'>,
  { call, principal, body, requestedModel, passedOver, budgetTags }: ValidatedRequest<unknown>,
  log: RequestLog,
): Metered => ({
  requestId: call.requestId,
  userId: principal.userId,
  keyId: principal.keyId,
  requestedModel,
  passedOver,
  operation,
  streamed: body['stream'] === true,
  hasOwnLimit: readOutputLimit(body) !== undefined,
  budgetTags,
  log,
})
