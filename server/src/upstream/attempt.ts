import type { Deadline } from './deadline'
import { AttemptFailed, toAttemptFailed, toBroken } from './attempt-failed'
import { Delivery, classifyLoss, type Loss } from './classify-loss'
import type { OutputAllowance, Drain } from './stream-bounds'
import type { LoopShare, LoopShares } from './stream-work'
import { paths, toSentHeaders, toUpstreamUrl, type Operation } from './request-head'
import { AnswerTooLong, LocalAnswer, type Answer } from './http/answer'
import type { Egress, UpstreamCall } from './http/egress'
import type { GatewayWay } from './http/gateway-call'
import { ApiError } from '../errors'
import type { Adapter } from '../providers/adapter'
import type { Credentials, Proof } from '../providers/credentials'
import type { ProviderRoute } from '../providers/provider-route'
import { nonsense, toCallerError, type ErrorSource } from '../providers/upstream-error'
import * as sandbox from '../providers/sandbox'
import { isObject, type JsonObject } from '../wire/json-body'
import { eventShape } from '../wire/json-shape'
import { parseShaped } from '../wire/json-slices'

/** The payload for a provider, without its address and credential. */
export interface UpstreamPayload {
  body: JsonObject
  /** The path that differs from the operation's own; a path in the provider's options takes precedence. */
  path?: string
  /** The whole URL, where it is no path below the connection's. */
  url?: string | undefined
  headers?: Readonly<Record<string, string>>
  /** The caller's headers that belong to a body which is passed through. */
  forwarded?: Readonly<Record<string, string>>
  /** The adapter that wrote it and reads its answer; undefined for relayed requests. */
  adapter?: Adapter | undefined
  /** Reads its error responses, where their format is not OpenAI's; else the adapter does. */
  failure?: Adapter['failure'] | undefined
  /** The same request with the history's signatures replaced, for a provider that rejects them. */
  unsigned?: (() => UpstreamPayload) | undefined
  /** Whether an error response is about signatures, where the adapter does not decide it. */
  refusesSignatures?: Adapter['refusesSignatures'] | undefined
}

/** A payload with the properties that decide its route and the reading of its answer. */
export interface OutgoingRequest extends UpstreamPayload {
  operation: Operation
  source: ErrorSource
}

type HeaderList = Readonly<Record<string, string>>

/** The transports, and the credentials used there. */
interface Ways {
  egress: Egress
  /** For connections of self-hosted gateways. */
  gateways: Pick<GatewayWay, 'send'>
  credentials: Credentials
  /** Shares of the event loop's time. */
  budget: LoopShares
}

/** A model on a connection, as far as sending a request to it goes. */
interface UpstreamCandidate extends ProviderRoute {
  model: { upstreamModel: string }
  connection: ProviderRoute['connection'] & {
    /** Set for a connection of a self-hosted gateway. */
    gatewayId: string | null
    /** The account or organization that owns it; null for the operator's. */
    owner: string | null
  }
}

/** The candidate of an attempt, and its request. */
interface Asked {
  candidate: UpstreamCandidate
  checked: {
    ports: Ways
    principal: { readonly accountId: string }
    /** The number of Tollgate instances that have forwarded it before. */
    call: {
      hops: number
      trace?: { readonly traceparent: string | undefined } | undefined
      /** Set where its body is large. */
      body?: { release: () => void } | undefined
    }
  }
}

/** One try of one candidate. */
export interface Attempt {
  turn: Asked
  sent: OutgoingRequest
  deadline: Deadline
  /** The part of a streamed answer that is paid for; undefined where the answer may have any length. */
  allowance?: OutputAllowance | undefined
  /**
   * Called where its provider received the request and no answer came of it; `bytes` is the length of an answer that
   * was too long.
   */
  onLost?: ((loss: Loss, bytes: number) => void) | undefined
  /** Called with the failure that breaks a stream that has been opened. */
  onBroken?: (thrown: unknown) => void
  /** Set as soon as it continues although its client has disconnected. */
  drain?: () => Drain | undefined
}

export { AttemptFailed } from './attempt-failed'

/** The maximum length of an answer that is read as a whole. */
export const maxAnswerBytes = 20 * 1024 * 1024
const longestErrorBody = 64 * 1024
const othersMayDoBetter = new Set([401, 403, 404, 429])

/** Sends an attempt and waits for the head of a good answer. Throws `AttemptFailed`. */
export async function send(attempt: Attempt): Promise<Answer> {
  const delivery = deliveryOf(attempt)
  try {
    const response = await post(attempt, delivery)
    return isGood(response) ? response : await refused(attempt, response)
  } catch (thrown) {
    if (delivery.isDone) tellLoss(attempt, thrown)
    throw toAttemptFailed(thrown, attempt.sent.source)
  }
}

const deliveryOf = ({ turn }: Attempt) => new Delivery(turn.checked.call.body)

/** Reports to an attempt the loss of its answer, once the provider has received the request. */
export function tellLoss({ onLost }: Pick<Attempt, 'onLost'>, thrown: unknown): void {
  const loss = classifyLoss(thrown)
  if (loss) onLost?.(loss, thrown instanceof AnswerTooLong ? maxAnswerBytes : 0)
}

/** The share of the event loop that an attempt uses: the connection owner's, or the caller's. */
export const shareOf = ({ turn: { candidate, checked } }: Attempt): LoopShare =>
  checked.ports.budget.shareOf(candidate.connection.owner ?? checked.principal.accountId)

/** 204 and 205 have no body. */
const isGood = ({ status }: Answer): boolean =>
  status >= 200 && status < 300 && status !== 204 && status !== 205

/** Handles an error response: sends the request again without signatures, where those were rejected. */
async function refused(attempt: Attempt, response: Answer): Promise<Answer> {
  const { sent } = attempt
  const { source, adapter, unsigned } = sent
  const text = await response.text(longestErrorBody).catch(() => '')
  const { status } = response
  if (status < 400) {
    throw new AttemptFailed(nonsense(source.provider, `a status of ${status}`), false)
  }
  const retryAfter = response.headers.get('retry-after')
  const refusal = { status, body: parsed(text), retryAfter }
  const isAboutSignatures = sent.refusesSignatures ?? adapter?.refusesSignatures
  if (unsigned && isAboutSignatures?.(refusal)) {
    return send({ ...attempt, sent: { ...sent, ...unsigned(), unsigned: undefined } })
  }
  const tell = sent.failure ?? adapter?.failure ?? toCallerError
  const error = tell(refusal, source)
  throw new AttemptFailed(error, mayTryNext(error, status))
}

/** An error of the request itself would repeat on every connection. */
const mayTryNext = (error: ApiError, status: number): boolean =>
  error.code === 'provider_error' &&
  (othersMayDoBetter.has(meantBy(error) ?? status) || status >= 500)

/** The status that an error stands for: Google answers 400 for a bad key, where others answer 401. */
function meantBy({ cause }: ApiError): number | undefined {
  const meant = isObject(cause) ? cause['upstreamStatus'] : undefined
  return typeof meant === 'number' ? meant : undefined
}

/** Sends the request. Throws errors that `toAttemptFailed` converts. */
function post(attempt: Attempt, delivery: Delivery): Promise<Answer> {
  const { turn, sent, deadline } = attempt
  const { candidate, checked } = turn
  const { operation, body } = sent
  const { gatewayId, owner } = candidate.connection
  if (gatewayId !== null) return relayed(attempt, gatewayId, delivery)
  if (candidate.provider.dialect === 'sandbox' && operation !== 'responses') {
    delivery.release()
    const asked = { path: paths[operation], body, signal: deadline.signal }
    return Promise.resolve(new LocalAnswer(sandbox.answer(asked)))
  }
  const proof = proofOf(attempt)
  const url = toUpstreamUrl(attempt)
  const call: UpstreamCall = {
    url,
    method: 'POST',
    headers: tracedHeaders(attempt, toSentHeaders(attempt, url)),
    body: JSON.stringify(body),
    signal: deadline,
    sent: delivery,
    owner,
  }
  return proof ? postProven(attempt, call, proof) : checked.ports.egress.send(call)
}

/** Sends it through the gateway that holds the provider's address and secret, and gets neither of ours. */
function relayed(
  { turn, sent, deadline }: Attempt,
  gatewayId: string,
  delivery: Delivery,
): Promise<Answer> {
  const { ports } = turn.checked
  const { provider, model } = turn.candidate
  const { operation, body } = sent
  return ports.gateways.send(gatewayId, {
    provider: provider.key,
    model: model.upstreamModel,
    path: provider.options.paths[operation] ?? paths[operation],
    body,
    isStream: body['stream'] === true,
    stop: deadline,
    timeoutMs: deadline.leftMs,
    sent: delivery,
  })
}

/** Only the operator's own connections get the trace header. */
function tracedHeaders({ turn: { candidate, checked } }: Attempt, headers: HeaderList): HeaderList {
  const traceparent = checked.call.trace?.traceparent
  return traceparent === undefined || candidate.connection.owner !== null
    ? headers
    : { ...headers, traceparent }
}

/** Returns the credential's proof, if it needs one. A `provider_error` fails the attempt; other errors are rethrown. */
function proofOf({ turn: { candidate, checked } }: Attempt): Proof | undefined {
  try {
    return checked.ports.credentials.proofOf(candidate)
  } catch (thrown) {
    const isTold = thrown instanceof ApiError && thrown.code === 'provider_error'
    throw isTold ? new AttemptFailed(thrown, true) : thrown
  }
}

/** Sends it, and once more with a new proof where the first was rejected. */
async function postProven(attempt: Attempt, call: UpstreamCall, proof: Proof): Promise<Answer> {
  const { egress } = attempt.turn.checked.ports
  const { source } = attempt.sent
  const response = await egress.send({ ...call, headers: await provenBy(proof, call, source) })
  if (response.status !== 401 || !proof.refused()) return response
  response.cancel()
  return egress.send({ ...call, headers: await provenBy(proof, call, source) })
}

/** Adds the proof; a request that fails here was not sent. */
async function provenBy(
  proof: Proof,
  { url, headers, body = '' }: UpstreamCall,
  source: ErrorSource,
): Promise<Readonly<Record<string, string>>> {
  try {
    return await proof.headers({ url, headers, body })
  } catch (thrown) {
    throw new AttemptFailed(toBroken(thrown, source), true)
  }
}

function parsed(text: string): unknown {
  try {
    return parseShaped(text, eventShape)
  } catch {
    return text
  }
}
