import { toSharedHeaders } from './forwarded-headers'
import { rejectStoredInMessages, toListedMessages } from './messages-body'
import {
  rejectStoredInResponses,
  toListedResponses,
  type SharedResponseUse,
} from './responses-body'
import type { Original } from '../protocols/dialect'
import type { JsonObject } from '../wire/json-body'

interface SharedOriginalUse extends SharedResponseUse {
  /** Returns the body that the price covers; absent where nothing is priced. Throws `invalid_request`. */
  toPriced?: ((body: JsonObject) => JsonObject) | undefined
}

/**
 * Returns the body and the headers of a request that passes in its own format, for a shared credential. Throws
 * `invalid_request` first for references to what the provider's account holds, then for what the price does not cover,
 * then for what is not listed and cannot just be left out.
 */
export function toSharedOriginal(
  { format, body, headers }: Pick<Original, 'format' | 'body' | 'headers'>,
  use: SharedOriginalUse,
): Pick<Original, 'body' | 'headers'> {
  const { credential, toPriced = (body) => body } = use
  if (format === 'messages') rejectStoredInMessages(body, credential)
  else rejectStoredInResponses(body, credential)
  const pricedBody = toPriced(body)
  return {
    body:
      format === 'messages'
        ? toListedMessages(pricedBody, use)
        : toListedResponses(pricedBody, use),
    headers: toSharedHeaders(headers, use),
  }
}
