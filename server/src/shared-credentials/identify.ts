import type { AccountIdentifiers } from './account-identifiers'
import { isUsedValue } from './credential'
import { identifierFields, type IdentifierField } from '../providers/identifier-fields'
import { isObject, type JsonObject } from '../wire/json-body'

/** A request, as far as it belongs to an account. */
export interface AccountRequest {
  principal: { readonly accountId: string }
  ports: { identifiers: AccountIdentifiers }
}

/** Fields that name an end user; the others name a cache, or a session. */
const endUserFields: ReadonlySet<string> = new Set(['user', 'safety_identifier', 'user_id'])

/**
 * Replaces the identifiers that a caller gave in a request for a shared credential, in place, and sets those that its
 * provider is known to accept where the caller gave none.
 */
export function identifyAccount(
  body: JsonObject,
  acceptedFields: readonly IdentifierField[],
  request: AccountRequest,
): void {
  let endUser: string | undefined
  for (const field of identifierFields) {
    if (!(field in body)) continue
    if (!isUsedValue(body[field])) {
      delete body[field]
      continue
    }
    const name = toName(body[field], request)
    body[field] = name
    if (endUserFields.has(field)) endUser ??= name
  }
  for (const field of acceptedFields) {
    if (body[field] !== undefined) continue
    const givenName = endUserFields.has(field) ? endUser : undefined
    body[field] = givenName ?? toName(undefined, request)
  }
}

/** Does the same for a request in Anthropic's format, whose metadata names the end user and nothing else. */
export function identifyInMessage(body: JsonObject, request: AccountRequest): void {
  const { metadata } = body
  const name = isObject(metadata) ? metadata['user_id'] : undefined
  body['metadata'] = { user_id: toName(name, request) }
}

/** Labels a request to Bedrock, whose owner finds the account by it in the logs of invocations. */
export function identifyInConverse(body: JsonObject, request: AccountRequest): void {
  body['requestMetadata'] = { end_user: toName(undefined, request) }
}

function toName(givenName: unknown, { principal, ports }: AccountRequest): string {
  const { accountId } = principal
  const { identifiers } = ports
  return isUsedValue(givenName)
    ? identifiers.ofName(accountId, givenName)
    : identifiers.ofAccount(accountId)
}
