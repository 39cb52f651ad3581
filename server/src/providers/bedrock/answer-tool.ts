import type { JsonObject } from '../../wire/json-body'

/**
 * Models that know no schema of an answer are made to call this tool; its arguments are the answer.
 * The reader knows it by its name.
 */
export const answerTool = 'tollgate_answer'

export const toAnswerTool = (schema: JsonObject) => ({
  name: answerTool,
  description: 'Gives the answer. It is called once, with all of it.',
  parameters: { ...schema, type: 'object' },
  strict: undefined,
})
