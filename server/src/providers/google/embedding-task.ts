import { toTaskName, type RequestedTask, type TaskNames } from '../task-type'
import { unsupported } from '../unsupported-fields'
import { isImage, partsOf, type EmbeddingItem } from '../../wire/embedding-request'
import type { JsonObject } from '../../wire/json-body'
import { parseMedia } from '../embedding-inputs'

/**
 * The models after the first Gemini one read images too, and take a task type as words in the text only.
 * @see https://ai.google.dev/gemini-api/docs/embeddings#task-types-embeddings-2
 */
export const isMultimodal = (model: string): boolean =>
  /^(?:models\/)?gemini-embedding-(?!001|exp)/.test(model)

const taskNames: TaskNames = {
  search_query: 'RETRIEVAL_QUERY',
  search_document: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
  semantic_similarity: 'SEMANTIC_SIMILARITY',
  question_answering: 'QUESTION_ANSWERING',
  fact_verification: 'FACT_VERIFICATION',
  code_query: 'CODE_RETRIEVAL_QUERY',
  // Code that is searched is a document as any other.
  code_document: 'RETRIEVAL_DOCUMENT',
}

/** Google's word for a task type. */
export const toTaskType = (task: RequestedTask): string => toTaskName(task, taskNames)

const ofDocument = 'title: none | text: '

const prefixes: TaskNames = {
  search_query: 'task: search result | query: ',
  search_document: ofDocument,
  classification: 'task: classification | query: ',
  clustering: 'task: clustering | query: ',
  semantic_similarity: 'task: sentence similarity | query: ',
  question_answering: 'task: question answering | query: ',
  fact_verification: 'task: fact checking | query: ',
  code_query: 'task: code retrieval | query: ',
  code_document: ofDocument,
}

const knownPrefixes = new Set(Object.values(prefixes))

function prefixFor(task: RequestedTask | undefined): string {
  if (!task) return ''
  const prefix = toTaskName(task, prefixes)
  if (knownPrefixes.has(prefix)) return prefix
  const { field, word } = task
  throw unsupported(field, `${field}: this model has no task type "${word}".`)
}

/** The parts of a content: a task type stands before the first text. */
export function toParts(item: EmbeddingItem, task: RequestedTask | undefined): JsonObject[] {
  let prefix = prefixFor(task)
  return partsOf(item).map((part) => {
    if (isImage(part)) {
      const { mimeType, base64: data } = parseMedia(part.image)
      return { inlineData: { mimeType, data } }
    }
    const text = `${prefix}${part.text}`
    prefix = ''
    return { text }
  })
}
