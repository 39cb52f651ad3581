/**
 * The path of a request to a model, stage by stage.
 *
 * | word        | means                                                                             |
 * |-------------|-----------------------------------------------------------------------------------|
 * | principal   | the caller: a key, its permissions, the account that pays                         |
 * | account     | the payer; what has a balance                                                     |
 * | API key     | a service key; shown once, stored as a hash                                       |
 * | model       | what callers name: `<provider>/<model>`                                           |
 * | provider    | serves models; a row of `registry.ts`, or one that an operator added              |
 * | connection  | a provider's address and credential, the platform's or a customer's               |
 * | pool        | connections of one provider and owner that share the load                         |
 * | place       | a connection, or a pool, in the order in which an account's are tried             |
 * | terms       | limits of an organization on a member's use of its connections and its pool       |
 * | link        | the socket of a self-hosted gateway, which carries its requests                   |
 * | frame       | one message on a link                                                             |
 * | candidate   | a model on a connection that routing may try                                      |
 * | attempt     | one try of one candidate                                                          |
 * | turn        | a request for one candidate: its model, its price, a body that is paid for        |
 * | chunk       | one object of an OpenAI stream, on the wire                                       |
 * | job         | a request that was checked and may run                                            |
 * | reply       | an answer on its way to the caller, whole or as a stream of chunks                |
 * | admission   | permission to run one request, limits and credit reserved                         |
 * | lease       | the slice of an account's balance that one node reserved, durable                 |
 * | dialect     | a further format of callers' requests, which become chat requests                 |
 * | hold        | the worst case of one attempt, taken out of a lease, in memory                    |
 * | allowance   | the output that a running stream's hold pays for; grows while there is credit     |
 * | budget      | the amount that a spending limit leaves to one request                            |
 * | claim       | the right to answer first under an `Idempotency-Key`; a lease while it runs       |
 * | settle      | to book the use and end the hold                                                  |
 * | log         | the record of one request for its caller; goes with its last attempt, or alone    |
 * | usage event | the use and cost of one attempt: journal first, then ledger                       |
 * | entry       | one line of the ledger, never changed                                             |
 * | meter       | reads usage as the answer passes; closes once                                     |
 * | request id  | one per request: in header, log and error                                         |
 */
import type { z } from 'zod'
import type { Principal } from '../auth/principal'
import type { Category } from '../catalog/model'
import type { Dialect, Translation } from '../protocols/dialect'
import { chat } from './chat'
import { completions } from './completions'
import { countTokens } from './count-tokens'
import { embeddings } from './embeddings'
import { demandsOf, createFitCheck, type Fits } from './fit-check'
import { withHistory } from './history'
import { overChat, renderForCaller } from './render-reply'
import { resolveModel } from './resolution'
import { RequestLifecycle } from './request-lifecycle'
import type {
  InboundRequest,
  ValidatedRequest,
  Endpoint,
  KeptReply,
  GatewayPorts,
  ReadBody,
  Reply,
} from './request'
import { settleOnEnd } from './settle-request'
import { CandidateRunner, type Priced } from './candidate-runner'
import type { RequestLog } from '../request-logs/request-log'
import { stripUnpriced } from '../metering/unpriced-fields'
import type { Metered } from '../metering/metered-request'
import type { Admission } from '../limits/limits'
import { getOutputLimit, type PromptSize } from '../limits/prompt-size'
import { estimateTokenNeed, type TokenNeed } from '../limits/token-need'
import { readOutputLimit } from '../providers/openai/request'
import type { Operation } from '../upstream/request-head'
import { isByPrice } from '../routing/candidate'
import { CachedConversation } from '../routing/conversation'
import type { Resolution } from '../routing/resolve-model'
import { rejectForwardingLoop } from '../wire/forwarding-loop'
import { check, type JsonObject } from '../wire/json-body'

/** The model endpoints. Each rejects with an `ApiError`, or answers. */
export interface Gateway {
  chat: (call: InboundRequest) => Promise<Reply | KeptReply>
  complete: (call: InboundRequest) => Promise<Reply | KeptReply>
  embed: (call: InboundRequest) => Promise<Reply | KeptReply>
  /** Answers a chat in another API format. */
  converse: (dialect: Dialect, call: InboundRequest) => Promise<Reply | KeptReply>
  /** Estimates the tokens of a prompt without calling the model. */
  count: (dialect: Dialect, call: InboundRequest) => Promise<number>
}

export const createGateway = (ports: GatewayPorts): Gateway => ({
  chat: (call) => serve(chat, call, ports),
  complete: (call) => serve(completions, call, ports),
  embed: (call) => serve(embeddings, call, ports),
  converse: (dialect, call) => serve(overChat(dialect), call, ports),
  count: (dialect, call) => countTokens(dialect, call, ports),
})

/** Answers with the first failure; the order is a promise. Source: contract 4.8. */
async function serve<Schema extends z.ZodType<{ model: string }>>(
  endpoint: Endpoint<Schema>,
  call: InboundRequest,
  ports: GatewayPorts,
): Promise<Reply | KeptReply> {
  const entered = call.principal ?? ports.door.enter(call, 'write')
  const principal = entered instanceof Promise ? await entered : entered
  call.owner = principal.accountId
  ports.budget.touch(principal.accountId)
  const running = new RequestLifecycle(call, principal, ports.logs.begin(call, principal))
  try {
    rejectForwardingLoop(call.hops)
    const admitting = admit(running, ports)
    if (admitting) await admitting
    return await run(endpoint, running, ports)
  } catch (thrown) {
    await running.failed(thrown)
    throw thrown
  }
}

async function run<Schema extends z.ZodType<{ model: string }>>(
  endpoint: Endpoint<Schema>,
  running: RequestLifecycle,
  ports: GatewayPorts,
): Promise<Reply | KeptReply> {
  const { call, principal, log, admission, month } = running
  const read = await call.readBody(endpoint.limitBytes, principal.accountId, log.keepRequest)
  log.read(read.body)
  if (call.repeatable) {
    const answer = await call.repeatable.claim(principal.userId, read.body)
    if (answer) {
      log.drop()
      await running.settle({ usage: undefined, outcome: 'replayed' })
      return { kind: 'kept', answer }
    }
  }
  const whole = call.history ? await withHistory(call, principal.userId, read) : read
  const asked = askedIn(endpoint, whole, ports)
  const conversation = new CachedConversation(ports.affinity, principal.accountId, asked.body)
  running.conversation = conversation
  const question = { ...questionOf(endpoint, call, asked), conversation }
  const resolving = resolveModel(question, principal, ports)
  const resolution = resolving instanceof Promise ? await resolving : resolving
  const isFitting = resolution.isCollection || asked.fits(resolution.model)
  if (isFitting instanceof Promise) await isFitting
  const checked = checkedOf(endpoint, { asked, resolution, running, ports })
  running.candidates = checked.candidates
  log.checked(checked.body)
  const tokens = estimateTokenNeed(
    asked.need(),
    { output: getOutputLimit(checked.model, asked.size) },
    checked.model,
  )
  const reserving = admission?.reserve(tokens)
  if (reserving) await reserving
  const meter = ports.metering.meter(meteredOf(endpoint, checked, log))
  running.meter = meter
  const turns = new CandidateRunner({ endpoint, checked, meter, month, tokens, parting: running })
  running.turns = turns
  const reply = await endpoint.run(turns)
  const answer = renderForCaller(reply, checked.translation)
  if (answer.kind === 'stream') return settleOnEnd(answer, running)
  if (reply.kind === 'whole') log.answered(reply.body, answer.body)
  const outcome = turns.isLeft ? 'cancelled' : 'ok'
  answer.cost = await running.settle({ usage: answer.usage, outcome })
  return answer
}

/** Counts a request: against the monthly limit, which few accounts have, then by the minute. */
function admit(running: RequestLifecycle, ports: GatewayPorts): undefined | Promise<void> {
  const { principal } = running
  if (principal.limits.monthly.length > 0) return admitWithinMonth(running, ports)
  const admission = ports.limits.admit(principal)
  if (admission instanceof Promise) return admitLater(running, admission)
  running.admitted(admission)
  return undefined
}

async function admitLater(running: RequestLifecycle, admission: Promise<Admission>): Promise<void> {
  running.admitted(await admission)
}

async function admitWithinMonth(running: RequestLifecycle, ports: GatewayPorts): Promise<void> {
  const { call, principal } = running
  const month = await enterMonth(call, principal, ports)
  try {
    running.admitted(await ports.limits.admit(principal), month)
  } catch (thrown) {
    month.end()
    throw thrown
  }
}

async function enterMonth(
  call: InboundRequest,
  principal: Principal,
  { months, limits }: GatewayPorts,
) {
  try {
    return await months.admit(principal)
  } catch (thrown) {
    call.tell(await limits.look(principal.limits.requests))
    throw thrown
  }
}

const meteredOf = (
  { operation }: { operation: Exclude<Operation, 'responses'> },
  { call, principal, body, requestedModel, passedOver }: ValidatedRequest<unknown>,
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
  onAttempt: call.repeatable?.dispatched,
  log,
})

/** The parsed content of a body. */
interface Asked<Request> extends ReadBody {
  request: Request
  size: PromptSize
  fits: Fits
  /** Its estimated need of tokens; computed once. */
  need: () => TokenNeed
  translation: Translation | undefined
}

/** Reads and checks a body. Throws `invalid_request`. */
function askedIn<Schema extends z.ZodType<{ model: string }>>(
  endpoint: Endpoint<Schema>,
  read: ReadBody,
  ports: GatewayPorts,
): Asked<z.output<Schema>> {
  const translation = endpoint.translate?.(read.body)
  const { body, bytes } = translation ? measured(translation.chat, read) : read
  const request = check(endpoint.schema, body)
  const size = { ...endpoint.size(request, body), lowersOutput: translation?.lowersOutput }
  const fits = createFitCheck(size, bytes, ports)
  let known: TokenNeed | undefined
  const need = () => (known ??= endpoint.need(request, bytes))
  return { body, bytes, request, size, fits, need, translation }
}

const questionOf = <Request extends { model: string }>(
  { kinds }: { kinds: readonly Category[] },
  { connectionId }: InboundRequest,
  asked: Asked<Request>,
) => ({
  name: asked.request.model,
  kinds,
  demands: () => demandsOf(asked),
  only: connectionId,
})

interface Resolved<Request> {
  asked: Asked<Request>
  resolution: Resolution
  running: RequestLifecycle
  ports: GatewayPorts
}

function checkedOf<Request extends { model: string }>(
  endpoint: { priced: Priced<never>['priced'] },
  { asked, resolution, running, ports }: Resolved<Request>,
): ValidatedRequest<Request> {
  const { model, candidates, passedOver } = resolution
  const { body, bytes, request, translation } = asked
  const { pricing } = model
  const isPriced = pricing !== null && candidates.every(({ billing }) => isByPrice(billing))
  return {
    ports,
    call: running.call,
    principal: running.principal,
    request,
    body,
    priced: isPriced ? stripUnpriced(body, { endpoint: endpoint.priced, pricing }) : undefined,
    bytes,
    translation,
    requestedModel: request.model,
    model,
    candidates,
    passedOver,
  }
}

/** A request of ours that was made from another. Fields that we have no word for may still be passed through. */
const measured = (body: JsonObject, { bytes }: ReadBody): ReadBody => ({
  body,
  bytes: Math.max(bytes, Buffer.byteLength(JSON.stringify(body))),
})
