import type { RequestAttempt, ValidatedRequest } from './attempt'
import { findMeasuredUnits } from '../catalog/priced-units'
import { estimatePrompt, estimateUsage } from '../metering/estimate'
import { outputLimitOfUnknown } from '../metering/volume'
import { generateIdBody } from '../platform/db/id'
import type { RelayRequest } from '../providers/openai/relayed-stream'
import { readOutputLimit } from '../providers/openai/request'
import type { RelayOptions } from '../providers/provider'
import type { ErrorSource } from '../providers/upstream-error'
import { hidesCachedTokens, isSharedCredential } from '../shared-credentials/credential'
import type { ChatProtocol } from '../upstream/protocol/protocol'
import { answerId, type Identity } from '../wire/answer'
import { callIdsIn } from '../wire/call-ids'
import type { JsonObject } from '../wire/json-body'
import type { TextSize } from '../wire/text-size'
import type { Usage } from '../wire/usage'

/** The fields of a request that decide how its answer is relayed. */
export interface RelayableParams {
  stream?: boolean | null | undefined
  stream_options?: { include_usage?: boolean | null | undefined } | null | undefined
}

/** The head of every chunk or answer of a request. */
export const identityOf = (
  { call, model }: ValidatedRequest<unknown>,
  object: Identity['object'],
): Identity => ({
  id: answerId(call.requestId, object === 'text_completion' ? 'cmpl' : 'chatcmpl'),
  object,
  created: Math.floor(Date.now() / 1000),
  model: model.id,
})

/** The same head with the serving model, which in a collection may be another than the first. */
const servedBy = ({ model }: RequestAttempt<unknown>, identity: Identity): Identity =>
  model.id === identity.model ? identity : { ...identity, model: model.id }

type Answering = Pick<RequestAttempt<unknown>, 'model' | 'body' | 'candidate'>

/** The provider that answers an attempt, and the request that it received. */
export class AttemptSource implements ErrorSource {
  readonly provider: string
  readonly secret: string | null
  readonly headers: ErrorSource['headers']
  readonly textField: ErrorSource['textField']
  readonly contextLength: number | null
  readonly maxOutputTokens: number | null
  readonly #body: JsonObject

  constructor({ model, body, candidate }: Answering, textField: ErrorSource['textField']) {
    this.provider = candidate.provider.key
    this.secret = candidate.connection.secret
    this.headers = candidate.connection.headers
    this.textField = textField
    this.contextLength = model.contextLength
    this.maxOutputTokens = model.maxOutputTokens
    this.#body = body
  }

  wasSent(field: string): boolean {
    return field in this.#body
  }
}

/** Rendering of the answers to a request for its caller, whichever provider gives them. */
export interface RenderOptions {
  identity: Identity
  legacyFunctions: boolean
  /** Undefined for the caller's own choice. */
  wantsUsage?: boolean
}

const newCallId = () => `call_${generateIdBody()}`

/** The facts about an attempt that the reading of its answer needs. */
export class AnswerFacts implements RelayRequest {
  readonly #attempt: RequestAttempt<RelayableParams>
  readonly source: ErrorSource
  readonly identity: Identity
  readonly legacyFunctions: boolean
  readonly wantsUsage: boolean
  readonly newCallId = newCallId
  readonly callerNames: RelayRequest['callerNames']

  constructor(
    attempt: RequestAttempt<RelayableParams>,
    { source, callerNames }: Pick<ChatProtocol, 'source' | 'callerNames'>,
    rendering: RenderOptions,
  ) {
    const { stream_options: options } = attempt.request.params
    this.#attempt = attempt
    this.source = source
    this.callerNames = callerNames
    this.identity = servedBy(attempt, rendering.identity)
    this.legacyFunctions = rendering.legacyFunctions
    this.wantsUsage = rendering.wantsUsage ?? options?.include_usage === true
  }

  pastCallIds(): ReadonlySet<string> {
    return callIdsIn(this.#attempt.body)
  }

  get units(): RelayRequest['units'] {
    return findMeasuredUnits(this.#attempt.model)
  }

  get options(): RelayOptions {
    return this.#attempt.candidate.provider.options
  }

  get hidesCachedTokens(): boolean {
    return hidesCachedTokens(this.#attempt.candidate)
  }

  get namedByCaller(): JsonObject | undefined {
    const { request, candidate } = this.#attempt
    const original = request.translation?.original
    return original && isSharedCredential(candidate) ? original.body : undefined
  }

  get answers(): number {
    const { n } = this.#attempt.body
    return typeof n === 'number' ? n : 1
  }

  get outputLimit(): number | undefined {
    return readOutputLimit(this.#attempt.body)?.limit
  }

  estimate(output: TextSize): Usage {
    return estimateUsage({ promptTokens: estimatePrompt(this.#attempt.body), output })
  }

  hiddenTokens({ reasoning }: Usage): number {
    const { model, candidate } = this.#attempt
    const maxTokens = (model.maxOutputTokens ?? outputLimitOfUnknown) * this.answers
    if (model.capabilities.reasoning) return maxTokens
    // The payer of a provider accepts its reported count; other callers need not, of a model that does not think.
    const isPayers = candidate.connection.owner === null || candidate.billing.mode === 'byok'
    return isPayers ? Math.min(reasoning, maxTokens) : 0
  }
}
