import type { z } from 'zod'
import type { ValidatedRequest } from './attempt'
import { withDefaultModel } from './default-model'
import type { Endpoint, JsonForm, MeasuredEndpoint } from './endpoint'
import { checkDimensions, FitCheck } from './fit-check'
import type { GatewayPorts } from './ports'
import type { MaybePromise } from '../platform/maybe-promise'
import type { InboundRequest } from './request'
import type { RankingUse } from '../catalog/comparable-price'
import type { Model } from '../catalog/model'
import { expectApiError, type ApiError } from '../errors'
import type { PromptSize } from '../limits/prompt-size'
import type { TokenNeed } from '../limits/token-need'
import type { Translation } from '../protocols/dialect'
import type { Demands } from '../routing/collections'
import { findRequestNeeds, type RequestNeed } from '../routing/needs'
import type { RoutingPreferences } from '../routing/preferences'
import { check, type JsonObject, type ReadBody } from '../wire/json-body'

/** A body whose fields were checked. */
interface CheckedBody<Params> extends ReadBody {
  params: Params
  translation: Translation | undefined
}

/** The parsed content of a body, and its demands on a collection's members. Its measures are taken once, when needed. */
export class ParsedRequest<Params> implements CheckedBody<Params>, Demands {
  readonly body: JsonObject
  readonly bytes: number
  readonly params: Params
  readonly translation: Translation | undefined
  preferences: RoutingPreferences | undefined
  readonly #endpoint: MeasuredEndpoint<Params>
  readonly #fitCheck: FitCheck
  #need: TokenNeed | undefined
  #needs: readonly RequestNeed[] | undefined
  #ranking: RankingUse | undefined

  constructor(
    endpoint: MeasuredEndpoint<Params>,
    { body, bytes, params, translation }: CheckedBody<Params>,
    ports: Pick<GatewayPorts, 'counter'>,
  ) {
    this.body = body
    this.bytes = bytes
    this.params = params
    this.translation = translation
    this.#endpoint = endpoint
    const size = endpoint.size(params, body)
    if (translation) size.lowersOutput = translation.lowersOutput
    this.#fitCheck = new FitCheck(size, bytes, ports)
  }

  get size(): PromptSize {
    return this.#fitCheck.size
  }

  /** Checks that it fits a model, as `FitCheck` does. */
  fits(model: Model): undefined | Promise<void> {
    return this.#fitCheck.check(model)
  }

  /** Its estimated need of tokens. */
  need(): TokenNeed {
    return (this.#need ??= this.#endpoint.need(this.params, this.bytes))
  }

  promptTokens(): number {
    return this.need().promptTokens
  }

  get needs(): readonly RequestNeed[] {
    return (this.#needs ??= findRequestNeeds(this.body))
  }

  ranking(): RankingUse | undefined {
    return (this.#ranking ??= this.#endpoint.ranking?.(this.params))
  }

  misfit(model: Model): ApiError | undefined | Promise<ApiError | undefined> {
    try {
      checkDimensions(model, this.body)
      return this.fits(model)?.then(() => undefined, expectApiError)
    } catch (thrown) {
      return expectApiError(thrown)
    }
  }
}

/**
 * Expands a request with the history that it continues, which counts like a part of its body: a short request may
 * continue a very long history. Rejects with `invalid_request`, and with `gateway_unavailable` where there is no
 * room.
 */
export async function withHistory(
  call: Pick<InboundRequest, 'history' | 'readMore'>,
  userId: string,
  requestBody: ReadBody,
): Promise<ReadBody> {
  const { history } = call
  if (!history) return requestBody
  const bytes = await history.unreadBytes(userId, requestBody.body)
  if (bytes === 0 || !call.readMore) return history.expand(userId, requestBody)
  return call.readMore(bytes, async (pause) => history.expand(userId, requestBody, pause))
}

/**
 * Adds to a request what it leaves to Tollgate: the history that it continues, or its model. Rejects with
 * `invalid_request`, and with `gateway_unavailable` where there is no room.
 */
export function expandBody(
  { defaultKind }: Pick<Endpoint<never>, 'defaultKind'>,
  requestBody: ReadBody,
  caller: Pick<ValidatedRequest<unknown>, 'call' | 'principal' | 'ports'>,
): MaybePromise<ReadBody> {
  const { call, principal } = caller
  if (call.history) return withHistory(call, principal.userId, requestBody)
  return defaultKind ? withDefaultModel(requestBody, defaultKind, caller) : requestBody
}

type KeepText = ((text: string) => void) | undefined

/** The parts of an endpoint that its bodies depend on. */
type BodyRules = Pick<Endpoint<never>, 'form' | 'formToJson' | 'jsonToForm' | 'maxBytes'>

/** Reads JSON that stands for a form, of which the log keeps what it keeps of forms. */
async function readJsonForm(
  { maxBytes, toForm }: JsonForm,
  { call, principal }: Pick<ValidatedRequest<unknown>, 'call' | 'principal'>,
  keepText: KeepText,
): Promise<ReadBody> {
  const requestBody = await call.readBody(maxBytes, principal.accountId)
  const body = await toForm(requestBody.body, call)
  // The file is on disk, and no more in memory.
  call.body?.release()
  keepText?.(JSON.stringify(body))
  return { body, bytes: requestBody.bytes }
}

/** Reads a body: JSON, or a form with files. Rejects with `invalid_request` and `gateway_unavailable`. */
export function readRequest(
  { form, formToJson, jsonToForm, maxBytes }: BodyRules,
  caller: Pick<ValidatedRequest<unknown>, 'call' | 'principal'>,
  keepText: KeepText,
): Promise<ReadBody> {
  const { call, principal } = caller
  const { accountId } = principal
  if (jsonToForm && call.isJson) return readJsonForm(jsonToForm, caller, keepText)
  if (!form || !call.readForm || (formToJson && !call.isForm))
    return call.readBody(maxBytes, accountId, keepText)
  return call.readForm(form, accountId).then((requestBody) => {
    keepText?.(JSON.stringify(requestBody.body))
    return formToJson ? formToJson(requestBody.body, call) : requestBody
  })
}

/** Parses and checks a body. Throws `invalid_request`. */
export function parseRequest<Schema extends z.ZodType<{ model: string }>>(
  endpoint: Endpoint<Schema>,
  requestBody: ReadBody,
  ports: GatewayPorts,
): ParsedRequest<z.output<Schema>> {
  const translation = endpoint.translate?.(requestBody.body)
  const { body, bytes } = translation
    ? measure(translation.chat, requestBody)
    : normalized(endpoint, requestBody)
  const params = check(endpoint.schema, body)
  return new ParsedRequest(endpoint, { body, bytes, params, translation }, ports)
}

/** The size stays that of the body as it arrived. */
function normalized<Schema extends z.ZodType<{ model: string }>>(
  { normalize }: Pick<Endpoint<Schema>, 'normalize'>,
  requestBody: ReadBody,
): ReadBody {
  const body = normalize ? normalize(requestBody.body) : requestBody.body
  return body === requestBody.body ? requestBody : { ...requestBody, body }
}

/** Measures a request of ours that was made from another. Fields that we have no word for may still be passed through. */
const measure = (body: JsonObject, { bytes }: ReadBody): ReadBody => ({
  body,
  bytes: Math.max(bytes, Buffer.byteLength(JSON.stringify(body))),
})
