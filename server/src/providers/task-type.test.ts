import { expect, test } from 'bun:test'
import { readTaskType, taskTypes, toTaskName } from './task-type'
import { providers } from './registry'
import { taskFields } from '../wire/embedding-request'

const google = { search_query: 'RETRIEVAL_QUERY', search_document: 'RETRIEVAL_DOCUMENT' }
const taskWordOf = (word: string) => toTaskName({ field: 'input_type', word }, google)

test.each([
  ['search_query', 'RETRIEVAL_QUERY'],
  ['query', 'RETRIEVAL_QUERY'],
  ['retrieval.query', 'RETRIEVAL_QUERY'],
  ['GENERIC_RETRIEVAL', 'RETRIEVAL_QUERY'],
  ['RETRIEVAL_QUERY', 'RETRIEVAL_QUERY'],
  ['passage', 'RETRIEVAL_DOCUMENT'],
  ['Retrieval-Document', 'RETRIEVAL_DOCUMENT'],
  // Unknown here, perhaps the provider's own: the provider judges it.
  ['DOCUMENT_RETRIEVAL', 'DOCUMENT_RETRIEVAL'],
])('%s is %s at Google', (word, expected) => {
  expect(taskWordOf(word)).toBe(expected)
})

test('a task type unknown to the provider is rejected, with the supported ones', () => {
  const refused = {
    code: 'invalid_request',
    param: 'input_type',
    message:
      'input_type: this model has no task type "clustering". It has search_query, search_document.',
  }
  expect(() => taskWordOf('clustering')).toThrow(expect.objectContaining(refused))
})

test('each of its names is accepted, ours before the others', () => {
  for (const field of taskFields) {
    expect(readTaskType({ [field]: 'query' })).toEqual({ field, word: 'query' })
  }
  expect(readTaskType({ task: 'a', input_type: 'b' })?.word).toBe('b')
  expect(readTaskType({ input_type: null, task: 3 })).toBeUndefined()
})

test("providers' words are for task types that there are", () => {
  const all = providers.flatMap(({ options }) =>
    Object.values(options.embeddings.tasks?.words ?? {}).flatMap((words) => Object.keys(words)),
  )
  expect(all.length).toBeGreaterThan(15)
  expect(all.filter((type) => !taskTypes.some((known) => known === type))).toEqual([])
})
