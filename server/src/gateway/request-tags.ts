import { findPayerBudgets } from './organization-limits'
import type { InboundRequest } from './request'
import type { RequestLifecycle } from './settle'
import type { Principal } from '../auth/principal'
import { ApiError, invalidRequest } from '../errors'
import type { MemberBudgets } from '../limits/member-budgets'
import { withoutSecrets } from '../request-logs/redact-body'
import type { Candidate } from '../routing/candidate'
import type { JsonObject } from '../wire/json-body'
import { readTags, toTagSet } from '../wire/tags'

/** Request header with tags of a request. */
export const tagsHeader = 'x-tollgate-tags'

/**
 * Records in its log what a body, which is not validated yet, says of a request, and its tags. Returns those, beside the tags
 * of its key; undefined for none. Throws `invalid_request`.
 */
export function recordInLog(
  { call, log }: Pick<RequestLifecycle, 'call' | 'log'>,
  body: JsonObject,
): readonly string[] | undefined {
  log.read(body)
  const tags = readRequestTags(call, body)
  if (tags) log.addTags(tags)
  return tags
}

/**
 * Returns the tags of a request, and of its key, that budgets of its account count, or of organizations that may pay one of
 * its candidates, and the tags of the member's departments; null for none.
 */
export function findBudgetTags(
  principal: Pick<Principal, 'userId' | 'limits' | 'tags'>,
  ofRequest: readonly string[] | undefined,
  candidates: readonly Candidate[],
): readonly string[] | null {
  const ofPayers = findPayers(principal, candidates)
  const { budgetTags } = principal.limits
  if (budgetTags.length === 0 && !ofPayers) return null
  const countedTags = new Set([...budgetTags, ...(ofPayers ?? []).flatMap(({ tags }) => tags)])
  const tags = [...(principal.tags ?? []), ...(ofRequest ?? [])].filter((tag) =>
    countedTags.has(tag),
  )
  const ofDepartments = (ofPayers ?? []).flatMap(({ ownTags }) => ownTags)
  const all = toTagSet([...tags, ...ofDepartments])
  return all.length === 0 ? null : all
}

/** Returns the budgets of organizations that may pay; undefined for nearly all requests, for which nothing is made. */
function findPayers(
  { userId }: Pick<Principal, 'userId'>,
  candidates: readonly Candidate[],
): MemberBudgets[] | undefined {
  let payers: MemberBudgets[] | undefined
  for (let at = 0; at < candidates.length; at++) {
    const candidate = candidates[at]
    const budgets = candidate && findPayerBudgets(candidate, userId)
    if (budgets) (payers ??= []).push(budgets)
  }
  return payers
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
