import type { Principal } from '../auth/principal'
import { mayNameOtherModels, omitOtherModels } from './other-models'
import { takeCostRequest } from './reported-cost'
import { takePreferences, type RoutingPreferences } from '../routing/preferences'
import type { JsonObject, ReadBody } from '../wire/json-body'

/** A request without the fields that are Tollgate's to obey, and what they say. */
export interface OwnFields {
  readBody: ReadBody
  /** Its usage is to have its cost. */
  wantsCost: boolean
  preferences: RoutingPreferences | undefined
  /** Fields that were left out, as they name other models. */
  omittedFields: readonly string[]
}

const hasOwnFields = (body: JsonObject): boolean =>
  'usage' in body || 'models' in body || 'route' in body || 'provider' in body

const noFields: readonly string[] = []

/**
 * Takes the fields out of a request that OpenRouter's clients write to the gateway, and those that name other models;
 * undefined where it has none, as nearly all. Throws `invalid_request`.
 */
export function takeOwnFields(
  requestBody: ReadBody,
  isTranslated: boolean,
  { accessLists }: Pick<Principal, 'accessLists'>,
): OwnFields | undefined {
  const { body } = requestBody
  const hasLists = accessLists !== null
  const namesOthers = mayNameOtherModels(body, hasLists)
  if (!namesOthers && !hasOwnFields(body)) return undefined
  const { readBody: singleBody, omittedFields } = namesOthers
    ? omitOtherModels(requestBody, hasLists)
    : { readBody: requestBody, omittedFields: noFields }
  const { readBody: bodyWithoutPreferences, preferences } = takePreferences(singleBody)
  const { readBody, wantsCost } = takeCostRequest(bodyWithoutPreferences, isTranslated)
  return { readBody, wantsCost, preferences, omittedFields }
}
