import type { Deadline } from './deadline'
import { AttemptFailed, toAttemptFailed, toProviderError } from './attempt-failed'
import { Delivery, classifyLoss, type Loss } from './classify-loss'
import type { OutputAllowance, Drain } from './stream-bounds'
import type { LargeEvents } from './large-events'
import type { LoopShare, LoopShares } from './stream-work'
import type { OutgoingRequest, UpstreamProtocol } from './protocol/protocol'
import { paths, toSentHeaders, toUpstreamUrl } from './request-head'
import { AnswerTooLong, LocalAnswer, type Answer } from './http/answer'
import type { Egress, UpstreamCall } from './http/egress'
import type { GatewayTransport } from './http/gateway-call'
import { ApiError } from '../errors'
import type { NetworkRoute } from '../platform/network-route'
import type { Credentials, RequestAuthenticator } from '../providers/credentials'
import type { ProviderRoute } from '../providers/provider-route'
import { findUpstreamError, invalidAnswer, type ErrorSource } from '../providers/upstream-error'
import * as sandbox from '../providers/sandbox'
import { maxAnswerBytes } from '../wire/answer'
import { eventShape } from '../wire/json-shape'
import { parseShaped } from '../wire/json-slices'
import type { HeaderList } from './http/request-head'

/** The transports, and the credentials used there. */
interface Transports {
  egress: Egress
  /** For connections of self-hosted gateways. */
  gateways: Pick<GatewayTransport, 'send'>
  credentials: Credentials
  /** Shares of the event loop's time. */
  loopShares: LoopShares
  /** The memory of large events of streams. */
  largeEvents: LargeEvents
}

/** A model on a connection, as far as sending a request to it goes. */
interface UpstreamCandidate extends ProviderRoute {
  model: { upstreamModel: string }
  connection: ProviderRoute['connection'] & {
    /** Set for a connection of a self-hosted gateway. */
    gatewayId: string | null
    /** The account or organization that owns it; null for the operator's. */
    owner: string | null
    network: NetworkRoute | null
  }
}

/** The request of which an attempt is one try. */
interface AttemptedRequest {
  ports: Transports
  principal: { readonly accountId: string }
  /** As it arrived. */
  call: {
    /** The number of Tollgate instances that have forwarded it before. */
    hops: number
    trace?: { readonly traceparent: string | undefined } | undefined
    /** Set where its body is large. */
    body?: { release: () => void } | undefined
  }
}

/** One try of one candidate. */
export interface UpstreamAttempt {
  candidate: UpstreamCandidate
  request: AttemptedRequest
  protocol: UpstreamProtocol
  deadline: Deadline
  /** The part of a streamed answer that is paid for; undefined where the answer may have any length. */
  allowance?: OutputAllowance | undefined
  /**
   * Called where its provider received the request and no answer came of it; `bytes` is the length of an answer that
   * was too long.
   */
  onLost?: ((loss: Loss, bytes: number) => void) | undefined
  /** Set where a whole answer may be longer than others: its maximum, and its part of the budget of these. */
  large?: { maxBytes: number; memory: { resize: (bytes: number) => void } } | undefined
  /** Called with the failure that breaks a stream that has been opened. */
  onBroken?: (thrown: unknown) => void
  /** Set as soon as it continues although its client has disconnected. */
  drain?: () => Drain | undefined
}

const maxErrorBytes = 64 * 1024

/** Sends an attempt and waits for the head of a good answer. Throws `AttemptFailed`. */
export async function send(attempt: UpstreamAttempt): Promise<Answer> {
  const delivery = new Delivery(attempt.request.call.body)
  try {
    const response = await post(attempt, delivery)
    return isGood(response) ? response : await refused(attempt, response)
  } catch (thrown) {
    if (delivery.isDone) reportLoss(attempt, thrown)
    throw toAttemptFailed(thrown, attempt.protocol.source)
  }
}

/** Reports to an attempt the loss of its answer, once the provider has received the request. */
export function reportLoss(attempt: Pick<UpstreamAttempt, 'onLost'>, thrown: unknown): void {
  const loss = classifyLoss(thrown)
  if (loss) attempt.onLost?.(loss, thrown instanceof AnswerTooLong ? maxAnswerBytes : 0)
}

/** The account or organization whose work an attempt is: the connection's owner, or the caller. */
export const ownerOf = ({ candidate, request }: UpstreamAttempt): string =>
  candidate.connection.owner ?? request.principal.accountId

/** The share of the event loop that an attempt uses. */
export const shareOf = (attempt: UpstreamAttempt): LoopShare =>
  attempt.request.ports.loopShares.shareOf(ownerOf(attempt))

/** 204 and 205 have no body. */
const isGood = ({ status }: Answer): boolean =>
  status >= 200 && status < 300 && status !== 204 && status !== 205

/** Handles an error response. The protocol may know another request that the provider takes. */
async function refused(attempt: UpstreamAttempt, response: Answer): Promise<Answer> {
  const { protocol } = attempt
  const text = await response.text(maxErrorBytes).catch(() => '')
  const { status } = response
  if (status < 400) {
    throw new AttemptFailed(invalidAnswer(protocol.source.provider, `a status of ${status}`), false)
  }
  const refusal = { status, body: parseBody(text), retryAfter: response.headers.get('retry-after') }
  if (protocol.replaceRefused(refusal)) return send(attempt)
  const error = protocol.toError(refusal)
  throw new AttemptFailed(error, findUpstreamError(error)?.classification.mayTryNext === true)
}

/** Sends the request. Throws errors that `toAttemptFailed` converts. */
function post(attempt: UpstreamAttempt, delivery: Delivery): Promise<Answer> {
  const { candidate, request, deadline } = attempt
  const outgoing = attempt.protocol.request
  const { operation, body, method = 'POST' } = outgoing
  const { gatewayId, owner, network } = candidate.connection
  if (gatewayId !== null) return postToGateway(attempt, outgoing, { gatewayId, delivery })
  if (candidate.provider.dialect === 'sandbox' && operation !== 'responses') {
    delivery.release()
    const local = { path: paths[operation], body, signal: deadline.signal }
    return Promise.resolve(new LocalAnswer(sandbox.answer(local)))
  }
  const content = outgoing.content ?? outgoing.toContent?.(body)
  const authenticator = authenticatorFor(attempt)
  const url = toUpstreamUrl(candidate, outgoing)
  const headers = toSentHeaders(candidate, outgoing, { url, hops: request.call.hops })
  const isPost = method === 'POST'
  const call: UpstreamCall = {
    url,
    method,
    headers: tracedHeaders(
      attempt,
      content ? { ...headers, 'content-type': content.type } : headers,
    ),
    body: isPost && !content ? JSON.stringify(body) : undefined,
    streamed: isPost ? content : undefined,
    signal: deadline,
    sent: delivery,
    owner,
    network,
  }
  return authenticator
    ? postAuthenticated(attempt, call, authenticator)
    : request.ports.egress.send(call)
}

/** Sends it through the gateway that holds the provider's address and secret, and gets neither of ours. */
function postToGateway(
  { candidate, request, deadline }: UpstreamAttempt,
  { operation, body, content, toContent, tunnelPath }: OutgoingRequest,
  { gatewayId, delivery }: { gatewayId: string; delivery: Delivery },
): Promise<Answer> {
  const { provider, model } = candidate
  return request.ports.gateways.send(gatewayId, {
    provider: provider.key,
    model: model.upstreamModel,
    path: tunnelPath ?? provider.options.paths[operation] ?? paths[operation],
    body,
    content: content ?? toContent?.(body),
    // Sound is passed on as it comes, too.
    isStream: body['stream'] === true || operation === 'speech',
    isBinary: operation === 'speech',
    stop: deadline,
    timeoutMs: deadline.remainingMs,
    sent: delivery,
  })
}

/** Only the operator's own connections get the trace header. */
function tracedHeaders({ candidate, request }: UpstreamAttempt, headers: HeaderList): HeaderList {
  const traceparent = request.call.trace?.traceparent
  return traceparent === undefined || candidate.connection.owner !== null
    ? headers
    : { ...headers, traceparent }
}

/** Returns the credential's authenticator, if it needs one. A `provider_error` fails the attempt; other errors are rethrown. */
function authenticatorFor({
  candidate,
  request,
}: UpstreamAttempt): RequestAuthenticator | undefined {
  try {
    return request.ports.credentials.authenticatorFor(candidate)
  } catch (thrown) {
    const isProviders = thrown instanceof ApiError && thrown.code === 'provider_error'
    throw isProviders ? new AttemptFailed(thrown, true) : thrown
  }
}

/** Sends it, and a second time with new headers where the first were rejected. */
async function postAuthenticated(
  { request, protocol }: UpstreamAttempt,
  call: UpstreamCall,
  authenticator: RequestAuthenticator,
): Promise<Answer> {
  const { egress } = request.ports
  const { source } = protocol
  const response = await egress.send({
    ...call,
    headers: await authenticate(authenticator, call, source),
  })
  if (response.status !== 401 || !authenticator.refused()) return response
  response.cancel()
  return egress.send({ ...call, headers: await authenticate(authenticator, call, source) })
}

/** Adds the headers of the authenticator; a request that fails here was not sent. */
async function authenticate(
  authenticator: RequestAuthenticator,
  { url, headers, body = '' }: UpstreamCall,
  source: ErrorSource,
): Promise<Readonly<Record<string, string>>> {
  try {
    return await authenticator.headers({ url, headers, body })
  } catch (thrown) {
    throw new AttemptFailed(toProviderError(thrown, source), true)
  }
}

function parseBody(text: string): unknown {
  try {
    return parseShaped(text, eventShape)
  } catch {
    return text
  }
}
