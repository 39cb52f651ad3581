import { areListedMessages, toListedMessages } from './chat-messages'
import { isUsedValue, type OnOmitted, type SharedCredential } from './credential'
import {
  getPassedFields,
  getReferenceFields,
  getWithheldFate,
  type SharedFormat,
} from './field-lists'
import { hasListedFieldsOnly, OmittedNames, withoutUnlisted } from './omission'
import { rejectStored, rejectUnlisted } from './rejections'
import { rejectStoredInInputs } from './stored-references'
import { isObject, type JsonObject } from '../wire/json-body'

/** A request as it goes to a provider on a shared credential, and the fields that it lacks. */
export interface SharedBody {
  body: JsonObject
  omitted: readonly string[]
}

type RelayedFormat = Exclude<SharedFormat, 'messages' | 'responses'>

/**
 * Returns a request in OpenAI's format without what is not listed for a shared credential; undefined where
 * it goes on as it is, as nearly all do. Throws `invalid_request` for references to what the provider's account holds,
 * and for fields that cannot just be left out.
 */
export function toSharedBody(
  body: JsonObject,
  format: RelayedFormat,
  credential: SharedCredential,
): SharedBody | undefined {
  if (format === 'embedding' || format === 'moderation') rejectStoredInInputs(body)
  if (isListed(body, format, credential)) return undefined
  const { names, add } = new OmittedNames()
  const listed = withListedFields(body, { format, credential, omit: add })
  const { messages } = listed
  const isChat = format === 'chat' && messages !== undefined
  return {
    body: {
      ...withListedValues(listed, add),
      ...(isChat && { messages: toListedMessages(messages, add) }),
    },
    omitted: names,
  }
}

/** Set lookups alone: every request passes here. */
function isListed(body: JsonObject, format: RelayedFormat, credential: SharedCredential): boolean {
  if (!hasListedFieldsOnly(body, getPassedFields(format, credential))) return false
  if (body['prompt_cache_options'] || body['chat_template_kwargs'] || body['audio']) return false
  return format !== 'chat' || areListedMessages(body['messages'])
}

interface ListedFields {
  format: SharedFormat
  credential: SharedCredential
  omit: OnOmitted
}

/**
 * Returns a request without the top-level fields that do not pass; the same object where all do. Throws
 * `invalid_request` for those that cannot just be left out.
 */
export function withListedFields(
  body: JsonObject,
  { format, credential, omit }: ListedFields,
): JsonObject {
  return withoutUnlisted(body, getPassedFields(format, credential), (name) => {
    const fate = getWithheldFate(format, name)
    if (fate === 'reference') throw rejectStored(name)
    if (fate === 'refused') throw rejectUnlisted(name)
    omit(name)
  })
}

/** Throws `invalid_request` for fields that name what a provider's account holds. */
export function rejectReferenceFields(
  body: JsonObject,
  format: SharedFormat,
  credential: SharedCredential,
): void {
  const passedFields = getPassedFields(format, credential)
  for (const name of getReferenceFields(format)) {
    if (isUsedValue(body[name]) && !passedFields.has(name)) throw rejectStored(name)
  }
}

/** Switches of thinking in the templates of open models; other values would rewrite the template. */
const templateSwitches: ReadonlySet<string> = new Set([
  'enable_thinking',
  'thinking',
  'thinking_budget',
  'reasoning_effort',
])

/** Fields that pass with some values only. */
function withListedValues(body: JsonObject, omit: OnOmitted): JsonObject {
  const { prompt_cache_options: caching, chat_template_kwargs: template, audio } = body
  rejectStoredComparison(caching)
  // A voice of the provider's account has an id; those of everybody have names.
  if (isObject(audio) && isObject(audio['voice'])) throw rejectStored('audio.voice')
  if (!isObject(template)) return body
  const rest = withoutUnlisted(template, templateSwitches, (name) =>
    omit(`chat_template_kwargs.${name}`),
  )
  return rest === template ? body : { ...body, chat_template_kwargs: rest }
}

/** Throws `invalid_request` where the cache of a prompt is compared with an answer that its provider keeps. */
export function rejectStoredComparison(caching: unknown): void {
  if (!isObject(caching) || !isUsedValue(caching['comparison_response_id'])) return
  throw rejectStored('prompt_cache_options.comparison_response_id')
}
