/**
 * The path of a request to a model, stage by stage.
 *
 * | word        | means                                                                             |
 * |-------------|-----------------------------------------------------------------------------------|
 * | principal   | the caller: a key, its permissions, the account that pays                         |
 * | account     | the payer, which has a balance                                                    |
 * | API key     | a service key; shown once, stored as a hash                                       |
 * | model       | the model that a caller names: `<provider>/<model>`                               |
 * | provider    | serves models; a row of `registry.ts`, or one that an operator added              |
 * | connection  | a provider's address and credential, the platform's or a customer's               |
 * | pool        | connections of one provider and owner, load-balanced                              |
 * | place       | a connection, or a pool, in the order in which an account's are tried             |
 * | terms       | an organization's limits on a member's use of its connections and its pool        |
 * | link        | the socket of a self-hosted gateway, which carries its requests                   |
 * | frame       | one message on a link                                                             |
 * | candidate   | a model on a connection that routing may try                                      |
 * | attempt     | one try of one candidate                                                          |
 * | turn        | a request for one candidate: its model, its price, a body that is paid for        |
 * | chunk       | one object of an OpenAI stream, on the wire                                       |
 * | job         | a request that was checked and may run                                            |
 * | reply       | an answer on its way to the caller, whole or as a stream of chunks                |
 * | admission   | permission to run one request, with limits and credit reserved                    |
 * | lease       | the slice of an account's balance that one node reserved, durable                 |
 * | dialect     | a format that callers speak beside our own; its requests become chat requests     |
 * | hold        | the worst case of one attempt, taken out of a lease, in memory                    |
 * | allowance   | the output that a running stream's hold pays for; grows while there is credit     |
 * | budget      | the part of a spending limit that is left for one request                         |
 * | claim       | the right to answer first under an `Idempotency-Key`; a lease while it runs       |
 * | settle      | to book the usage and end the hold                                                |
 * | log         | one request as shown to its caller; booked with its last attempt, or alone        |
 * | usage event | the usage and cost of one attempt: journal first, then ledger                     |
 * | entry       | one line of the ledger, never changed                                             |
 * | meter       | reads usage as the answer passes; closes once                                     |
 * | request id  | one per request: in header, log and error                                         |
 */
import type { z } from 'zod'
import type { Principal } from './auth/principal'
import type { Category } from './catalog/model'
import type { Dialect, Translation } from './protocols/dialect'
import { chat } from './gateway/chat'
import { completions } from './gateway/completions'
import { countTokens } from './gateway/count-tokens'
import { embeddings } from './gateway/embeddings'
import { demandsOf, createFitCheck, type Fits } from './gateway/fit-check'
import { withHistory } from './gateway/history'
import { overChat, renderForCaller } from './gateway/render-reply'
import { resolveModel } from './gateway/resolution'
import { RequestLifecycle } from './gateway/request-lifecycle'
import type {
  InboundRequest,
  ValidatedRequest,
  Endpoint,
  KeptReply,
  GatewayPorts,
  ReadBody,
  Reply,
} from './gateway/request'
import { settleOnEnd } from './gateway/settle-request'
import { CandidateRunner, type Priced } from './gateway/candidate-runner'
import type { RequestLog } from './request-logs/request-log'
import { stripUnpriced } from './metering/unpriced-fields'
import type { Metered } from './metering/metered-request'
import type { Admission } from './policy/limits'
import { getOutputLimit, type PromptSize } from './policy/size'
import { estimateTokenNeed, type TokenNeed } from './policy/token-need'
import { readOutputLimit } from './providers/openai/request'
import type { Operation } from './routing/upstream-head'
import { isByPrice } from './routing/candidate'
import { CachedConversation } from './routing/conversation'
import type { Resolution } from './routing/resolve-model'
import { rejectForwardingLoop } from './wire/forwarding-loop'
import { check, type JsonObject } from './wire/json-body'

/** The model endpoints. Each resolves with an answer, or rejects with an `ApiError`. */
export interface Gateway {
  chat: (call: InboundRequest) => Promise<Reply | KeptReply>
  complete: (call: InboundRequest) => Promise<Reply | KeptReply>
  embed: (call: InboundRequest) => Promise<Reply | KeptReply>
  /** A chat in the format of another protocol. */
  converse: (dialect: Dialect, call: InboundRequest) => Promise<Reply | KeptReply>
  /** Estimates the tokens of a prompt, without a request to the model. */
  count: (dialect: Dialect, call: InboundRequest) => Promise<number>
}

export const createGateway = (ports: GatewayPorts): Gateway => ({
  chat: (call) => serve(chat, call, ports),
  complete: (call) => serve(completions, call, ports),
  embed: (call) => serve(embeddings, call, ports),
  converse: (dialect, call) => serve(overChat(dialect), call, ports),
  count: (dialect, call) => countTokens(dialect, call, ports),
})

/** The first failure is the answer; the order of the checks is guaranteed. Source: contract 4.8. */
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

/** Counts a request: by month for the few accounts with a monthly limit, then by minute. */
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

/** A parsed body, and the tokens that it may need. */
interface Asked<Request> extends ReadBody {
  request: Request
  size: PromptSize
  fits: Fits
  /** The estimated need of tokens, computed once. */
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

/** A request of our own format, converted from another. Fields without a counterpart may still be passed through. */
const measured = (body: JsonObject, { bytes }: ReadBody): ReadBody => ({
  body,
  bytes: Math.max(bytes, Buffer.byteLength(JSON.stringify(body))),
})
