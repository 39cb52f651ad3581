import { takeCostRequest } from './reported-cost'
import { takePreferences, type RoutingPreferences } from '../routing/preferences'
import type { JsonObject, ReadBody } from '../wire/json-body'

/** A request without the fields that are Tollgate's to obey, and what they say. */
export interface OwnFields {
  readBody: ReadBody
  /** Its usage is to have its cost. */
  wantsCost: boolean
  preferences: RoutingPreferences | undefined
}

const hasOwnFields = (body: JsonObject): boolean =>
  'usage' in body || 'models' in body || 'route' in body || 'provider' in body

/**
 * Takes the fields out of a request that OpenRouter's clients write to the gateway; undefined where it has none, as nearly
 * all. Throws `invalid_request`.
 */
export function takeOwnFields(requestBody: ReadBody, isTranslated: boolean): OwnFields | undefined {
  if (!hasOwnFields(requestBody.body)) return undefined
  const { readBody: bodyWithoutPreferences, preferences } = takePreferences(requestBody)
  const { readBody, wantsCost } = takeCostRequest(bodyWithoutPreferences, isTranslated)
  return { readBody, wantsCost, preferences }
}
