import type { AttemptSource } from './answer-facts'
import type { RequestAttempt } from './attempt'
import { identified } from './identify-request'
import { limitAnswer } from './timeouts'
import { toLossReport } from './unanswered-use'
import { receivesUrls } from './url-receivers'
import type { Adapter } from '../providers/adapter'
import type { IdentifierFormat } from '../providers/identifier-fields'
import { isSharedCredential } from '../shared-credentials/credential'
import { rejectRemoteUrls } from '../shared-credentials/remote-urls'
import type { UpstreamAttempt } from '../upstream/attempt'
import type { Deadline } from '../upstream/deadline'
import { exchange } from '../upstream/exchange'
import type { OutgoingRequest, UpstreamProtocol } from '../upstream/protocol/protocol'
import { RelayProtocol } from '../upstream/protocol/relay'
import type { Usage } from '../wire/usage'

/** The answer's headers, of which some providers count tokens in one. */
interface AnswerHeaders {
  get: (name: string) => string | null
}

/**
 * The exchange of a request that is answered by one JSON object, never by a stream: embeddings, moderations,
 * rerankings, images. The request may be a part of the caller's.
 */
export interface WholeExchange<Result> {
  request: OutgoingRequest
  source: AttemptSource
  deadline: Deadline
  /** Set where the answer may be longer than others. */
  large?: UpstreamAttempt['large']
  /** The usage of the request, should its provider bill it without answering. */
  estimate: () => Usage
  /** Throws where the answer is none. */
  read: (answer: unknown, headers: AnswerHeaders) => Result
}

/**
 * Sends a request in the provider's own format, the caller's, with the identifiers of `format`. Throws
 * `AttemptFailed`, and errors that are no failed attempt.
 */
export function relayWhole<Result>(
  attempt: RequestAttempt<unknown>,
  { request, source, ...whole }: WholeExchange<Result>,
  format?: IdentifierFormat,
): Promise<Result> {
  const { candidate } = attempt
  if (isSharedCredential(candidate) && !receivesUrls(candidate)) rejectRemoteUrls(request.body)
  const protocol = new RelayProtocol({ request: identified(request, format, attempt), source })
  return exchangeWhole(attempt, protocol, whole)
}

/** Sends a request that an adapter has written. Throws as `relayWhole`. */
export function translateWhole<Result>(
  attempt: RequestAttempt<unknown>,
  { request, source, ...whole }: WholeExchange<Result>,
  { toError }: Pick<Adapter, 'toError'>,
): Promise<Result> {
  const protocol: UpstreamProtocol = {
    request,
    source,
    framing: 'sse',
    toError: (refusal) => toError(refusal, source),
    replaceRefused: () => false,
  }
  return exchangeWhole(attempt, protocol, whole)
}

function exchangeWhole<Result>(
  attempt: RequestAttempt<unknown>,
  protocol: UpstreamProtocol,
  whole: Pick<WholeExchange<Result>, 'deadline' | 'large' | 'estimate' | 'read'>,
): Promise<Result> {
  const { candidate, request } = attempt
  const { deadline, large, estimate, read } = whole
  limitAnswer(deadline, attempt)
  const onLost = toLossReport(attempt, estimate)
  return exchange({ candidate, request, protocol, deadline, large, onLost }, { read })
}
