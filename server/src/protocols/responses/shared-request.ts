import { isReference } from './chat'
import { invalidRequest } from '../../errors'
import { isObject, type JsonObject } from '../../wire/json-body'

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const kept = (field: string) =>
  invalidRequest(
    field,
    'not_allowed',
    `${field}: what a provider keeps is not shared between accounts; it works on a connection of your own.`,
  )

/** Fields that name data stored at a provider. */
const keptFields = ['previous_response_id', 'conversation', 'prompt'] as const

/**
 * Returns a request for a credential that several accounts use: the provider stores nothing of it, and it
 * reads nothing that the provider stored for other accounts. Throws `invalid_request` for fields that it
 * cannot be sent without.
 */
export function toShared(body: JsonObject, { reasoning }: { reasoning: boolean }): JsonObject {
  for (const field of keptFields) if (body[field]) throw kept(field)
  const { input, tools, prompt_cache_options: caching } = body
  if (isObject(caching) && caching['comparison_response_id']) {
    throw kept('prompt_cache_options.comparison_response_id')
  }
  for (const [index, tool] of listOf(tools).entries()) refuseKeptIn(tool, `tools.${index}`)
  const items = listOf(input)
  for (const [index, item] of items.entries()) refuseKeptItem(item, `input.${index}`)
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

const thoughts = 'reasoning.encrypted_content'

const withThoughts = (include: unknown): readonly unknown[] => {
  const list = listOf(include)
  return list.includes(thoughts) ? list : [...list, thoughts]
}

function refuseKeptItem(item: unknown, param: string): void {
  if (!isObject(item)) return
  if (isReference(item)) throw kept(param)
  const { type, result, content, output, container_id: container } = item
  // Without its image it stands for the one that was made under this id.
  if (type === 'image_generation_call' && !result) throw kept(`${param}.id`)
  if (type === 'code_interpreter_call' && container) throw kept(`${param}.container_id`)
  if (isObject(output) && output['file_id']) throw kept(`${param}.output.file_id`)
  refuseKeptFiles(content, `${param}.content`)
  refuseKeptFiles(output, `${param}.output`)
  refuseKeptIn(item, param)
}

function refuseKeptFiles(parts: unknown, param: string): void {
  for (const [index, part] of listOf(parts).entries()) {
    if (isObject(part) && part['file_id']) throw kept(`${param}.${index}.file_id`)
  }
}

/**
 * Stores, containers and files that a tool names, or an item: itself, or in the tools of its own. Schemas of
 * functions may name whatever they like.
 */
function refuseKeptIn(tool: unknown, param: string): void {
  if (!isObject(tool)) return
  const { vector_store_ids: stores, container, environment, input_image_mask: mask, tools } = tool
  if (stores) throw kept(`${param}.vector_store_ids`)
  if (typeof container === 'string') throw kept(`${param}.container`)
  for (const [name, place] of Object.entries({ container, environment, input_image_mask: mask })) {
    if (!isObject(place)) continue
    for (const field of ['file_id', 'file_ids', 'container_id', 'skills']) {
      const value = place[field]
      const isLocal = name === 'environment' && place['type'] === 'local'
      if (value && !isLocal) throw kept(`${param}.${name}.${field}`)
    }
  }
  for (const [index, inner] of listOf(tools).entries()) {
    refuseKeptIn(inner, `${param}.tools.${index}`)
  }
}
