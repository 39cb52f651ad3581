import { isReference } from './chat'
import { invalidRequest } from '../../errors'
import { isObject, type JsonObject, toList } from '../../wire/json-body'
import { storedFields, encryptedThoughts } from './request'

const rejectStored = (field: string) =>
  invalidRequest(
    field,
    'not_allowed',
    `${field}: data stored at a provider is not shared between accounts. Use your own connection (BYOK) for it.`,
  )

/**
 * Returns a request for a credential that several accounts use: the provider stores nothing of it, and it
 * reads nothing that the provider stored for other accounts. Throws `invalid_request` for fields that it
 * cannot be sent without.
 */
export function toShared(body: JsonObject, { reasoning }: { reasoning: boolean }): JsonObject {
  for (const field of storedFields) if (body[field]) throw rejectStored(field)
  const { input, tools, prompt_cache_options: caching } = body
  if (isObject(caching) && caching['comparison_response_id']) {
    throw rejectStored('prompt_cache_options.comparison_response_id')
  }
  for (const [index, tool] of toList(tools).entries()) rejectStoredIn(tool, `tools.${index}`)
  const items = toList(input)
  for (const [index, item] of items.entries()) rejectStoredItem(item, `input.${index}`)
  const readable = items.some(isUnreadable) && {
    input: items.filter((item) => !isUnreadable(item)),
  }
  return { ...toUnstored(body, { reasoning }), ...readable }
}

/** Returns a request whose provider stores nothing of it: thoughts come back instead. */
export function toUnstored(body: JsonObject, { reasoning }: { reasoning: boolean }): JsonObject {
  const wanted = body['store'] !== false && reasoning
  return {
    ...body,
    // The next request brings them back, where the provider would have kept them.
    ...(wanted && { include: withThoughts(body['include']) }),
    store: false,
  }
}

/** Thoughts without their text are looked up by their id. */
const isUnreadable = (item: unknown) =>
  isObject(item) && item['type'] === 'reasoning' && !item['encrypted_content']

const withThoughts = (include: unknown): readonly unknown[] => {
  const list = toList(include)
  return list.includes(encryptedThoughts) ? list : [...list, encryptedThoughts]
}

function rejectStoredItem(item: unknown, param: string): void {
  if (!isObject(item)) return
  if (isReference(item)) throw rejectStored(param)
  const { type, result, content, output, container_id: container } = item
  // Without its image it stands for the one that was made under this id.
  if (type === 'image_generation_call' && !result) throw rejectStored(`${param}.id`)
  if (type === 'code_interpreter_call' && container) throw rejectStored(`${param}.container_id`)
  if (isObject(output) && output['file_id']) throw rejectStored(`${param}.output.file_id`)
  rejectStoredFiles(content, `${param}.content`)
  rejectStoredFiles(output, `${param}.output`)
  rejectStoredIn(item, param)
}

function rejectStoredFiles(parts: unknown, param: string): void {
  for (const [index, part] of toList(parts).entries()) {
    if (isObject(part) && part['file_id']) throw rejectStored(`${param}.${index}.file_id`)
  }
}

/**
 * Stores, containers and files that a tool names, or an item: itself, or in the tools of its own. Schemas of
 * functions may name whatever they like.
 */
function rejectStoredIn(tool: unknown, param: string): void {
  if (!isObject(tool)) return
  const { vector_store_ids: stores, container, environment, input_image_mask: mask, tools } = tool
  if (stores) throw rejectStored(`${param}.vector_store_ids`)
  if (typeof container === 'string') throw rejectStored(`${param}.container`)
  for (const [name, place] of Object.entries({ container, environment, input_image_mask: mask })) {
    if (!isObject(place)) continue
    for (const field of ['file_id', 'file_ids', 'container_id', 'skills']) {
      const value = place[field]
      const isLocal = name === 'environment' && place['type'] === 'local'
      if (value && !isLocal) throw rejectStored(`${param}.${name}.${field}`)
    }
  }
  for (const [index, inner] of toList(tools).entries()) {
    rejectStoredIn(inner, `${param}.tools.${index}`)
  }
}
