import { isObject, type JsonObject, toObjects } from '../../wire/json-body'

/** The chunk of a stream that a whole completion stands for, of a chat or of a text. */
export const toWholeChunk = (answer: JsonObject): JsonObject[] => [
  { ...answer, choices: toObjects(answer['choices']).map(toChunkChoice) },
]

function toChunkChoice(choice: JsonObject): JsonObject {
  const { message, ...rest } = choice
  if (!isObject(message)) return choice
  const calls = toObjects(message['tool_calls'])
  const tool_calls = calls.map((call, index) => ({ ...call, index }))
  return { ...rest, delta: { ...message, ...(calls.length > 0 && { tool_calls }) } }
}
