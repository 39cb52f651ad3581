import type { ClaudeFamily } from './families'
import { toStrictSchema } from './schema'
import type { ToolFields } from './tools'
import type { ChatRequest } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'

/** A model without structured outputs answers in JSON by calling this tool. */
export const answerTool = 'tollgate_json_answer'

/** The fields that request an answer in JSON. */
export interface JsonAnswer extends ToolFields {
  /** `output_config.format`. */
  format?: JsonObject
  /** An addition to the instructions. */
  instruction?: string
}

const anyJson = 'Answer with one valid JSON object and nothing else, without code fences.'

/** `response_format` in the words of a family; `mayForce`: a tool may be forced, and is the only one. */
export function toJsonAnswer(
  format: ChatRequest['response_format'],
  { family, mayForce }: { family: ClaudeFamily; mayForce: boolean },
): JsonAnswer {
  if (!format || format.type === 'text') return {}
  const schema = format.type === 'json_schema' ? format.json_schema.schema : undefined
  if (!schema) return { instruction: anyJson }
  if (family.jsonSchema) return { format: { type: 'json_schema', schema: toStrictSchema(schema) } }
  if (!mayForce || schema['type'] !== 'object') {
    return { instruction: `${anyJson} It must match this schema: ${JSON.stringify(schema)}` }
  }
  const description = 'Gives the answer.'
  return {
    tools: [{ name: answerTool, description, input_schema: schema }],
    tool_choice: { type: 'tool', name: answerTool, disable_parallel_tool_use: true },
  }
}
