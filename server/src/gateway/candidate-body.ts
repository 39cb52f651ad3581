import type { PricedEndpoint, ReservableRequest } from './priced-endpoint'
import { stripUnpriced } from '../metering/unpriced-fields'
import { isByPrice, type Candidate } from '../routing/candidate'
import { isSharedCredential } from '../shared-credentials/credential'
import { toSharedBody, type SharedBody } from '../shared-credentials/relayed-body'
import type { JsonObject } from '../wire/json-body'

interface Source {
  request: ReservableRequest
  endpoint: Pick<PricedEndpoint<never>, 'priceKind'>
}

/** Returns the body without the fields that the model's price does not cover, where that price is charged. */
export function toPricedBody(
  { model, billing }: Candidate,
  { request, endpoint }: Source,
): JsonObject {
  const { body, pricedBody } = request
  if (!isByPrice(billing) || !model.pricing) return body
  if (pricedBody && model === request.model) return pricedBody
  return stripUnpriced(body, { endpoint: endpoint.priceKind, pricing: model.pricing })
}

/** Returns the body for a credential that accounts share, where that is another one. */
export function toCandidateBody(
  body: JsonObject,
  candidate: Candidate,
  { request, endpoint }: Source,
): SharedBody | undefined {
  // Requests in other formats are checked as they arrived: see `choose-protocol.ts`.
  if (request.translation || !isSharedCredential(candidate)) return undefined
  return toSharedBody(body, endpoint.priceKind, candidate)
}
