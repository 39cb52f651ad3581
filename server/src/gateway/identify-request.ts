import type { RequestAttempt } from './attempt'
import { getIdentifierFields, type IdentifierFormat } from '../providers/identifier-fields'
import { isSharedCredential } from '../shared-credentials/credential'
import {
  identifyAccount,
  identifyInConverse,
  identifyInMessage,
  type AccountRequest,
} from '../shared-credentials/identify'
import type { OutgoingRequest } from '../upstream/protocol/protocol'

/** The parts of an attempt that decide by which identifiers its provider knows the account. */
interface IdentifiedAttempt extends Pick<RequestAttempt<unknown>, 'candidate'> {
  request: AccountRequest
}

/** The format of a written request; undefined where it has no place for an identifier. */
type WrittenFormat = IdentifierFormat | 'messages' | 'converse' | undefined

/**
 * Returns a request as its provider gets it: on a shared credential by the identifiers of its account, which are set in
 * place; on a credential of the account's own as it was written.
 */
export function identified(
  outgoing: OutgoingRequest,
  format: WrittenFormat,
  { candidate, request }: IdentifiedAttempt,
): OutgoingRequest {
  if (format === undefined || !isSharedCredential(candidate)) return outgoing
  const { body, url } = outgoing
  if (format === 'messages') identifyInMessage(body, request)
  else if (format === 'converse') identifyInConverse(body, request)
  else identifyAccount(body, getIdentifierFields(candidate, format, url), request)
  return outgoing
}
