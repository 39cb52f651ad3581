import type { ValidatedRequest } from './attempt'
import type { Failover } from './failover'
import type { InboundRequest, Reply } from './request'
import type { PricedEndpoint } from './priced-endpoint'
import type { z } from 'zod'
import type { RankingUse } from '../catalog/comparable-price'
import type { Category } from '../catalog/model'
import type { PromptSize } from '../limits/prompt-size'
import type { TokenNeed } from '../limits/token-need'
import type { Translation } from '../protocols/dialect'
import type { Operation } from '../upstream/protocol/protocol'
import type { JsonObject, ReadBody } from '../wire/json-body'
import type { FormLimits } from '../wire/uploaded-file'

/** A validated request with its candidates, as an endpoint runs it. */
export type EndpointRun<Params> = Failover<ValidatedRequest<Params>>

/** The measures that an endpoint takes of its requests before their models are known. */
export interface MeasuredEndpoint<Params> {
  /** The countable content, should its size come close to the model's context. */
  size: (params: Params, body: JsonObject) => PromptSize
  need: (params: Params, bytes: number) => TokenNeed
  /** Estimates the use of a ranking; called only where prices are compared. */
  ranking?: (params: Params) => RankingUse
}

/** JSON that stands for a form. */
export interface JsonForm {
  maxBytes: number
  /** Makes it that form, with its files on disk. Rejects with `invalid_request` and `gateway_unavailable`. */
  toForm: (body: JsonObject, call: InboundRequest) => Promise<JsonObject>
}

/** The parts of the shared stages that are specific to one model endpoint. */
export interface Endpoint<Schema extends z.ZodType<{ model: string }>>
  extends PricedEndpoint<ValidatedRequest<z.output<Schema>>>, MeasuredEndpoint<z.output<Schema>> {
  operation: Exclude<Operation, 'responses'>
  schema: Schema
  maxBytes: number
  /** Set where the request is a form with files, not JSON. */
  form?: FormLimits
  /** Set where it may be either: makes a form the body that a client sends as JSON. Rejects as reading that does. */
  formToJson?: (form: JsonObject, call: InboundRequest) => Promise<ReadBody>
  /** Set where a form may be JSON as well. */
  jsonToForm?: JsonForm
  kinds: readonly Category[]
  /** The kind of the model of requests that name none; where absent, `model` is required. */
  defaultKind?: Category
  /** The provider of a model may be left out, whatever the settings. */
  bareNames?: boolean
  /** For another format than the one of `schema`: reads it first. Throws `invalid_request`. */
  translate?: (body: JsonObject) => Translation
  /** Brings forms that clients may use for the same into the one of `schema`; the same object where there are none. */
  normalize?: (body: JsonObject) => JsonObject
  /** Measures what the price depends on, once the request is checked. Rejects with `invalid_request`. */
  prepare?: (params: z.output<Schema>) => Promise<void>
  run: (failover: EndpointRun<z.output<Schema>>) => Promise<Reply>
}
