/**
 * The way of a request to a model, stage by stage.
 *
 * | word        | means                                                                             |
 * |-------------|-----------------------------------------------------------------------------------|
 * | principal   | who calls: a key, its permissions, the account that pays                          |
 * | account     | the payer; what has a balance                                                     |
 * | API key     | a service key; shown once, stored as a hash                                       |
 * | model       | what callers name: `<provider>/<model>`                                           |
 * | provider    | who serves models; a row of `registry.ts`, or one that an operator added          |
 * | connection  | a provider's address and credential, the platform's or a customer's               |
 * | pool        | connections of one provider and owner that take turns                             |
 * | place       | a connection, or a pool, in the order in which an account's are tried             |
 * | terms       | what an organization limits of a member's use of its connections and its pool     |
 * | candidate   | a model on a connection that routing may try                                      |
 * | attempt     | one try of one candidate                                                          |
 * | turn        | a request as one candidate gets it: its model, its price, a body that is paid for |
 * | chunk       | one object of an OpenAI stream, on the wire                                       |
 * | job         | a request that was checked and may run                                            |
 * | reply       | an answer on its way to the caller, whole or as a stream of chunks                |
 * | admission   | leave to run one request, limits and credit reserved                              |
 * | lease       | the slice of an account's balance that one node reserved, durable                 |
 * | dialect     | a format that callers speak beside our own; its requests become chat requests     |
 * | hold        | the worst case of one attempt, taken out of a lease, in memory                    |
 * | allowance   | the output that a running stream's hold pays for; grows while there is credit     |
 * | budget      | what a spending limit leaves to one request                                       |
 * | claim       | the right to answer first under an `Idempotency-Key`; a lease while it runs       |
 * | settle      | to book what was used and end the hold                                            |
 * | log         | what its caller is shown of one request; goes with its last attempt, or alone     |
 * | usage event | what one attempt used and cost: journal first, then ledger                        |
 * | entry       | one line of the ledger, never changed                                             |
 * | meter       | reads usage as the answer passes; closes once                                     |
 * | request id  | one per request: in header, log and error                                         |
 */
import type { z } from 'zod'
import type { Principal } from './auth/principal'
import type { Dialect } from './dialects/dialect'
import { chat } from './gateway/chat'
import { completions } from './gateway/completions'
import { countTokens } from './gateway/count-tokens'
import { embeddings } from './gateway/embeddings'
import { demandsOf, fitting } from './gateway/fitting'
import { overChat, told } from './gateway/over-chat'
import { resolutionOf } from './gateway/resolution'
import type {
  Call,
  CheckedRequest,
  Endpoint,
  KeptReply,
  Ports,
  ReadBody,
  Reply,
} from './gateway/job'
import { endingOf, once, settled, written } from './gateway/settled'
import { Turns } from './gateway/turns'
import type { RequestLog } from './logs/request-log'
import { chargeable } from './metering/costly-fields'
import type { Ending, Meter, Metered } from './metering/meter'
import type { MonthPass } from './metering/month-pass'
import type { Admission } from './policy/limits'
import { tokensNeeded } from './policy/token-need'
import { outputLimitOf } from './providers/openai/request'
import { isByPrice, type Candidate } from './routing/candidate'
import type { Operation } from './routing/upstream-head'
import { refuseCircle } from './wire/hops'
import { check, type JsonObject } from './wire/json-body'
import { completionTokens, promptTokens } from './wire/usage'

/** The model endpoints. Each rejects with an `ApiError`, or answers. */
export interface Gateway {
  chat: (call: Call) => Promise<Reply | KeptReply>
  complete: (call: Call) => Promise<Reply | KeptReply>
  embed: (call: Call) => Promise<Reply | KeptReply>
  /** A chat in the words of another format. */
  converse: (dialect: Dialect, call: Call) => Promise<Reply | KeptReply>
  /** The tokens of a prompt, about; nothing is asked of the model. */
  count: (dialect: Dialect, call: Call) => Promise<number>
}

export const createGateway = (ports: Ports): Gateway => ({
  chat: (call) => serve(chat, call, ports),
  complete: (call) => serve(completions, call, ports),
  embed: (call) => serve(embeddings, call, ports),
  converse: (dialect, call) => serve(overChat(dialect), call, ports),
  count: (dialect, call) => countTokens(dialect, call, ports),
})

/** The first failure answers; the order is a promise. Source: api.md 4.8. */
async function serve<Schema extends z.ZodType<{ model: string }>>(
  endpoint: Endpoint<Schema>,
  call: Call,
  ports: Ports,
): Promise<Reply | KeptReply> {
  const entered = call.principal ?? ports.door.enter(call, 'write')
  const principal = entered instanceof Promise ? await entered : entered
  const log = ports.logs.begin(call, principal)
  try {
    refuseCircle(call.hops)
    return await run(endpoint, { call, principal, log }, ports)
  } catch (thrown) {
    log.refuse(endingOf(thrown))
    throw thrown
  }
}

/** One request whose caller is known. */
interface Known {
  call: Call
  principal: Principal
  log: RequestLog
}

async function run<Schema extends z.ZodType<{ model: string }>>(
  endpoint: Endpoint<Schema>,
  { call, principal, log }: Known,
  ports: Ports,
): Promise<Reply | KeptReply> {
  const admitting = admit(call, principal, ports)
  const { admission, month } = admitting instanceof Promise ? await admitting : admitting
  const running: Running = { call, log, admission, month, candidates: [] }
  const settle = once((ending) => end(running, ending))
  try {
    const read = await call.readBody(endpoint.limitBytes, log.keepRequest)
    log.read(read.body)
    if (call.repeatable) {
      const answer = await call.repeatable.claim(principal.userId, read.body)
      if (answer) {
        log.drop()
        await settle({ usage: undefined, outcome: 'replayed' })
        return { kind: 'kept', answer }
      }
    }
    const { checked, tokens } = await prepare(endpoint, call, { ports, principal, read })
    running.candidates = checked.candidates
    log.checked(checked.body)
    const reserving = admission.reserve(tokens)
    if (reserving) await reserving
    const meter = ports.metering.meter({ ...meteredOf(endpoint, checked), log })
    running.meter = meter
    const turns = new Turns({ endpoint, checked, meter, month, tokens })
    running.turns = turns
    const reply = await endpoint.run(turns)
    const answer = told(reply, checked.translation)
    if (reply.kind === 'whole' && answer.kind === 'whole') log.answered(reply.body, answer.body)
    return await settled(answer, {
      settle,
      left: () => {
        admission.releasePlace()
        turns.releasePlaces()
      },
      opened: () => meter.answered(),
      log,
      signal: call.signal,
    })
  } catch (thrown) {
    await written(settle({ usage: undefined, ...endingOf(thrown) }))
    throw thrown
  }
}

/** What of a request has to be ended with it, as far as it came. */
interface Running extends Omit<Known, 'principal'> {
  admission: Admission
  month: MonthPass | undefined
  candidates: readonly Candidate[]
  meter?: Meter
  turns?: Pick<Turns<never>, 'ended'>
}

/** The one place where a request ends, however it does. */
async function end(running: Running, ending: Ending): Promise<bigint> {
  const { call, log, admission, month, candidates, meter, turns } = running
  const { usage } = ending
  const usedTokens = usage ? promptTokens(usage) + completionTokens(usage) : 0
  if (usage) admission.trueUp(usedTokens)
  turns?.ended(usedTokens)
  admission.release()
  for (const { member } of candidates) member?.ended(ending.outcome)
  // In one turn with the end of the meter, which tells what was used.
  month?.end()
  log.ending(ending)
  let cost = 0n
  try {
    const booked = meter?.end(ending)
    // Its last attempt has taken the log along; where there was none, it goes by itself.
    log.close()
    cost = (await booked) ?? 0n
    return cost
  } finally {
    call.settled?.(usage, cost)
  }
}

interface Admitted {
  admission: Admission
  month: MonthPass | undefined
}

/** Counts a request: by the month where that is limited, which few are, then by the minute. */
function admit(call: Call, principal: Principal, ports: Ports): Admitted | Promise<Admitted> {
  if (principal.limits.monthly.length > 0) return admitWithinMonth(call, principal, ports)
  const admitted = (admission: Admission): Admitted => {
    call.tell(admission.quota)
    return { admission, month: undefined }
  }
  const admission = ports.limits.admit(principal)
  return admission instanceof Promise ? admission.then(admitted) : admitted(admission)
}

async function admitWithinMonth(call: Call, principal: Principal, ports: Ports): Promise<Admitted> {
  const month = await enterMonth(call, principal, ports)
  try {
    const admission = await ports.limits.admit(principal)
    call.tell(admission.quota)
    return { admission, month }
  } catch (thrown) {
    month.end()
    throw thrown
  }
}

async function enterMonth(call: Call, principal: Principal, { months, limits }: Ports) {
  try {
    return await months.admit(principal)
  } catch (thrown) {
    call.tell(await limits.look(principal.limits.requests))
    throw thrown
  }
}

const meteredOf = (
  { operation }: { operation: Exclude<Operation, 'responses'> },
  { call, principal, body, requestedModel, passedOver }: CheckedRequest<unknown>,
): Metered => ({
  requestId: call.requestId,
  userId: principal.userId,
  keyId: principal.keyId,
  requestedModel,
  passedOver,
  operation,
  streamed: body['stream'] === true,
  hasOwnLimit: outputLimitOf(body) !== undefined,
  onAttempt: call.repeatable?.dispatched,
})

interface Prepared<Request> {
  checked: CheckedRequest<Request>
  /** Reserved until it is known what was used. */
  tokens: number
}

/** The checks that look into the request. */
async function prepare<Schema extends z.ZodType<{ model: string }>>(
  endpoint: Endpoint<Schema>,
  call: Call,
  { ports, principal, read }: { ports: Ports; principal: Principal; read: ReadBody },
): Promise<Prepared<z.output<Schema>>> {
  const translation = endpoint.translate?.(read.body)
  const arrived = translation ? measured(translation.chat, read) : read
  const { body, bytes } = arrived
  const request = check(endpoint.schema, body)
  const size = endpoint.size(request, body)
  const fits = fitting(size, bytes, ports)
  const asked = {
    name: request.model,
    kinds: endpoint.kinds,
    demands: () => demandsOf(arrived, fits),
    only: call.connectionId,
  }
  const resolving = resolutionOf(asked, principal, ports)
  const resolution = resolving instanceof Promise ? await resolving : resolving
  const { model, candidates, passedOver } = resolution
  const isFitting = resolution.isCollection || fits(model)
  if (isFitting instanceof Promise) await isFitting
  const { pricing } = model
  const isPriced = pricing !== null && candidates.every(({ billing }) => isByPrice(billing))
  const priced = isPriced ? chargeable(body, { endpoint: endpoint.priced, pricing }) : undefined
  const tokens = tokensNeeded(endpoint.need(request, bytes), size, model)
  const named = { requestedModel: request.model, model, candidates, passedOver }
  return {
    checked: { ports, call, principal, request, body, priced, bytes, translation, ...named },
    tokens,
  }
}

/** A request of ours that was made of another. What it has no word for may be passed on all the same. */
const measured = (body: JsonObject, { bytes }: ReadBody): ReadBody => ({
  body,
  bytes: Math.max(bytes, Buffer.byteLength(JSON.stringify(body))),
})
