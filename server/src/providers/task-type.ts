import { unsupported } from './unsupported-fields'
import { taskFields } from '../wire/embedding-request'
import type { JsonObject } from '../wire/json-body'

/** The purposes of embeddings; a provider has a word of its own for each that it knows. */
export const taskTypes = [
  'search_query',
  'search_document',
  'classification',
  'clustering',
  'semantic_similarity',
  'question_answering',
  'fact_verification',
  'code_query',
  'code_document',
] as const
export type TaskType = (typeof taskTypes)[number]

/** A provider's words for task types. */
export type TaskNames = Readonly<Partial<Record<TaskType, string>>>

/** Words of providers for a task type, in lower case with underscores. */
const meanings = new Map<string, TaskType>([
  ...taskTypes.map((type): [string, TaskType] => [type, type]),
  ['query', 'search_query'],
  ['retrieval_query', 'search_query'],
  ['generic_retrieval', 'search_query'],
  ['document', 'search_document'],
  ['passage', 'search_document'],
  ['retrieval_document', 'search_document'],
  ['retrieval_passage', 'search_document'],
  ['generic_index', 'search_document'],
  ['separation', 'clustering'],
  ['text_matching', 'semantic_similarity'],
  ['sentence_similarity', 'semantic_similarity'],
  ['fact_checking', 'fact_verification'],
  ['code_retrieval', 'code_query'],
  ['code_retrieval_query', 'code_query'],
  ['code_passage', 'code_document'],
])

/** Returns the task type that a word means, in the words of any provider. */
const meaningOf = (word: string) => meanings.get(word.toLowerCase().replaceAll(/[^a-z\d]+/g, '_'))

/**
 * Returns a provider's word for the task type of the caller. A word without a meaning here is passed on:
 * it is the provider's own, or the provider refuses it. Throws `invalid_request` for a task type that the
 * provider has no word for.
 */
export function toTaskName({ field, word }: RequestedTask, words: TaskNames): string {
  const providerWords = Object.values(words)
  if (providerWords.includes(word)) return word
  const meaning = meaningOf(word)
  if (meaning === undefined) return word
  const providerWord = words[meaning]
  if (providerWord !== undefined) return providerWord
  throw unsupported(
    field,
    `${field}: this model has no task type "${word}". It has ${Object.keys(words).join(', ')}.`,
  )
}

/** The task type that a request names, and the field that it does so by. */
export interface RequestedTask {
  field: string
  word: string
}

/** The task type of a request, by whichever of its names. */
export function readTaskType(body: JsonObject): RequestedTask | undefined {
  for (const field of taskFields) {
    const word = body[field]
    if (typeof word === 'string') return { field, word }
  }
  return undefined
}

/** Rejects a task type for a model that knows none: without an error the caller would assume an effect. */
export const refuseTask = ({ field }: RequestedTask) =>
  unsupported(field, `${field}: this model does not support task types. Remove the field.`)
