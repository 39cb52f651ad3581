import type { z } from 'zod'
import type { ValidatedRequest } from './attempt'
import { withDefaultModel } from './default-model'
import type { Endpoint } from './endpoint'
import { createFitCheck, type Fits } from './fit-check'
import type { GatewayPorts } from './ports'
import type { MaybePromise } from '../platform/maybe-promise'
import type { InboundRequest } from './request'
import type { RankingUse } from '../catalog/comparable-price'
import type { PromptSize } from '../limits/prompt-size'
import type { TokenNeed } from '../limits/token-need'
import type { Translation } from '../protocols/dialect'
import type { RoutingPreferences } from '../routing/preferences'
import { check, type JsonObject, type ReadBody } from '../wire/json-body'

/** The parsed content of a body. */
export interface ParsedRequest<Params> extends ReadBody {
  params: Params
  size: PromptSize
  fits: Fits
  /** Its estimated need of tokens; computed once. */
  need: () => TokenNeed
  /** The estimated use of a ranking; computed once. */
  ranking?: (() => RankingUse) | undefined
  translation: Translation | undefined
  preferences?: RoutingPreferences | undefined
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

/** Reads a body: JSON, or a form with files. Rejects with `invalid_request` and `gateway_unavailable`. */
export function readRequest(
  { form, formToJson, maxBytes }: Pick<Endpoint<never>, 'form' | 'formToJson' | 'maxBytes'>,
  { call, principal }: Pick<ValidatedRequest<unknown>, 'call' | 'principal'>,
  keepText: ((text: string) => void) | undefined,
): Promise<ReadBody> {
  const { accountId } = principal
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
  const size = { ...endpoint.size(params, body), lowersOutput: translation?.lowersOutput }
  const fits = createFitCheck(size, bytes, ports)
  let cachedNeed: TokenNeed | undefined
  const need = () => (cachedNeed ??= endpoint.need(params, bytes))
  const estimateRanking = endpoint.ranking
  let cachedUse: RankingUse | undefined
  const ranking = estimateRanking && (() => (cachedUse ??= estimateRanking(params)))
  return { body, bytes, params, size, fits, need, ranking, translation }
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
