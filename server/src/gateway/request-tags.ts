import type { InboundRequest } from './request'
import type { RequestLifecycle } from './settle'
import { ApiError, invalidRequest } from '../errors'
import { withoutSecrets } from '../request-logs/redact-body'
import type { JsonObject } from '../wire/json-body'
import { readTags } from '../wire/tags'

/** Request header with tags of a request. */
export const tagsHeader = 'x-tollgate-tags'

/** Records in its log what a body, which is not validated yet, says of a request, and its tags. Throws `invalid_request`. */
export function recordInLog(
  { call, log }: Pick<RequestLifecycle, 'call' | 'log'>,
  body: JsonObject,
): void {
  log.read(body)
  const tags = readRequestTags(call, body)
  if (tags) log.addTags(tags)
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
