import type { GatewayPorts } from './ports'
import type { InboundRequest } from './request'
import type { UnansweredUse } from './unanswered-use'
import type { Principal } from '../auth/principal'
import type { Model } from '../catalog/model'
import type { Meter } from '../metering/meter'
import type { Translation } from '../protocols/dialect'
import type { Candidate } from '../routing/candidate'
import type { PassedMember } from '../routing/collections'
import type { RoutingPreferences } from '../routing/preferences'
import type { JsonObject } from '../wire/json-body'

/** A request that may run: its body is valid, and its model resolved. */
export interface ValidatedRequest<Params> {
  ports: GatewayPorts
  call: InboundRequest
  principal: Principal
  /** The parsed fields of its body. */
  params: Params
  /** The same request as it arrived; unknown fields are passed through. */
  body: JsonObject
  /** The body without fields that the model's price does not cover; undefined where not all candidates pay by it. */
  pricedBody: JsonObject | undefined
  bytes: number
  model: Model
  candidates: readonly Candidate[]
  /** The model name in the request. */
  requestedModel: string
  /** The request's wishes for its route. */
  preferences?: RoutingPreferences | undefined
  /** Its tags that budgets count; null for none. */
  budgetTags: readonly string[] | null
  /** Members of its collection that are skipped. */
  passedOver: readonly PassedMember[]
  /** Set where it arrived in another format: the request that it stands for. */
  translation?: Translation | undefined
}

/** A request for one candidate: with that candidate's model and a body that is paid for. */
export interface PricedAttempt<Request> {
  request: Request
  candidate: Candidate
  /** The candidate's model. */
  model: Model
  body: JsonObject
  /** The fields that its shared credential does not pass; undefined where it passes all. */
  withheld?: readonly string[] | undefined
  meter: Meter
  /** Records the use of parts that came to no answer. */
  unansweredUse: UnansweredUse
}

/** A validated request for one candidate. */
export type RequestAttempt<Params> = PricedAttempt<ValidatedRequest<Params>>
