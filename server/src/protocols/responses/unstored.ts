import { encryptedThoughts } from './request'
import { type JsonObject, toList } from '../../wire/json-body'

/** Returns a request whose provider stores nothing of it: thoughts come back instead. */
export function toUnstored(body: JsonObject, { reasoning }: { reasoning: boolean }): JsonObject {
  const wantsReasoning = body['store'] !== false && reasoning
  return {
    ...body,
    // The next request brings them back, where the provider would have kept them.
    ...(wantsReasoning && { include: withThoughts(body['include']) }),
    store: false,
  }
}

const withThoughts = (include: unknown): readonly unknown[] => {
  const list = toList(include)
  return list.includes(encryptedThoughts) ? list : [...list, encryptedThoughts]
}
