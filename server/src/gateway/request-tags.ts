import type { InboundRequest } from './request'
import type { RequestLifecycle } from './settle'
import type { Principal } from '../auth/principal'
import { ApiError, invalidRequest } from '../errors'
import { withoutSecrets } from '../request-logs/redact-body'
import type { JsonObject } from '../wire/json-body'
import { readTags, toTagSet } from '../wire/tags'

/** Request header with tags of a request. */
export const tagsHeader = 'x-tollgate-tags'

/**
 * Records in its log what a body, which is not validated yet, says of a request, and its tags. Returns the tags that budgets
 * count; null for none. Throws `invalid_request`.
 */
export function recordInLog(
  { call, log, principal }: Pick<RequestLifecycle, 'call' | 'log' | 'principal'>,
  body: JsonObject,
): readonly string[] | null {
  log.read(body)
  const tags = readRequestTags(call, body)
  if (tags) log.addTags(tags)
  return findBudgetTags(principal, tags)
}

/** Returns the tags of a request, and of its key, that budgets count; null for none. */
function findBudgetTags(
  { limits: { budgetTags }, tags: ofKey }: Pick<Principal, 'limits' | 'tags'>,
  ofRequest: readonly string[] = [],
): readonly string[] | null {
  if (budgetTags.length === 0) return null
  const tags = toTagSet([...(ofKey ?? []), ...ofRequest]).filter((tag) => budgetTags.includes(tag))
  return tags.length === 0 ? null : tags
}

/**
 * Reads the tags that a request adds to those of its key: of the header, and of the text `tags` in `metadata`; undefined
 * for none. The body stays as it is. Throws `invalid_request` for an invalid header.
 */
export function readRequestTags(
  call: Pick<InboundRequest, 'tags'>,
  { metadata }: JsonObject,
): readonly string[] | undefined {
  const header = call.tags
  const ofHeader = header ? readHeader(header) : undefined
  if (typeof metadata !== 'object' || metadata === null || !('tags' in metadata)) return ofHeader
  const { tags } = metadata
  const ofMetadata = typeof tags === 'string' ? findInMetadata(tags) : undefined
  return ofHeader && ofMetadata ? [...ofHeader, ...ofMetadata] : (ofHeader ?? ofMetadata)
}

/** Tags are stored with the request's log, where no key may be. */
function readHeader(text: string): string[] | undefined {
  if (withoutSecrets(text) === text) return readTags(text, tagsHeader)
  throw invalidRequest(tagsHeader, 'not_allowed', `${tagsHeader}: a tag looks like an API key.`)
}

/** Metadata is the caller's own: a text of it that is no list of tags means something else, and is none. */
function findInMetadata(text: string): string[] | undefined {
  if (withoutSecrets(text) !== text) return undefined
  try {
    return readTags(text, 'metadata.tags')
  } catch (thrown) {
    if (thrown instanceof ApiError) return undefined
    throw thrown
  }
}
